/* A local mirror of the objects of one kind, kept up to date by a watch. Of each object only the
 * part that its owner extracts is stored, so thousands of objects stay small. kube/reflection.h
 * decides the steps. */
#pragma once

#include "base/json.h"
#include "kube/api.h"
#include "kube/frames.h"
#include "kube/mirror_table.h"
#include "kube/reflection.h"

struct kube_mirror_settings {
	const struct kube_resource *resource; /* must live as long as the mirror */
	const char *namespace_name; /* NULL: the login's; or KUBE_ALL_NAMESPACES */
	const char *label_selector; /* NULL: all */
	const char *object_name; /* only the object of this name; NULL: all */

	/* Returns the part of the object to store; NULL: store nothing. `before` is the part stored
	 * so far, or NULL. The mirror stores the result instead; it may be the same pointer. */
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

/* Only mirror.c writes it. The table has the stored parts; read it between callbacks. */
struct kube_mirror {
	struct mirror_table table;
	/* is_synced: whether all objects are known, as of the last event. False before the first
	 * list and while objects are listed again. version: the resourceVersion up to which objects
	 * are known; "" before the first list. */
	struct reflection reflection;
	bool is_partial; /* from the first object of a list until its end: old and new parts are
			    mixed; else the parts show one moment, however long ago */

	struct kube_api *api;
	struct kube_mirror_settings settings;
	char *namespace_name, *label_selector;
	char *field_selector; /* NULL: objects of any name */
	struct loop_watch *timer; /* until the next step */
	struct kube_call *call; /* the watch of the current step */
	struct kube_pages *pages; /* or its list */
	struct kube_frames frames;
	uint64_t list_number; /* objects not seen in a list were deleted */
	char *trouble; /* the last error reported; NULL: none */
};

/* Creates a mirror, which starts in the next turn of the loop. No callback may free it. */
struct kube_mirror *kube_mirror_new(struct kube_api *api,
				    const struct kube_mirror_settings *settings) MUST_USE;
/* Frees all stored parts without reporting changes. NULL is fine. */
void kube_mirror_free(struct kube_mirror *mirror);

/* Cancels the current step and lists all objects again, because the stored parts may be stale. The
 * mirror is not synced until on_synced. Do not call it from its callbacks. */
void kube_mirror_list_again(struct kube_mirror *mirror);

/* Watches objects, of which `about` has the first four settings, until they are synced and
 * `is_enough` accepts them; their stored parts are whole objects (struct json). Runs the API's
 * loop, which must not be running. Returns ERR_UNREACHABLE after the limit. Without one
 * (MSEC_NEVER), an error that will persist ends the wait, and so does an unreachable server before
 * the first list. */
int kube_mirror_wait(struct kube_api *api, const struct kube_mirror_settings *about,
		     bool (*is_enough)(const struct kube_mirror *mirror, void *data), void *data,
		     msec limit, struct err *err) MUST_USE;
