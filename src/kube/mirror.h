/* A local mirror of the objects of one kind, kept up to date by a watch: of each object only what
 * its owner takes out of it is kept, so that thousands of them are small. What is done when is
 * kube/reflection.h's. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/own.h"
#include "io/loop.h"
#include "kube/api.h"

#include <stdbool.h>
#include <stddef.h>

struct kube_mirror;

struct kube_mirror_settings {
	const struct kube_resource *resource; /* lives as long as the mirror */
	const char *namespace_name; /* NULL: the login's; KUBE_ALL_NAMESPACES */
	const char *label_selector; /* NULL: all */
	const char *object_name; /* only the one of this name; NULL: all */
	msec output_idle; /* of a watch, after which its connection counts as lost; 0: 150 s (the
			 server sends a bookmark about once a minute) */

	/* Makes what is kept of an object. `before` is what is kept of it now, or NULL; the mirror
	 * forgets it and keeps what is returned, which may be the same. NULL: it is not kept. */
	void *(*project)(const struct json *object, void *before, void *data);
	/* The object is gone: releases what was kept. */
	void (*release)(void *kept, void *data);
	/* Something changed, and what is kept shows it already; `name` is "name", or "namespace/
	 * name" in a mirror of all namespaces. Called while the first objects come as well. */
	void (*on_change)(const char *name, void *data);
	/* All objects are there, or are there again after the mirror had to list anew. */
	void (*on_synced)(void *data);
	/* What is kept has not changed, and is known up to a later version: a bookmark, or the end
	 * of an object that was never seen. May be NULL. */
	void (*on_progress)(void *data);
	/* It is not up to date for now, and goes on trying; told once until something comes, or
	 * until it is another trouble. May be NULL. */
	void (*on_trouble)(const struct err *err, void *data);
	void *data;
};

/* The mirror begins in the next turn of the loop. None of the callbacks may free it. */
struct kube_mirror *kube_mirror_new(struct loop *loop, struct kube_api *api,
				    const struct kube_mirror_settings *settings) MUST_USE;
/* Releases all that is kept, without telling of changes. NULL is fine. */
void kube_mirror_free(struct kube_mirror *mirror);

/* Lists anew at once, whatever is under way: what was kept before may be older than it seems. Until
 * on_synced it is not synced. Not from its own callbacks. */
void kube_mirror_list_again(struct kube_mirror *mirror);

/* All objects are there, as of the last event: false before the first list, and while it has to
 * list anew. */
bool kube_mirror_is_synced(const struct kube_mirror *mirror);
/* What is kept is of one moment, however long ago: false from the first object of a list to its
 * end, where some objects are as they are now and others as they were. */
bool kube_mirror_is_whole(const struct kube_mirror *mirror);
/* What is kept of an object; NULL when there is none. */
void *kube_mirror_get(const struct kube_mirror *mirror, const char *name);
size_t kube_mirror_count(const struct kube_mirror *mirror);
/* Walks them in no order: for (i = 0; (kept = kube_mirror_next(mirror, &i));), between callbacks.
 */
void *kube_mirror_next(const struct kube_mirror *mirror, size_t *place);
/* The resourceVersion up to which it is known; "" before the first list. */
const char *kube_mirror_version(const struct kube_mirror *mirror);
