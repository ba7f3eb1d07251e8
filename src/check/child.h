/* One child of a check, its own `muster` process: starts it with a pipe, reads its lines, ends it
 * gracefully. The contents of the lines do not matter. */
#pragma once

#include "base/err.h"
#include "base/instant.h"
#include "io/loop.h"

#include <sys/types.h>

/* Receives a line without its line feed, at most LIMIT_LOG_LINE bytes and the name before it; the
 * rest of a longer line is dropped. */
typedef void (*check_line_fn)(const char *line, size_t len, void *data);

struct check_child_settings {
	struct loop *loop;
	char *const *arguments; /* arguments[0] is the program */
	char *const *environment;
	msec patience; /* from the stop request to the kill */
	check_line_fn on_line;
	void *data;
};

struct check_child;

int check_child_start(const struct check_child_settings *settings, struct check_child **ret_child,
		      struct err *err) MUST_USE;
pid_t check_child_pid(const struct check_child *child);
/* Asks it to end (SIGTERM), once. It then has `patience` to exit. */
void check_child_terminate(struct check_child *child, instant now);
/* Kills the child if its time has passed. Returns when to call this again; INSTANT_NEVER if it was
 * not asked to end, or was killed. */
instant check_child_escalate_signal(struct check_child *child, instant now);
/* After the child was reaped: passes on the lines left in the pipe, and frees it. NULL is fine. */
void check_child_finish(struct check_child *child);
