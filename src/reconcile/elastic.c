#include "reconcile/steps.h"

#include "reconcile/failure.h"
#include "reconcile/finish.h"
#include "rendezvous/member.h"
#include "rendezvous/world_failure.h"

#include <string.h>

/* Number of worlds that are reported. */
#define MOST_WORLDS 20

static void note_world(struct decision *decision)
{
	const struct observed_world *world = decision->observed->world;
	struct status *status = decision->status;
	const char *before = status->machines;
	int size = world->size, n_worlds = 1;

	status->first_rank = world->first_rank;
	status->n_ranks = world->n_ranks;
	for (const char *at = before; at; at = strchr(at + 1, ','))
		n_worlds++;
	if (n_worlds > MOST_WORLDS)
		before = strchr(before, ',') + strlen(", ");
	status->machines = before ? arena_format(decision->arena, "%s, %d", before, size)
				  : arena_format(decision->arena, "%d", size);
}

/* Processes of another world become leftovers. */
static void follow_world(struct decision *decision)
{
	int generation = decision->observed->world->generation;
	bool has_changed = false;

	for (size_t i = 0; i < decision->n_replicas; i++) {
		struct replica *replica = &decision->replicas[i];

		if (replica->status->attempt == generation)
			continue;
		replica_begin_attempt_number(replica, generation);
		has_changed = true;
	}
	if (has_changed)
		note_world(decision);
	if (has_changed && decision->status->start_time != MSEC_UNSET)
		decision_set_condition(decision, CONDITION_RESTARTING, true, "TFJobRestarting",
				       arena_format(decision->arena,
						    "job %s is restarting in world %d.",
						    decision->job->name, generation));
}

/* The server decides if the failure ends the job; a world's first failure is its cause. */
static void report_member_failure(struct decision *decision)
{
	const struct observed_world *world = decision->observed->world;
	const struct replica *replica = NULL;

	for (size_t i = 0; i < decision->n_replicas; i++) {
		const struct replica *other = &decision->replicas[i];

		if (other->status->state == REPLICA_FAILED && other->last_state != REPLICA_FAILED &&
		    (!replica || other->status->end_time < replica->status->end_time))
			replica = other;
	}
	if (!replica)
		return;
	struct failure *failure = failure_of_replica(decision, replica);

	/* If there has been a newer world, the rank is unknown. */
	if (failure->attempt == world->ranks_of)
		failure->rank = arena_format(decision->arena, "%d of %d",
					     world->first_rank + failure->index, world->n_ranks);
	failure_add_consequences(decision, replica, true, failure);
	decision->status->failure = failure;
	decision->plan->is_failure_new = true;
	if (member_code_asks_restart(replica->status->exit_code))
		decision_note(decision, NOTE_NORMAL, "WorldChanged",
			      arena_format(decision->arena, "%s: it asks for a restart",
					   failure->message));
	else if (!world->ends_by_failure) /* else the job's end says the same */
		decision_note(decision, NOTE_WARNING, "ReplicaFailed", failure->message);
}

/* A failure of this machine's process is known better on this machine. */
static bool is_known_better(const struct failure *known, const struct failure *failure)
{
	if (!known || !known->role || known->attempt < failure->attempt)
		return false;
	return known->attempt > failure->attempt || (!known->machine && !failure->machine);
}

/* The first failure of all machines explains what happened on this one. */
static void adopt_world_failure(struct decision *decision)
{
	const struct failure *failure = decision->observed->world->failure;
	struct text sentence CLEANUP(text_done) = {0};

	if (!failure || is_known_better(decision->status->failure, failure))
		return;
	/* The failed peer may have waited for a process of this machine. */
	struct failure *own =
		world_failure_is_consequence(failure) ? failure_of_paused(decision) : NULL;

	if (own && own->attempt != failure->attempt)
		own = NULL;
	decision->status->failure = own ? own : status_failure_copy(failure, decision->arena);
	if (!decision->observed->world->is_failure_news)
		return;
	decision->plan->is_failure_new = failure->role != NULL;
	world_failure_add_sentence(decision->status->failure, &sentence);
	decision_note(decision, NOTE_WARNING, "ReplicaFailed",
		      arena_copy_text(decision->arena, text_of(&sentence)));
}

void elastic_decide(struct decision *decision)
{
	const struct observed_world *world = decision->observed->world;

	adopt_world_failure(decision);
	if (world->news)
		decision_note(decision, NOTE_NORMAL, "WorldChanged", world->news);
	report_member_failure(decision);
	if (world->is_over)
		finish_as_member(decision, world);
	else if (world->generation)
		follow_world(decision);
}
