/* A back end: where replicas run. A struct of functions; it begins actions and reports facts, and
 * decides nothing. */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/msec.h"
#include "base/own.h"
#include "reconcile/observed.h"
#include "reconcile/plan.h"
#include "spec/job.h"
#include "status/printed.h"

struct backend;

/* "Look again at the job." The only news a back end sends. */
typedef void (*backend_news_fn)(void *data);

struct backend_functions {
	const char *name; /* "local", "fake" */
	/* Copies from local knowledge and never waits. The result lives in the arena. */
	int (*observe)(struct backend *backend, const struct job *job, struct arena *arena,
		       struct observed *ret_observed, struct err *err);
	/* Begins an action; may be repeated without harm. 0 says "accepted", nothing more: the
	 * outcome is observed. */
	int (*apply)(struct backend *backend, const struct job *job, const struct action *action,
		     struct err *err);
	/* The last lines of an attempt's output, oldest first, at most `most`; what was read lives
	 * in the arena. ERR_UNREACHABLE: they were asked for, and are not here yet; news come when
	 * it is known what has become of that. */
	int (*last_lines)(struct backend *backend, const struct job *job, const char *role,
			  int index, int attempt, size_t most, struct arena *arena,
			  struct printed *ret_printed, struct err *err);
	/* Where processes were that were asked to end with `keeps_stacks` (stacks_summarize).
	 * ERR_UNREACHABLE: they were asked, and news come. NULL where no back end can. */
	int (*last_stacks)(struct backend *backend, struct arena *arena, const char ***ret_lines,
			   size_t *ret_count, struct err *err);
	/* A replica's failure that was decided upon, with what its output says of it. NULL where a
	 * back end has no use for it. */
	void (*take_failure)(struct backend *backend, const struct failure *failure);
	void (*free)(struct backend *backend);
};

struct backend {
	const struct backend_functions *functions;
};
