/* Follows one job: reads it after every change, without polling. */
#pragma once

#include "base/json.h"
#include "jobs/client.h"
#include "status/status.h"

/* Gets the present job; returns true to end the watch. */
typedef bool (*watch_fn)(const struct json *job, const struct status *status, void *data);

enum watch_end {
	WATCH_ENOUGH, /* `fn` returned true */
	WATCH_GONE, /* the job's record was deleted, or another job has its name */
	WATCH_OVERDUE, /* `until` has come */
};

/* Calls `fn` with the present job, and again after each change, until the moment `until` at the
 * latest (INSTANT_NEVER: no limit). It is also called when nothing has changed for a `period`
 * (MSEC_NEVER: it is not), so that durations on the screen advance. ERR_NOT_FOUND when there is no
 * such job at the start. */
int watch_job(struct client *client, const char *name, instant until, msec period, watch_fn fn,
	      void *data, enum watch_end *ret_end, struct err *err) MUST_USE;
/* Waits until a job whose supervisor has exited is over: if the supervisor was killed, the job is
 * cleaned up now. The same errors. */
int watch_until_settled(struct client *client, const char *name, struct err *err) MUST_USE;

/* A watch_fn: true when the job has finished and nothing of it is left to stop. */
bool watch_is_over(const struct json *job, const struct status *status, void *data);
/* The same, and no process will change it any more: the supervisor of a job on a cluster records
 * the job and deletes its objects, so that it disappears next. */
bool watch_is_left(const struct json *job, const struct status *status);

/* Adds text that draws the lines over what stdout showed before, without a blank moment. If the
 * terminal has too few rows and the text need not be `whole`, only the first lines: otherwise each
 * redraw would scroll a whole table out of it. */
void redraw_add(const char *lines, bool is_whole, struct text *screen);
