/* How many restarts after failures an elastic job has left. Pure; the time is handed in, of a clock
 * that never jumps.
 *
 * A failure takes a restart. Each is given back when it is older than the window, and all of them
 * when the job has made progress since the failure before. A job that reports its progress and
 * makes none between so many failures in a row has no restart left, however many it was given.
 *
 * The window is that of supervisors (systemd's StartLimitIntervalSec, Erlang's max_restarts in
 * max_seconds); the failures without progress are those of NVIDIA's resiliency extension
 * (ft_launcher --max-no-progress-cycles). */
#pragma once

#include "base/mem.h"
#include "base/msec.h"
#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct restart_terms {
	int most; /* restarts; below 0: no limit */
	msec window; /* 0: none; otherwise `most` is at most LIMIT_TIMED_RESTARTS */
	int max_no_progress; /* failures in a row without progress between them; 0: no limit */
};

enum restart_budget_end {
	RESTARTS_LEFT,
	RESTARTS_SPENT,
	RESTARTS_NO_PROGRESS,
	RESTARTS_END_COUNT,
};
extern const char *const restart_budget_end_words[RESTARTS_END_COUNT];

/* Zero it but for the terms to begin. */
struct restart_budget {
	struct restart_terms terms;
	int64_t progress; /* the highest step that was reported; 0: none was */
	int64_t failed_at; /* the same, at the last failure */
	int n_no_progress;
	int n_charged; /* restarts that were not given back */
	msec *charged_at; /* with a window: when each was, the oldest first */
	enum restart_budget_end end;
};

void restart_budget_done(struct restart_budget *budget);

/* What has to outlive the process; the terms are not among it. Ages instead of times, since the
 * clock of the next process may be another one: a restart counts for longer then, and never for
 * less. */
struct restart_budget_snapshot {
	int64_t progress, failed_at;
	int n_no_progress, n_charged;
	msec *ages; /* n_charged, the oldest first; NULL: there is no window */
	enum restart_budget_end end;
};
void restart_budget_take_snapshot(const struct restart_budget *budget, msec now,
				  struct arena *arena,
				  struct restart_budget_snapshot *ret_snapshot);
struct restart_budget restart_budget_restore(const struct restart_terms *terms,
					     const struct restart_budget_snapshot *past,
					     msec now) MUST_USE;

/* A process has reached this step. */
void restart_budget_progress(struct restart_budget *budget, int64_t progress);
/* After a failure. False: no restart is left, and `end` says why. */
bool restart_budget_charge(struct restart_budget *budget, msec now);
/* The last failure was none: its restart is given back. */
void restart_budget_give_back(struct restart_budget *budget);
