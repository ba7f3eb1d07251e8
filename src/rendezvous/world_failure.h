/* Why a world of an elastic job ended: the failure that came first on all its machines. Pure.
 *
 * Each machine reports the first failure of its own processes, and the server merges the reports.
 * The first one that arrives is the cause, unless it says that another process did not respond or
 * is gone: such a failure is the consequence of one that is reported later. Clocks of machines
 * differ, so the order of arrival counts and not the time of the failure. */
#pragma once

#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"
#include "status/status.h"

#include <stdbool.h>
#include <stdint.h>

/* Zero it to begin. */
struct world_failure {
	struct arena *arena;
	struct failure *first; /* NULL: no process has failed; its attempt is the generation */
	int64_t number; /* each change of `first` increases it */
};
void world_failure_done(struct world_failure *failure);

/* The failure as the other machines are to know it, in the arena: with the name of its machine, and
 * of the job on that machine, without control characters, and so short that a call has room for it
 * (LIMIT_MEMBER_CALL). */
struct failure *world_failure_report(const struct failure *failure, const char *machine,
				     const char *machine_job, struct arena *arena) MUST_USE;

/* It says that a process on another machine did not respond or has gone, or it was aborted without
 * a word: that one may know more. */
bool world_failure_is_consequence(const struct failure *failure);

/* Merges a report. False: it changes nothing, because it is known, is of an earlier world, or has
 * no machine. */
bool world_failure_take(struct world_failure *failure, const struct failure *report);
/* Goes on with what a server has kept. */
void world_failure_restore(struct world_failure *failure, const struct failure *kept,
			   int64_t number);

/* "worker-0 on 10.0.0.2 (rank 1) exited with code 1 after 2s (attempt 3): ValueError: no" */
void world_failure_add_sentence(const struct failure *failure, struct text *text);
