#include "reconcile/waiting_reason.h"

#include "base/line_text.h"
#include "status/failure_words.h"

#define PATIENCE (15 * MSEC_PER_SECOND) /* with a node that should have ended a replica */

/* A stopping replica is held up only by a reason that prevents its end. */
static bool is_of_end(const char *reason)
{
	return text_equals(reason, FAILURE_NODE_SILENT) ||
	       text_equals(reason, FAILURE_NOT_ENDING) || text_equals(reason, FAILURE_STILL_RUNS);
}

static bool waiting_reason_exists(const struct replica_status *replica)
{
	if (replica->state == REPLICA_STOPPING)
		return is_of_end(replica->reason);
	return replica->reason &&
	       (replica->state == REPLICA_PENDING || replica->state == REPLICA_STARTING ||
		replica->state == REPLICA_RUNNING);
}

static bool is_same_obstacle(const struct replica_status *a, const struct replica_status *b)
{
	return waiting_reason_exists(b) && text_equals(a->reason, b->reason) &&
	       text_equals(a->message, b->message);
}

/* A replica that should not run is of interest only if it does not end. */
static bool is_new(const struct decision *decision, const struct replica *replica)
{
	const char *reason = replica->status->reason;
	bool is_of_interest = replica->status->state == REPLICA_STOPPING ||
			      (replica->is_wanted && !decision_is_at_rest(decision));

	return is_of_interest && waiting_reason_exists(replica->status) &&
	       !(replica->last_reason &&
		 text_equals(failure_phrase_of_waiting_reason(reason),
			     failure_phrase_of_waiting_reason(replica->last_reason)));
}

/* Appends the reason of the replica at this place, the first one that it concerns: a replica before
 * it has the same one if this returns false. `decision`: only new reasons count; NULL: all do. */
static bool add_obstacle(const struct status *status, const struct decision *decision, size_t place,
			 const char *before, struct text *text)
{
	const struct replica_status *first = &status->replicas[place];
	struct text sentence CLEANUP(text_done) = {0};
	size_t n_more = 0;

	for (size_t i = 0; i < status->n_replicas; i++) {
		if (i == place || !is_same_obstacle(first, &status->replicas[i]) ||
		    (decision && !is_new(decision, &decision->replicas[i])))
			continue;
		if (i < place)
			return false;
		n_more++;
	}
	text_add(text, before);
	text_addf(&sentence, "%s-%d", first->role, first->index);
	if (n_more > 0)
		text_addf(&sentence, " (and %zu more)", n_more);
	text_addf(&sentence, " %s (%s)", failure_phrase_of_waiting_reason(first->reason),
		  first->reason);
	if (first->message && !text_equals(first->message, first->reason))
		text_addf(&sentence, ": %.*s", (int) strcspn(first->message, "\n"), first->message);
	line_text_add_sentence(text, text_of(&sentence), sentence.len);
	return true;
}

void waiting_reasons_describe(const struct status *status, const char *indent, struct text *text)
{
	for (size_t i = 0; i < status->n_replicas; i++)
		if (waiting_reason_exists(&status->replicas[i]) &&
		    add_obstacle(status, NULL, i, indent, text))
			text_add_char(text, '\n');
}

const char *waiting_reason_add_first(const struct status *status, const char *before,
				     struct text *text)
{
	for (size_t i = 0; i < status->n_replicas; i++)
		if (waiting_reason_exists(&status->replicas[i]) &&
		    add_obstacle(status, NULL, i, before, text))
			return status->replicas[i].reason;
	return NULL;
}

/* A replica that does not end, and whose node will not report its end. */
static bool is_stuck(const struct decision *decision, const struct observed_replica *object)
{
	if (!object->node || !observed_is_live(object) || !observed_was_asked_to_end(object))
		return false;
	if (object->is_node_silent)
		return true;
	if (object->is_held)
		return false;
	if (decision->now >= object->kill_at + PATIENCE)
		return true;
	plan_wake_at(decision->plan, object->kill_at + PATIENCE);
	return false;
}

static void set_stuck_replica_reason(const struct decision *decision, const struct replica *replica,
				     const struct observed_replica *stuck)
{
	struct replica_status *status = replica->status;

	status->reason = stuck->is_node_silent ? FAILURE_NODE_SILENT : FAILURE_NOT_ENDING;
	status->is_reason_from_elsewhere = true;
	status->message = arena_format(
		decision->arena,
		"attempt %d was asked to stop on node '%s' and may still be running there; muster "
		"waits until the node reports that it has stopped, or the node is deleted (kubectl "
		"delete node %s). If you know that it is not running, delete its Pod (kubectl "
		"delete pod -n %s %s-%s-%d --force)",
		stuck->attempt, stuck->node, stuck->node, decision->job->name_space,
		decision->job->name, status->role, status->index);
}

void waiting_reasons_find(struct decision *decision)
{
	for (size_t i = 0; i < decision->n_replicas; i++) {
		struct replica_status *status = decision->replicas[i].status;

		if (status->state != REPLICA_PENDING)
			continue;
		status->reason = NULL;
		status->message = NULL;
		status->is_reason_from_elsewhere = false;
	}
	/* A new attempt waits for its object's name, which an older attempt still has. */
	for (size_t i = 0; i < decision->observed->n_replicas; i++) {
		const struct observed_replica *object = &decision->observed->replicas[i];
		const struct replica *replica =
			decision_find(decision, object->role, object->index);

		if (replica &&
		    (replica->status->state == REPLICA_PENDING ||
		     replica->status->state == REPLICA_STOPPING) &&
		    is_stuck(decision, object))
			set_stuck_replica_reason(decision, replica, object);
	}
}

void waiting_reasons_report(struct decision *decision)
{
	for (size_t i = 0; i < decision->n_replicas; i++) {
		const struct replica *replica = &decision->replicas[i];
		struct text sentence CLEANUP(text_done) = {0};

		if (is_new(decision, replica) &&
		    add_obstacle(decision->status, decision, i, "", &sentence))
			decision_note(decision, NOTE_WARNING,
				      is_of_end(replica->status->reason) ? "ReplicaStillRuns"
									 : "ReplicaWaits",
				      arena_copy_text(decision->arena, text_of(&sentence)));
	}
}
