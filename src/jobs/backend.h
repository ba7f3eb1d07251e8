/* A back end runs replicas: a struct of functions that start actions and report facts. */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "reconcile/plan.h"
#include "spec/job.h"
#include "status/exception.h"

struct backend;

/* "Run a reconcile pass for the job." A back end calls nothing else. */
typedef void (*backend_news_fn)(void *data);

struct backend_functions {
	const char *name; /* "local", "fake" */
	/* Copies local knowledge and never waits. The result lives in the arena. */
	int (*observe)(struct backend *backend, const struct job *job, struct arena *arena,
		       struct observed *ret_observed, struct err *err);
	/* The pass of the last observation could not be written: news of that, which is observed
	 * only once, has to be observed again. NULL: it has no such news. The reconciler itself
	 * keeps the step of the clock. */
	void (*observe_again)(struct backend *backend);
	/* Starts an action; repeating it is harmless. 0: accepted; the outcome is observed. */
	int (*apply)(struct backend *backend, const struct job *job, const struct action *action,
		     struct err *err);
	/* The last lines of an attempt's output, oldest first, at most `most`, in the arena.
	 * ERR_UNREACHABLE: they were requested and have not arrived; backend_news_fn is called when
	 * they have, or will not. */
	int (*last_lines)(struct backend *backend, const struct job *job, const char *role,
			  int index, int attempt, size_t most, struct arena *arena,
			  struct printed *ret_printed, struct err *err);
	/* The stacks of processes that were asked to exit with `keeps_stacks` (stacks_summarize).
	 * ERR_UNREACHABLE: they were requested; backend_news_fn is called later. NULL if the back
	 * end has no stacks. */
	int (*last_stacks)(struct backend *backend, struct arena *arena, const char ***ret_lines,
			   size_t *ret_count, struct err *err);
	/* Gets a replica's failure, with the cause found in its output. NULL: has no use for it. */
	void (*take_failure)(struct backend *backend, const struct failure *failure);
	void (*free)(struct backend *backend);
};

struct backend {
	const struct backend_functions *functions;
};
