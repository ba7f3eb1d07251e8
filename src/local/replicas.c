#include "local/replicas.h"

#include "base/exit_code.h"
#include "base/text.h"
#include "io/log.h"
#include "io/loop.h"
#include "io/oom.h"
#include "io/process.h"
#include "jobs/processes.h"
#include "status/failure_words.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void local_replicas_init(struct local_replicas *replicas)
{
	*replicas = (struct local_replicas){.oom_kills = oom_kill_count()};
}

void local_replicas_done(struct local_replicas *replicas)
{
	for (size_t i = 0; i < replicas->count; i++)
		local_replica_free(replicas->list[i]);
	free(replicas->list);
	*replicas = (struct local_replicas){0};
}

void local_replicas_add(struct local_replicas *replicas, struct local_replica *take_replica)
{
	mem_grow(&replicas->list, &replicas->capacity, replicas->count, sizeof(*replicas->list));
	replicas->list[replicas->count++] = take_replica;
}

void local_replicas_remove(struct local_replicas *replicas, const struct local_replica *replica)
{
	size_t kept = 0;

	if (replica->stage != LOCAL_ENDED)
		return;
	for (size_t i = 0; i < replicas->count; i++) {
		struct local_replica *other = replicas->list[i];

		if (other == replica)
			local_replica_free(other);
		else
			replicas->list[kept++] = other;
	}
	replicas->count = kept;
}

struct local_replica *local_replicas_find(const struct local_replicas *replicas, const char *role,
					  int index, int attempt)
{
	for (size_t i = 0; i < replicas->count; i++) {
		struct local_replica *replica = replicas->list[i];

		if (replica->attempt == attempt && replica->index == index &&
		    text_equals(replica->role, role))
			return replica;
	}
	return NULL;
}

struct local_replica *local_replicas_find_process(const struct local_replicas *replicas, pid_t pid)
{
	for (size_t i = 0; i < replicas->count; i++) {
		struct local_replica *replica = replicas->list[i];

		if (replica->pid == pid && replica->stage == LOCAL_RUNNING)
			return replica;
	}
	return NULL;
}

/* A failure that we did not cause may be the kernel's work if its count of OOM kills has increased:
 * a SIGKILL, also if a shell hands it on as 128 + 9, or the end of a process that the replica had
 * started, as a worker of a data loader. */
static const char *reason_of_exit(struct local_replicas *replicas,
				  const struct local_replica *replica,
				  const struct child_exit *child_exit)
{
	bool is_kill =
		child_exit->signal == SIGKILL || child_exit->exit_code == EXIT_BY_SIGNAL + SIGKILL;

	if (replica->is_killed || (child_exit->exit_code == 0 && !child_exit->signal))
		return NULL;
	if (oom_kill_count() <= replicas->oom_kills)
		return NULL;
	replicas->oom_kills++;
	return is_kill ? "OOMKilled" : FAILURE_PROCESS_OOM_KILLED;
}

void local_replicas_handle_exit(const struct child_exit *child_exit, void *data)
{
	struct local_replicas *replicas = data;
	struct local_replica *replica = local_replicas_find_process(replicas, child_exit->pid);

	if (!replica)
		return;
	replica->reason = reason_of_exit(replicas, replica, child_exit);
	if (replica->reason)
		replica->message = oom_kill_describe();
	local_replica_leave(replica, child_exit, loop_now());
}

msec local_replicas_next_kill(const struct local_replicas *replicas)
{
	msec next = MSEC_NEVER;

	for (size_t i = 0; i < replicas->count; i++) {
		const struct local_replica *replica = replicas->list[i];

		if (local_replica_awaits_kill(replica))
			next = msec_min(next, replica->kill_at);
	}
	return next;
}

void local_replicas_kill_overdue(struct local_replicas *replicas, msec now)
{
	for (size_t i = 0; i < replicas->count; i++) {
		struct local_replica *replica = replicas->list[i];

		if (local_replica_awaits_kill(replica) && replica->kill_at <= now)
			local_replica_kill(replica, now);
	}
}

void local_replicas_kill_all(struct local_replicas *replicas, msec now)
{
	for (size_t i = 0; i < replicas->count; i++)
		local_replica_kill(replicas->list[i], now);
}

/* We adopted a child that we did not start when its parent exited. If its attempt is over, it is
 * killed; if its attempt is running, it is left alone. */
static void end_if_left_over(pid_t pid, void *data)
{
	struct local_replicas *replicas = data;

	if (local_replicas_find_process(replicas, pid))
		return;
	char *attempt_mark CLEANUP(mem_free_text) = NULL;

	if (!process_read_variable(pid, ENVIRONMENT_ATTEMPT_MARK, &attempt_mark))
		replicas->is_unclear = true;
	for (size_t i = 0; attempt_mark && i < replicas->count; i++) {
		struct local_replica *replica = replicas->list[i];

		if (replica->stage != LOCAL_RUNNING &&
		    text_equals(strchr(replica->mark, '=') + 1, attempt_mark) &&
		    kill(pid, SIGKILL) == 0)
			replica->has_escapees = true;
	}
}

static bool has_any_left(const struct local_replicas *replicas)
{
	for (size_t i = 0; i < replicas->count; i++)
		if (replicas->list[i]->stage == LOCAL_LEFT)
			return true;
	return false;
}

/* When an escapee exits, we adopt its own children, and its exit triggers another check. A process
 * that is executing a program, or exiting at this moment, may belong to any attempt, and so may its
 * children. */
enum local_check local_replicas_end_left(struct local_replicas *replicas, bool has_children)
{
	if (!has_any_left(replicas))
		return LOCAL_CHECK_NONE;
	replicas->is_unclear = false;
	for (size_t i = 0; i < replicas->count; i++)
		replicas->list[i]->has_escapees = false;
	if (has_children)
		process_each_child(getpid(), end_if_left_over, replicas);
	if (replicas->is_unclear)
		return LOCAL_CHECK_UNCLEAR;
	for (size_t i = 0; i < replicas->count; i++) {
		struct local_replica *replica = replicas->list[i];

		if (replica->stage == LOCAL_LEFT && !replica->has_escapees)
			local_replica_end(replica);
	}
	return LOCAL_CHECK_DONE;
}

void local_replicas_move_times(struct local_replicas *replicas, msec step)
{
	log_info("the clock of this machine was set %s by %" PRId64 " s",
		 step < 0 ? "back" : "forward", (step < 0 ? -step : step) / MSEC_PER_SECOND);
	for (size_t i = 0; i < replicas->count; i++)
		local_replica_move_times(replicas->list[i], step);
}

void local_replicas_observe(const struct local_replicas *replicas, struct arena *arena,
			    struct observed *observed)
{
	observed->n_replicas = replicas->count;
	observed->replicas = arena_take_array(arena, replicas->count, sizeof(*observed->replicas));
	for (size_t i = 0; i < replicas->count; i++)
		local_replica_observe(replicas->list[i], loop_now(), arena, &observed->replicas[i]);
}
