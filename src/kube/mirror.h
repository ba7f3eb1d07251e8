/* A local mirror of the objects of one kind, kept up to date by a watch. Of each object only the
 * part that its owner extracts is stored, so thousands of objects stay small. kube/reflection.h
 * decides the steps. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/own.h"
#include "kube/api.h"

#include <stdbool.h>
#include <stddef.h>

struct kube_mirror;

struct kube_mirror_settings {
	const struct kube_resource *resource; /* must live as long as the mirror */
	const char *namespace_name; /* NULL: the login's; or KUBE_ALL_NAMESPACES */
	const char *label_selector; /* NULL: all */
	const char *object_name; /* only the object of this name; NULL: all */

	/* Returns the part of the object to store; NULL: store nothing. `before` is the part stored
	 * so far, or NULL. The mirror drops it and stores the result, which may be the same
	 * pointer. */
	void *(*project)(const struct json *object, void *before, void *data);
	/* The object was deleted: frees the stored part. */
	void (*release)(void *kept, void *data);
	/* An object changed, and the mirror already has the new part. `name` is "name", or
	 * "namespace/name" in a mirror of all namespaces. Also called during the first list. */
	void (*on_change)(const char *name, void *data);
	/* All objects are known, for the first time or after the mirror listed them again. */
	void (*on_synced)(void *data);
	/* No stored part changed, but the known version is later: after a bookmark, or the deletion
	 * of an object that was never seen. May be NULL. */
	void (*on_progress)(void *data);
	/* The mirror is not up to date at present and keeps retrying. Called once, until something
	 * arrives or the error changes. May be NULL. */
	void (*on_trouble)(const struct err *err, void *data);
	void *data;
};

/* Creates a mirror, which starts in the next turn of the loop. No callback may free it. */
struct kube_mirror *kube_mirror_new(struct kube_api *api,
				    const struct kube_mirror_settings *settings) MUST_USE;
/* Frees all stored parts without reporting changes. NULL is fine. */
void kube_mirror_free(struct kube_mirror *mirror);

/* Cancels the current step and lists all objects again, because the stored parts may be stale. The
 * mirror is not synced until on_synced. Do not call it from its callbacks. */
void kube_mirror_list_again(struct kube_mirror *mirror);

/* Whether all objects are known, as of the last event. False before the first list and while
 * objects are listed again. */
bool kube_mirror_is_synced(const struct kube_mirror *mirror);
/* Whether the stored parts show one moment, however long ago. False from the first object of a list
 * until its end, when old and new parts are mixed. */
bool kube_mirror_is_whole(const struct kube_mirror *mirror);
/* The stored part of an object; NULL: none. */
void *kube_mirror_get(const struct kube_mirror *mirror, const char *name);
size_t kube_mirror_count(const struct kube_mirror *mirror);
/* Walks the parts in no order, between callbacks: for (i = 0; (kept = kube_mirror_next(mirror,
 * &i));). */
void *kube_mirror_next(const struct kube_mirror *mirror, size_t *place);
/* The resourceVersion up to which objects are known; "" before the first list. */
const char *kube_mirror_version(const struct kube_mirror *mirror);
