#include "core/obstacle.h"

#include "core/failure_words.h"

#include <string.h>

bool obstacle_is_there(const struct replica_status *replica)
{
	return replica->reason &&
	       (replica->state == REPLICA_PENDING || replica->state == REPLICA_STARTING ||
		replica->state == REPLICA_RUNNING);
}

static bool is_same(const struct replica_status *a, const struct replica_status *b)
{
	return obstacle_is_there(b) && text_equals(a->reason, b->reason) &&
	       text_equals(a->message, b->message);
}

/* Who the trouble is told of is the first whom it holds. */
static void add_sentence(const struct replica_status *first, size_t n_more, struct text *text)
{
	const char *message = first->message;

	text_addf(text, "%s-%d", first->role, first->index);
	if (n_more > 0)
		text_addf(text, " and %zu more:", n_more);
	text_addf(text, " %s (%s)", failure_phrase_of_obstacle(first->reason), first->reason);
	if (message && !text_equals(message, first->reason))
		text_addf(text, ": %.*s", (int) strcspn(message, "\n"), message);
}

static bool was_told(const struct status *status, size_t place)
{
	for (size_t i = 0; i < place; i++)
		if (is_same(&status->replicas[place], &status->replicas[i]))
			return true;
	return false;
}

void obstacles_describe(const struct status *status, const char *indent, struct text *text)
{
	for (size_t i = 0; i < status->n_replicas; i++) {
		const struct replica_status *replica = &status->replicas[i];
		size_t n_more = 0;

		if (!obstacle_is_there(replica) || was_told(status, i))
			continue;
		for (size_t j = i + 1; j < status->n_replicas; j++)
			n_more += is_same(replica, &status->replicas[j]);
		text_add(text, indent);
		add_sentence(replica, n_more, text);
		text_add_char(text, '\n');
	}
}

void obstacle_add_first(const struct status *status, const char *before, struct text *text)
{
	struct text lines CLEANUP(text_done) = {0};

	obstacles_describe(status, before, &lines);
	text_addf(text, "%.*s", (int) strcspn(text_of(&lines), "\n"), text_of(&lines));
}

static bool is_new(const struct replica *replica)
{
	const char *reason = replica->status->reason;

	return replica->is_wanted && obstacle_is_there(replica->status) &&
	       !(replica->last_reason &&
		 text_equals(failure_phrase_of_obstacle(reason),
			     failure_phrase_of_obstacle(replica->last_reason)));
}

static bool was_noted(const struct decision *decision, size_t place)
{
	for (size_t i = 0; i < place; i++)
		if (is_same(decision->replicas[place].status, decision->replicas[i].status) &&
		    is_new(&decision->replicas[i]))
			return true;
	return false;
}

void obstacles_tell(struct decision *decision)
{
	for (size_t i = 0; i < decision->n_replicas; i++) {
		const struct replica *replica = &decision->replicas[i];
		struct text sentence CLEANUP(text_done) = {0};
		size_t n_more = 0;

		if (!is_new(replica) || was_noted(decision, i))
			continue;
		for (size_t j = i + 1; j < decision->n_replicas; j++)
			n_more += is_same(replica->status, decision->replicas[j].status) &&
				  is_new(&decision->replicas[j]);
		add_sentence(replica->status, n_more, &sentence);
		decision_note(decision, NOTE_WARNING, "ReplicaWaits",
			      arena_copy_text(decision->arena, text_of(&sentence)));
	}
}
