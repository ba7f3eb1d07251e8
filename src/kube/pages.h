/* A list of any length, read in pages and passed on by object: only one page is in memory. */
#pragma once

#include "base/json.h"
#include "kube/api.h"

struct kube_pages;

/* Receives an object of the list; borrowed. */
typedef void (*kube_item_fn)(const struct json *item, void *data);

/* Starts a list. It uses the resource (which must outlive the list), namespace and parameters of
 * the request; all but the resource is copied.
 *
 * `on_listed` reports the end, with the result of the last page, which has the resourceVersion of
 * the whole list. With an error the objects so far are incomplete. ERR_CONFLICT (410): the server
 * dropped the list meanwhile, and it can be started again. ERR_LIMIT: the list is too long
 * (LIMIT_LIST_PAGES, _OBJECTS of spec/limits.h). The pages are freed after the callback. */
struct kube_pages *kube_pages_new(struct kube_api *api, const struct kube_request *request,
				  kube_item_fn on_item, kube_done_fn on_listed,
				  void *data) MUST_USE;
/* No callback follows. Do not call it from one. NULL is fine. */
void kube_pages_cancel(struct kube_pages *pages);

/* Discards the objects so far, because the list starts again. */
typedef void (*kube_begin_fn)(void *data);

/* The same, but waits: runs the API's loop, which must not be running, until the list has ended.
 * `on_begin` is called first, and again if the server dropped the list meanwhile. After
 * LIMIT_LIST_TRIES tries the error is ERR_UNREACHABLE, as when a callback stopped the loop. */
int kube_pages_wait(struct kube_api *api, const struct kube_request *request,
		    kube_begin_fn on_begin, kube_item_fn on_item, void *data,
		    struct err *err) MUST_USE;
