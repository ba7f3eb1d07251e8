/* Follows one job from now on: looks at it after every change, without polling. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/msec.h"
#include "base/own.h"
#include "core/status.h"
#include "engine/client.h"

#include <stdbool.h>

/* Gets the job as it is now; true when it has seen enough. */
typedef bool (*watch_fn)(const struct json *job, const struct status *status, void *data);

enum watch_end {
	WATCH_ENOUGH, /* `fn` said so */
	WATCH_GONE, /* the job is no longer remembered, or another one has its name */
	WATCH_OVERDUE, /* `until` has come */
};

/* Calls `fn` with the job as it is, and again after each change, until the moment `until` at the
 * latest (MSEC_NEVER: no end). ERR_NOT_FOUND when there is no such job to begin with. */
int watch_job(struct client *client, const char *name, msec until, watch_fn fn, void *data,
	      enum watch_end *ret_end, struct err *err) MUST_USE;
/* The same without an end, and `fn` is also called when nothing has changed for a `period`
 * (MSEC_NEVER: it is not), so that what is shown of times goes on. */
int watch_job_often(struct client *client, const char *name, msec period, watch_fn fn, void *data,
		    enum watch_end *ret_end, struct err *err) MUST_USE;

/* A watch_fn: true when the job has ended and nothing of it is left to end. */
bool watch_is_over(const struct json *job, const struct status *status, void *data);
/* The same, and nobody is about to do anything more: whoever watches a job on a cluster remembers
 * it and takes it away, so that it is gone next. */
bool watch_is_settled(const struct json *job, const struct status *status);
