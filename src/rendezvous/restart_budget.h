/* How many restarts after failures an elastic job has left. Pure; time is a parameter, by the
 * monotonic clock.
 *
 * A failure takes a restart. Each is given back when it is older than the window, and all are when
 * the job has made progress since the previous failure. A job that reports progress, but makes none
 * over a number of failures in a row, has no restart left, whatever its limit.
 *
 * The window is that of supervisors (systemd's StartLimitIntervalSec, Erlang's max_restarts in
 * max_seconds). The failures without progress are those of NVIDIA's resiliency extension
 * (ft_launcher --max-no-progress-cycles). */
#pragma once

#include "base/instant.h"
#include "base/own.h"
#include "spec/limits.h"

struct restart_terms {
	int most; /* restarts; negative: no limit */
	msec window; /* 0: none; otherwise `most` is at most LIMIT_TIMED_RESTARTS */
	int max_no_progress; /* failures in a row without progress; 0: no limit */
};

enum restart_budget_end {
	RESTARTS_LEFT,
	RESTARTS_SPENT,
	RESTARTS_NO_PROGRESS,
	RESTARTS_END_COUNT,
};
extern const char *const restart_budget_end_words[RESTARTS_END_COUNT];

/* Zero it except for the terms to begin. */
struct restart_budget {
	struct restart_terms terms;
	int64_t progress; /* the highest reported step; 0: none */
	int64_t failed_at; /* `progress` at the last failure */
	int n_no_progress;
	int n_charged; /* restarts not given back */
	bool is_timed; /* with a window: it has */
	instant charged_at[LIMIT_TIMED_RESTARTS]; /* their times, the oldest first */
	enum restart_budget_end end;
};

/* The budget of an earlier process, whose times are ages: before the moment INSTANT_UNSET. Without
 * them its restarts are charged now: a restart may count for longer, never for less. */
struct restart_budget restart_budget_restore(const struct restart_terms *terms,
					     const struct restart_budget *past,
					     instant now) MUST_USE;

/* A process has reached this step. */
void restart_budget_progress(struct restart_budget *budget, int64_t progress);
/* Charges a restart after a failure. Returns false if none is left; then `end` says why. */
bool restart_budget_charge(struct restart_budget *budget, instant now);
/* The last failure turned out to be none: its restart is given back. */
void restart_budget_give_back(struct restart_budget *budget);
