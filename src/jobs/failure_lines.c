#include "jobs/failure_lines.h"

#include "base/line_text.h"
#include "rendezvous/world_failure.h"

#include <signal.h>

/* Replicas whose logs are read for the cause of a failure. */
#define MOST_PEERS 256
#define MOST_OF_EXCEPTION 300 /* bytes of the exception in a sentence */

void failure_lines_done(struct failure_lines *lines)
{
	arena_free(lines->said.arena);
	*lines = (struct failure_lines){0};
}

/* The pass whose failure gets details. */
struct search {
	struct backend *backend;
	const struct job *job;
	struct plan *plan;
	struct arena *arena; /* of the plan */
};

static struct failure *change_failure(const struct search *search)
{
	struct failure *changed = arena_take(search->arena, sizeof(*changed));

	*changed = *search->plan->status.failure;
	search->plan->status.failure = changed;
	search->plan->is_failure_new = search->plan->is_status_changed = true;
	return changed;
}

/* In place; if all lines are noise, all stay. Returns how many stay. */
static size_t leave_out_noise(const char **lines, size_t count)
{
	size_t kept = 0, n_noise = 0;

	for (size_t i = 0; i < count; i++)
		n_noise += log_noise_is(lines[i]);
	for (size_t i = 0; n_noise < count && i < count; i++)
		if (!log_noise_is(lines[i]))
			lines[kept++] = lines[i];
	return n_noise < count ? kept : count;
}

/* A replica that printed an error, or exited, before the one that failed first. */
struct peer {
	const struct replica_status *replica; /* NULL: no replica explains the failure */
	const char *exception;
	msec time;
};

/* A restart that was decided has already given the replicas new attempts. */
static int attempt_of(const struct failure *failure, const struct replica_status *replica)
{
	for (size_t i = 0; i < failure->n_consequences; i++) {
		const struct consequence *consequence = &failure->consequences[i];

		if (consequence->index == replica->index &&
		    text_equals(consequence->role, replica->role))
			return consequence->attempt;
	}
	return replica->attempt;
}

/* The exception in the replica's own output. NULL: none, or one about a lost peer. */
static const char *find_own_exception(const struct search *search,
				      const struct replica_status *replica, int attempt,
				      struct arena *arena, struct printed *printed, msec *ret_time)
{
	if (search->backend->functions->last_lines(search->backend, search->job, replica->role,
						   replica->index, attempt, LIMIT_SEARCHED_LINES,
						   arena, printed, NULL) < 0)
		return NULL;
	const char *exception = exception_find_own(printed, arena, ret_time);

	return exception && !exception_blames_peer(exception) ? exception : NULL;
}

/* Keeps the earliest of all. A replica whose time is unknown is not taken as earlier. */
static void inspect_failed_peer(const struct search *search, const struct failure *failure,
				const struct replica_status *replica, struct peer *first)
{
	struct arena *lines CLEANUP(arena_cleanup) = arena_new();
	struct printed printed = {0};
	struct peer peer = {.replica = replica};

	peer.exception = arena_copy_text(
		search->arena, find_own_exception(search, replica, attempt_of(failure, replica),
						  lines, &printed, &peer.time));
	if (!peer.exception) {
		if (replica->state != REPLICA_SUCCEEDED)
			return;
		peer.time = replica->end_time;
	}
	if (peer.time == MSEC_UNSET || peer.time > failure->time)
		return;
	if (!first->replica || peer.time < first->time)
		*first = peer;
}

static const char *describe_peer(const struct peer *peer, const struct failure *failure,
				 struct arena *arena)
{
	const struct replica_status *replica = peer->replica;
	struct text text CLEANUP(text_done) = {0};

	text_addf(&text, "%s-%d ", replica->role, replica->index);
	text_add(&text, peer->exception ? "failed " : "exited with code 0 ");
	text_add_duration(&text, failure->time - peer->time);
	text_add(&text, " earlier");
	if (peer->exception)
		text_addf(&text, ": %s", peer->exception);
	else
		text_add(&text, ", and its peers may have waited for it");
	return arena_copy_text(arena, text_of(&text));
}

/* A replica that fails because of a peer may be the first to exit: a script that has failed in JAX
 * waits for its peers before it exits, and one that returned too early does not fail at all. */
static void find_first_failed_peer(const struct search *search, struct failure *failure)
{
	const struct status *status = &search->plan->status;
	struct peer first = {0};

	if (failure->cause || !failure->exception || !exception_blames_peer(failure->exception))
		return;
	for (size_t i = 0; i < status->n_replicas && i < MOST_PEERS; i++) {
		const struct replica_status *replica = &status->replicas[i];
		const struct role *role = job_role(search->job, replica->role);
		bool is_itself = replica->index == failure->index &&
				 text_equals(replica->role, failure->role);

		if (!is_itself && role && role->kind != ROLE_PS && role->kind != ROLE_EVALUATOR)
			inspect_failed_peer(search, failure, replica, &first);
	}
	if (first.replica)
		failure->cause = describe_peer(&first, failure, search->arena);
}

static void store_failure_lines(struct failure *failure, const struct printed *printed)
{
	size_t count = leave_out_noise(printed->lines, printed->count);

	while (count > 0 && !*printed->lines[count - 1])
		count--;
	failure->n_last_lines = count < LIMIT_LAST_LINES ? count : LIMIT_LAST_LINES;
	failure->last_lines = printed->lines + count - failure->n_last_lines;
}

/* Replaces the failure of the plan. */
static void blame(const struct search *search, const struct replica_status *replica)
{
	int attempt = search->plan->status.failure->attempt;
	struct failure *failure = change_failure(search);
	struct printed printed = {0};

	*failure = (struct failure){
		.role = replica->role,
		.index = replica->index,
		.attempt = attempt,
		.exit_code = -1,
		.reason = "Error",
		.message = arena_format(search->arena, "%s-%d printed an error (attempt %d)",
					replica->role, replica->index, attempt),
	};
	failure->exception = find_own_exception(search, replica, attempt, search->arena, &printed,
						&failure->time);
	store_failure_lines(failure, &printed);
}

/* A failure on another machine blames a peer, which may be on this machine: it has printed the
 * cause, and was asked to exit before it did so by itself. */
static void find_blamed_replica(const struct search *search)
{
	const struct status *status = &search->plan->status;

	if (!world_failure_is_consequence(status->failure))
		return;
	for (size_t i = 0; i < status->n_replicas && i < MOST_PEERS; i++) {
		const struct replica_status *replica = &status->replicas[i];
		struct arena *lines CLEANUP(arena_cleanup) = arena_new();
		struct printed printed = {0};

		if (find_own_exception(search, replica, status->failure->attempt, lines, &printed,
				       NULL)) {
			blame(search, replica);
			return;
		}
	}
}

static const char *find_exception(const struct failure *failure, const struct printed *printed,
				  struct arena *arena)
{
	if (failure->signal == SIGKILL) /* which prints nothing */
		return NULL;
	const char *exception = exception_find_cause(printed, arena);

	return exception || failure->exit_code <= 0 ? exception
						    : exception_find_last_words(printed, arena);
}

/* "worker-1 exited with code 1 … restarting the whole job (restart 1 of 2): ValueError: no" */
static bool names_failure(const struct note *note, const char *message)
{
	return (text_equals(note->reason, "ReplicaRestarting") ||
		text_equals(note->reason, "ReplicaFailed")) &&
	       text_starts_with(note->sentence, message);
}

static void add_to_notes(struct plan *plan, const struct failure *failure, struct arena *arena)
{
	size_t len = failure->exception ? strlen(failure->exception) : 0;
	bool is_long = len > MOST_OF_EXCEPTION;

	if (is_long)
		len = line_text_whole_characters(failure->exception, MOST_OF_EXCEPTION);
	for (size_t i = 0; failure->exception && failure->message && i < plan->n_notes; i++) {
		struct note *note = &plan->notes[i];

		if (names_failure(note, failure->message))
			note->sentence =
				arena_format(arena, "%s: %.*s%s", note->sentence, (int) len,
					     failure->exception, is_long ? "…" : "");
	}
}

static void add_last_lines(struct failure_lines *lines, const struct search *search)
{
	const struct failure *failure = search->plan->status.failure;
	struct printed printed = {0};

	lines->awaits_lines = false;
	if (!failure || !failure->role)
		return;
	if (failure->machine)
		find_blamed_replica(search);
	if (failure->machine || failure->n_last_lines)
		return;
	int rc = search->backend->functions->last_lines(
		search->backend, search->job, failure->role, failure->index, failure->attempt,
		LIMIT_SEARCHED_LINES, search->arena, &printed, NULL);

	lines->awaits_lines = rc == ERR_UNREACHABLE;
	if (rc < 0 || printed.count == 0)
		return;
	struct failure *changed = change_failure(search);

	changed->exception = find_exception(failure, &printed, search->arena);
	store_failure_lines(changed, &printed);
	if (printed.times) /* else only one log can be read at a time */
		find_first_failed_peer(search, changed);
	add_to_notes(search->plan, changed, search->arena);
}

static void add_stacks_to_failure(struct failure_lines *lines, const struct search *search)
{
	const struct failure *failure = search->plan->status.failure;
	const char **stacks = NULL;
	size_t count = 0;

	if (!failure || search->backend->functions->last_stacks(search->backend, search->arena,
								&stacks, &count, NULL) < 0)
		return;
	struct failure *changed = change_failure(search);

	lines->awaits_stacks = false;
	changed->stacks = stacks;
	changed->n_stacks = count;
	if (failure->role) /* which has its own lines */
		return;
	changed->last_lines = lines->said.lines;
	changed->n_last_lines = lines->said.count;
}

void failure_lines_add(struct failure_lines *lines, struct backend *backend, const struct job *job,
		       struct plan *plan, struct arena *arena)
{
	const struct search search = {backend, job, plan, arena};

	if (plan->is_failure_new || lines->awaits_lines)
		add_last_lines(lines, &search);
	if (lines->awaits_stacks)
		add_stacks_to_failure(lines, &search);
	if (plan->is_failure_new && backend->functions->take_failure)
		backend->functions->take_failure(backend, plan->status.failure);
}

void failure_lines_add_again(struct failure_lines *lines)
{
	lines->awaits_lines = true;
	lines->awaits_stacks = lines->said.arena != NULL;
}

static void collect_last_line_of_each(struct said *said, struct backend *backend,
				      const struct job *job, const struct status *status)
{
	said->arena = arena_new();
	said->lines = arena_take_array(said->arena, LIMIT_LAST_LINES, sizeof(*said->lines));
	for (size_t i = 0; i < status->n_replicas && said->count < LIMIT_LAST_LINES; i++) {
		const struct replica_status *replica = &status->replicas[i];
		struct printed printed = {0};
		int rc = backend->functions->last_lines(backend, job, replica->role, replica->index,
							replica->attempt, LIMIT_LAST_LINES,
							said->arena, &printed, NULL);
		size_t count = rc == 0 ? leave_out_noise(printed.lines, printed.count) : 0;

		if (count > 0)
			said->lines[said->count++] =
				arena_format(said->arena, "%s-%d | %s", replica->role,
					     replica->index, printed.lines[count - 1]);
	}
}

void failure_lines_note_actions(struct failure_lines *lines, struct backend *backend,
				const struct job *job, const struct plan *plan)
{
	bool are_kept = false;

	for (size_t i = 0; backend->functions->last_stacks && i < plan->n_actions; i++)
		are_kept = are_kept || plan->actions[i].keeps_stacks;
	if (!are_kept || lines->said.arena)
		return;
	lines->awaits_stacks = true;
	collect_last_line_of_each(&lines->said, backend, job, &plan->status);
}
