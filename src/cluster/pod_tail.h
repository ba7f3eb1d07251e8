/* The last lines of a Pod whose replica failed, asked of the API server once: for a job whose logs
 * nobody follows.
 *
 * One Pod at a time, the one that a failure tells of. The server has PATIENCE to answer in; what it
 * does not give until then is not asked for again. */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/own.h"
#include "io/loop.h"
#include "kube/api.h"
#include "kube/job_pod.h"
#include "status/printed.h"

#include <stdbool.h>
#include <stddef.h>

struct pod_tail;

struct pod_tail_settings {
	struct loop *loop;
	struct kube_api *api;
	const char *namespace_name; /* borrowed */
	void (*on_done)(void *data); /* it has come, or will not */
	void (*on_trouble)(const char *sentence, void *data);
	void *data;
};

struct pod_tail *pod_tail_new(const struct pod_tail_settings *settings) MUST_USE;
void pod_tail_free(struct pod_tail *tail); /* NULL is fine */

/* Asks for the lines of this Pod. What was asked for before is forgotten. */
void pod_tail_ask(struct pod_tail *tail, const struct job_pod *pod);
/* That was done last for the Pod of this name in this attempt; and the Pod that has the name now
 * (NULL: none) has not failed in its place since. */
bool pod_tail_is_of(const struct pod_tail *tail, const char *pod_name, int attempt,
		    const struct job_pod *pod);
/* The lines of this Pod, or of any (NULL), have been asked for, and not come. NULL is no tail. */
bool pod_tail_is_open(const struct pod_tail *tail, const char *uid);
/* At most LIMIT_LAST_LINES, oldest first, that live in the arena. ERR_UNREACHABLE: they have not
 * come yet. */
int pod_tail_read(const struct pod_tail *tail, struct arena *arena, struct printed *ret_printed,
		  struct err *err) MUST_USE;
