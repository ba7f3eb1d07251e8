/* A list of any length, in pages, one object at a time: a page is all that is ever in memory. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/own.h"
#include "io/loop.h"
#include "kube/api.h"

struct kube_pages;

/* An object of the list; borrowed. */
typedef void (*kube_item_fn)(const struct json *item, void *data);
/* The end: `version` is the resourceVersion that the whole list is as of. With `err` what came so
 * far is not the whole; ERR_CONFLICT (410) means that the server forgot the list while it was read,
 * and that it can be started anew; ERR_LIMIT that it does not end (LIMIT_LIST_PAGES, _OBJECTS of
 * spec/limits.h). Nothing of the pages is left. */
typedef void (*kube_listed_fn)(const char *version, const struct kube_status *status,
			       const struct err *err, void *data);

/* Begins a list. Of the request resource (which lives as long as the list), namespace and
 * parameters count; all but the resource is copied. */
struct kube_pages *kube_pages_new(struct kube_api *api, const struct kube_request *request,
				  kube_item_fn on_item, kube_listed_fn on_listed,
				  void *data) MUST_USE;
/* No callback follows; not from one of them. NULL is fine. */
void kube_pages_cancel(struct kube_pages *pages);

/* What came so far of a list that is read anew is to be forgotten. */
typedef void (*kube_begin_fn)(void *data);

/* The same, waited for: runs the loop, which is the one that the API was made with and is not
 * running, until the list has ended. `on_begin` is called first, and again where the server forgot
 * the list while it was read: LIMIT_LIST_TRIES times at most, after which it is ERR_UNREACHABLE,
 * and so it is when somebody stopped the loop. Other errors as above. */
int kube_pages_wait(struct loop *loop, struct kube_api *api, const struct kube_request *request,
		    kube_begin_fn on_begin, kube_item_fn on_item, void *data,
		    struct err *err) MUST_USE;
