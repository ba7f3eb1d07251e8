/* The last lines of a Pod whose replica failed, requested once from the API server: for a job whose
 * logs are not followed.
 *
 * One Pod at a time: the one that a failure report names. Lines that the server does not send
 * within PATIENCE are not requested again. */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/own.h"
#include "kube/api.h"
#include "kube/job_pod.h"
#include "status/exception.h"

#include <stdbool.h>
#include <stddef.h>

struct pod_tail;

struct pod_tail_settings {
	struct kube_api *api;
	const char *namespace_name; /* borrowed */
	void (*on_done)(void *data); /* the lines have arrived, or will not */
	void (*on_trouble)(const char *sentence, void *data);
	void *data;
};

struct pod_tail *pod_tail_new(const struct pod_tail_settings *settings) MUST_USE;
void pod_tail_free(struct pod_tail *tail); /* NULL is fine */

/* Requests the lines of this Pod. An earlier request is dropped. */
void pod_tail_ask(struct pod_tail *tail, const struct job_pod *pod);
/* Whether the last request was for the Pod of this name in this attempt, and `pod`, which has the
 * name now (NULL: none), has not failed since. */
bool pod_tail_is_of(const struct pod_tail *tail, const char *pod_name, int attempt,
		    const struct job_pod *pod);
/* Whether the lines of this Pod (NULL: of any) were requested and have not arrived. `tail` may be
 * NULL. */
bool pod_tail_is_open(const struct pod_tail *tail, const char *uid);
/* At most LIMIT_LAST_LINES lines, oldest first, in the arena. ERR_UNREACHABLE: they have not
 * arrived yet. */
int pod_tail_read(const struct pod_tail *tail, struct arena *arena, struct printed *ret_printed,
		  struct err *err) MUST_USE;
