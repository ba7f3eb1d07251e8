/* Why a world of an elastic job ended: the first failure on all its machines, or the loss of a
 * machine, which has no role. Pure.
 *
 * Each machine reports the first failure of its own processes, and the server merges the reports.
 * The first report to arrive is the cause, unless it says that another process did not respond or
 * has exited: such a failure is a consequence of a failure that is reported later. Clocks of
 * machines differ, so the order of arrival counts, not the time of the failure. */
#pragma once

#include "base/mem.h"
#include "base/text.h"
#include "status/status.h"

/* Zero it to begin. */
struct world_failure {
	struct arena *arena;
	struct failure *first; /* NULL: no process failed; its attempt is the generation */
	int64_t number; /* increased by each change of `first` */
};
void world_failure_done(struct world_failure *failure);

/* The failure in the form for other machines, in the arena: with the name of its machine and of the
 * job there, without control characters, and short enough for a call (LIMIT_MEMBER_CALL). */
struct failure *world_failure_report(const struct failure *failure, const char *machine,
				     const char *machine_job, struct arena *arena) MUST_USE;

/* Names its machine as the server knows it, whatever the report says: the reports of a machine are
 * about its own processes. The text is borrowed; the consequences are changed in place. */
void world_failure_set_machine(struct failure *report, const char *machine, struct arena *arena);

/* Limits each text of a report, which comes from another machine. The texts are in the arena. */
void world_failure_clip(struct failure *report, struct arena *arena);

/* Whether the failure says that a process on another machine did not respond or has exited, or its
 * process was aborted silently: the other process may know more. */
bool world_failure_is_consequence(const struct failure *failure);

/* Merges a report. Returns false if it changes nothing, because it is known, is of an earlier
 * world, or has no machine. */
bool world_failure_take(struct world_failure *failure, const struct failure *report);
/* Restores what a server has stored. */
void world_failure_restore(struct world_failure *failure, const struct failure *first,
			   int64_t number);

/* The machines that one world has lost so far. Zero it to begin. */
struct world_losses {
	int64_t generation;
	char *first; /* "10.0.0.2 (machine 1)" */
	struct text names; /* of the first few */
	int count;
};
void world_losses_done(struct world_losses *losses);
void world_losses_add(struct world_losses *losses, int64_t generation, const char *machine);
/* "10.0.0.2 (machine 1), 10.0.0.3 (machine 2) were lost", in the arena; its machine is borrowed. */
struct failure *world_failure_of_losses(const struct world_losses *losses, msec time,
					struct arena *arena) MUST_USE;

/* "worker-0 on 10.0.0.2 (machine 1) exited with code 1 after 2s (attempt 3): ValueError: no" */
void world_failure_add_sentence(const struct failure *failure, struct text *text);
