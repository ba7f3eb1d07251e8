#include "reconcile/failure.h"

#include "base/exit_code.h"
#include "base/line_text.h"

#include <signal.h>

#define ENDED_BY_US "was stopped by muster"

/* The reason of its end; a reason from before its end does not describe it. */
static const char *reason_of(const struct replica *replica)
{
	const struct replica_status *status = replica->status;

	if (status->reason && (!replica->is_disrupted || failure_phrase_of_end(status->reason)))
		return status->reason;
	if (replica->is_disrupted)
		return replica->object ? "Deleted" : "Lost";
	return status->signal ? "Signal" : "Error";
}

static const char *describe_code(const struct decision *decision, const struct replica *replica)
{
	const struct replica_status *status = replica->status;
	const char *name = sigabbrev_np(status->signal);

	if (status->signal)
		return name ? arena_format(decision->arena, "was killed by signal %d (SIG%s)",
					   status->signal, name)
			    : arena_format(decision->arena, "was killed by signal %d",
					   status->signal);
	if (status->exit_code >= 0)
		return arena_format(decision->arena, "exited with code %d", status->exit_code);
	return "failed";
}

/* How a replica ended, as the middle of a sentence that begins with its name. */
static const char *describe_end(const struct decision *decision, const struct replica *replica)
{
	const char *reason = replica->status->reason;
	const char *phrase = failure_phrase_of_end(reason);

	if (phrase)
		return phrase;
	if (replica->is_disrupted)
		return replica->object ? "was deleted by another client" : "disappeared";
	phrase = describe_code(decision, replica);
	return reason ? arena_format(decision->arena, "%s (%s)", phrase, reason) : phrase;
}

/* The back end's message, as the end of that sentence, without its full stop. */
static void add_message(const struct replica *replica, struct text *sentence)
{
	const char *message = replica->status->message;
	size_t len = message ? strcspn(message, "\n") : 0;

	if (replica->is_disrupted && !failure_phrase_of_end(replica->status->reason))
		return;
	while (len > 0 && (message[len - 1] == '.' || message[len - 1] == ' '))
		len--;
	if (len == 0)
		return;
	text_add(sentence, ": ");
	line_text_add_sentence(sentence, message, len);
}

static const char *describe_consequence(const struct decision *decision,
					const struct replica *replica)
{
	struct text what CLEANUP(text_done) = {0};

	text_add(&what, describe_end(decision, replica));
	add_message(replica, &what);
	return arena_copy_text(decision->arena, text_of(&what));
}

static msec lived_of(const struct decision *decision, const struct replica *replica)
{
	const struct replica_status *status = replica->status;
	msec end = status->end_time == MSEC_UNSET ? decision->now : status->end_time;

	return status->start_time == MSEC_UNSET || end < status->start_time
		       ? 0
		       : end - status->start_time;
}

/* "worker-1 was killed by signal 9 (SIGKILL) after 2s, not by muster (rank 3, attempt 0)" */
static const char *failure_sentence_of(const struct decision *decision,
				       const struct replica *replica)
{
	const struct observed_world *world = decision->observed->world;
	const struct replica_status *status = replica->status;
	struct text sentence CLEANUP(text_done) = {0};

	text_addf(&sentence, "%s-%d %s", status->role, status->index,
		  describe_end(decision, replica));
	if (status->start_time != MSEC_UNSET &&
	    !text_equals(status->reason, FAILURE_START_FAILED)) {
		text_add(&sentence, " after ");
		text_add_duration(&sentence, lived_of(decision, replica));
	}
	if (status->signal && !status->reason && !replica->is_disrupted)
		text_add(&sentence, ", not by muster");
	add_message(replica, &sentence);
	text_add(&sentence, " (");
	/* The rank in an elastic job, where it is not the index. */
	if (world && world->first_rank && world->ranks_of == status->attempt)
		text_addf(&sentence, "rank %d, ", world->first_rank + status->index);
	text_addf(&sentence, "attempt %d)", status->attempt);
	return arena_copy_text(decision->arena, text_of(&sentence));
}

/* A replica that neither ran nor ended when another one failed: paused by a signal. */
static const struct replica *find_stopped(const struct decision *decision)
{
	for (size_t i = 0; i < decision->n_replicas; i++) {
		const struct replica *replica = &decision->replicas[i];

		if (replica->is_wanted && replica_is_live(replica) &&
		    text_equals(replica->status->reason, FAILURE_PROCESS_STOPPED))
			return replica;
	}
	return NULL;
}

/* Peers of a paused replica fail, each in its own way. A replica that was killed, or had its own
 * reason, did not fail because of it. */
static const char *describe_cause(const struct decision *decision, const struct replica *failed)
{
	const struct replica_status *status = failed->status;
	const struct replica *stopped = find_stopped(decision);

	if (!stopped || status->reason || failed->is_disrupted || status->signal == SIGKILL)
		return NULL;
	return arena_format(decision->arena,
			    "%s-%d was paused (SIGSTOP, Ctrl-Z or a debugger) when %s-%d failed, "
			    "probably while waiting for it; find out what paused it, or continue "
			    "it in time: kill -CONT %lld",
			    stopped->status->role, stopped->status->index, status->role,
			    status->index, (long long) stopped->status->pid);
}

/* Of a replica; NULL: of the job. */
static struct failure *new_failure(const struct decision *decision, const struct replica *replica,
				   const char *reason, const char *message)
{
	struct failure *failure = arena_take(decision->arena, sizeof(*failure));

	*failure = (struct failure){
		.exit_code = -1, .reason = reason, .message = message, .time = decision->now};
	if (!replica)
		return failure;
	failure->role = replica->status->role;
	failure->index = replica->status->index;
	failure->attempt = replica->status->attempt;
	failure->lived = lived_of(decision, replica);
	return failure;
}

struct failure *failure_of_paused(const struct decision *decision)
{
	const struct replica *replica = find_stopped(decision);

	if (!replica)
		return NULL;
	const struct replica_status *status = replica->status;
	struct failure *failure = new_failure(
		decision, replica, FAILURE_PROCESS_STOPPED,
		arena_format(decision->arena,
			     "%s-%d was paused (SIGSTOP, Ctrl-Z or a debugger), and its peers "
			     "waited for it; find out what paused it (attempt %d)",
			     status->role, status->index, status->attempt));

	failure->pid = status->pid;
	return failure;
}

struct failure *failure_of_replica(const struct decision *decision, const struct replica *replica)
{
	const struct replica_status *status = replica->status;
	struct failure *failure = new_failure(decision, replica, reason_of(replica),
					      failure_sentence_of(decision, replica));

	failure->exit_code = status->exit_code;
	failure->signal = status->signal;
	failure->pid = replica->object ? replica->object->pid : 0;
	failure->cause = describe_cause(decision, replica);
	if (status->end_time != MSEC_UNSET)
		failure->time = status->end_time;
	return failure;
}

struct failure *failure_of_job(const struct decision *decision, const char *reason,
			       const char *message)
{
	return new_failure(decision, NULL, reason, message);
}

static void add_consequence(struct failure *failure, const struct replica *replica,
			    const char *what)
{
	failure->consequences[failure->n_consequences++] = (struct consequence){
		.role = replica->status->role,
		.index = replica->status->index,
		.what = what,
		.attempt = replica->status->attempt,
	};
}

void failure_add_consequences(const struct decision *decision, const struct replica *first,
			      bool ends_survivors, struct failure *failure)
{
	failure->consequences = arena_take_array(decision->arena, decision->n_replicas,
						 sizeof(*failure->consequences));
	for (size_t i = 0; i < decision->n_replicas; i++) {
		const struct replica *replica = &decision->replicas[i];

		if (replica == first || !replica->is_wanted)
			continue;
		if (replica->status->state == REPLICA_FAILED)
			add_consequence(failure, replica, describe_consequence(decision, replica));
		else if (ends_survivors && replica_is_live(replica))
			add_consequence(failure, replica, ENDED_BY_US);
	}
}

/* A cluster's times are whole seconds; within one second the kind of end decides. */
static bool ended_by_itself(const struct decision *decision, const struct observed_replica *object)
{
	if (observed_is_live(object) || object->signal == SIGKILL ||
	    (object->signal && object->signal == stop_signal_of(decision->job)))
		return false;
	return !observed_was_asked_to_end(object) ||
	       (object->ended_at != MSEC_UNSET && object->ended_at <= object->stop_asked_at);
}

static const char *describe_object(const struct decision *decision,
				   const struct observed_replica *object)
{
	struct replica_status status = {
		.exit_code = object->exit_code,
		.signal = object->signal,
		.reason = object->reason,
		.message = object->message,
	};

	return describe_consequence(decision, &(struct replica){.status = &status});
}

static bool outlasted_grace(const struct observed_replica *object)
{
	return !observed_is_live(object) && object->is_killed && object->signal == SIGKILL &&
	       object->kill_at > object->stop_asked_at;
}

/* What has become of a replica that muster asked to end. */
static const char *describe_asked_end(const struct decision *decision,
				      const struct observed_replica *object)
{
	struct text text CLEANUP(text_done) = {0};

	if (!outlasted_grace(object))
		return describe_object(decision, object);
	text_add(&text, "was killed by muster, ");
	text_add_duration(&text, object->kill_at - object->stop_asked_at);
	text_add(&text, " after the stop signal");
	return arena_copy_text(decision->arena, text_of(&text));
}

/* The index of the replica among those counted as ended by us; n_consequences: not found. */
static size_t find_ended_by_us(const struct failure *failure, const struct observed_replica *object)
{
	size_t i = 0;

	for (; i < failure->n_consequences; i++) {
		const struct consequence *consequence = &failure->consequences[i];

		if (consequence->index == object->index &&
		    consequence->attempt == object->attempt &&
		    text_equals(consequence->role, object->role) &&
		    text_equals(consequence->what, ENDED_BY_US))
			break;
	}
	return i;
}

void failure_revise_consequences(struct decision *decision)
{
	struct failure *revised = NULL;

	for (size_t i = 0; decision->status->failure && i < decision->observed->n_replicas; i++) {
		const struct observed_replica *object = &decision->observed->replicas[i];
		size_t place = ended_by_itself(decision, object) || outlasted_grace(object)
				       ? find_ended_by_us(decision->status->failure, object)
				       : decision->status->failure->n_consequences;

		if (place == decision->status->failure->n_consequences)
			continue;
		if (!revised) /* the present one belongs to the last status */
			decision->status->failure = revised =
				status_failure_copy(decision->status->failure, decision->arena);
		revised->consequences[place].what = describe_asked_end(decision, object);
	}
}

int failure_exit_code(const struct failure *failure)
{
	if (failure->signal)
		return EXIT_BY_SIGNAL + failure->signal;
	if (failure->exit_code > 0)
		return failure->exit_code;
	return text_equals(failure->reason, FAILURE_START_FAILED) ||
			       text_equals(failure->reason, FAILURE_REFUSED)
		       ? EXIT_NO_PROGRAM
		       : 1;
}
