/* One child of a check, a `muster` of its own: started with a pipe, its lines read, ended in good
 * order. Knows nothing of what the lines say. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "base/own.h"
#include "io/loop.h"

#include <stddef.h>
#include <sys/types.h>

/* A line without its line feed, at most LIMIT_LOG_LINE bytes and the name before it; what a line
 * has beyond that is dropped. */
typedef void (*check_line_fn)(const char *line, size_t len, void *data);

struct check_child_settings {
	struct loop *loop;
	char *const *arguments; /* arguments[0] is the program */
	char *const *environment;
	msec patience; /* from being asked to end to being killed */
	check_line_fn on_line;
	void *data;
};

struct check_child;

int check_child_start(const struct check_child_settings *settings, struct check_child **ret_child,
		      struct err *err) MUST_USE;
pid_t check_child_pid(const struct check_child *child);
/* Asks it to end (TERM), once. From then on it has some seconds to be gone. */
void check_child_terminate(struct check_child *child, msec now);
/* Kills it when it should have been gone by now. Gives the moment to call this again; MSEC_NEVER
 * when it was not asked to end, or was killed. */
msec check_child_escalate_signal(struct check_child *child, msec now);
/* It was reaped: hands over the lines that are left in the pipe, and frees it. NULL is fine. */
void check_child_finish(struct check_child *child);
