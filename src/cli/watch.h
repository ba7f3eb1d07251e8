/* Follows one job from now on: looks at it after every change, without polling. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/msec.h"
#include "base/own.h"
#include "base/text.h"
#include "jobs/client.h"
#include "status/status.h"

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
/* The same, and nobody is about to do anything more: the supervisor of a job on a cluster remembers
 * it and takes it away, so that it is gone next. */
bool watch_is_left(const struct json *job, const struct status *status);

/* Adds what draws the lines over what stdout showed before, without a blank moment. The first lines
 * alone, where the terminal has not enough rows for all and the text need not be `whole`: else each
 * look would push a whole table out of it. */
void redraw_add(const char *lines, bool is_whole, struct text *screen);
