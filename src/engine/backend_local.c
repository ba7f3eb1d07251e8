/* The local back end: a replica is a process group, its output a pipe, its end a SIGCHLD.
 *
 * An attempt has ended when nothing of it is left: its process was reaped, its group was killed
 * before that, and so were those of its descendants that had left the group. They are found among
 * our children (we are a subreaper) by the attempt's mark in their environment. Only then its end
 * is observed, so that two attempts of one replica never live side by side.
 *
 * One back end serves one job, that of its supervisor. */
#include "engine/backend_local.h"

#include "base/text.h"
#include "engine/backend_local_ports.h"
#include "engine/backend_local_replica.h"
#include "engine/backend_local_start.h"
#include "engine/log_last.h"
#include "io/oom.h"
#include "io/port.h"
#include "io/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a pipe holds while we do other things; the kernel's own 64 KiB are 13 MB/s at best. */
#define PIPE_SIZE (1024 * 1024)

struct local {
	struct backend backend; /* the first member, so that one is the other */
	struct backend_local_settings settings;
	char *jobs_folder;
	char *job_name; /* NULL before the first job was seen */
	char *uid;
	struct local_ports ports;
	struct output_reader *reader;
	struct loop_watch *child_watch;
	struct loop_watch *kill_timer;
	struct local_replica **replicas;
	size_t n_replicas;
	size_t capacity;
	int64_t oom_kills; /* of those that the kernel did, how many are accounted for */
};

static struct local *of(struct backend *backend)
{
	return (struct local *) backend;
}

static void tell_trouble(struct local *local, const char *sentence)
{
	if (local->settings.on_trouble)
		local->settings.on_trouble(local->job_name, sentence, local->settings.data);
}

static void tell_news(struct local *local)
{
	if (local->job_name && local->settings.on_news)
		local->settings.on_news(local->job_name, local->settings.data);
}

static void hear_output(void *data)
{
	struct local *local = data;

	if (local->settings.on_output)
		local->settings.on_output(local->job_name, local->settings.data);
}

static void hear_trouble(const char *sentence, void *data)
{
	tell_trouble(data, sentence);
}

static void learn_job(struct local *local, const struct job *job)
{
	if (local->job_name)
		return;
	local->job_name = mem_copy_text(job->name);
	local->uid = mem_copy_text(job->uid);
}

static struct local_replica *find_replica(const struct local *local, const char *role, int index,
					  int attempt)
{
	for (size_t i = 0; i < local->n_replicas; i++) {
		struct local_replica *replica = local->replicas[i];

		if (replica->attempt == attempt && replica->index == index &&
		    text_equals(replica->role, role))
			return replica;
	}
	return NULL;
}

static struct local_replica *find_process(const struct local *local, pid_t pid)
{
	for (size_t i = 0; i < local->n_replicas; i++)
		if (local->replicas[i]->pid == pid && local->replicas[i]->stage == LOCAL_RUNNING)
			return local->replicas[i];
	return NULL;
}

/* Observing. */

static int local_observe(struct backend *backend, const struct job *job, struct arena *arena,
			 struct observed *ret_observed, struct err *err)
{
	struct local *local = of(backend);
	struct observed observed = {
		.n_replicas = local->n_replicas,
		.replicas = arena_take_array(arena, local->n_replicas, sizeof(*observed.replicas)),
		.habits =
			{
				.kills_after_grace = true,
				.names_carry_attempt = true,
				.ends_finished_jobs = true,
			},
	};

	(void) err;
	learn_job(local, job);
	for (size_t i = 0; i < local->n_replicas; i++)
		local_replica_observe(local->replicas[i], arena, &observed.replicas[i]);
	local_ports_observe(&local->ports, arena, &observed);
	*ret_observed = observed;
	return 0;
}

/* Starting. */

static void warn_if_port_is_taken(struct local *local, const struct action *action)
{
	const struct local_address *address =
		local_ports_find(&local->ports, action->role, action->index);

	if (!address || port_is_free(address->port))
		return;
	char *sentence CLEANUP(mem_free_text) =
		mem_format("port %d of %s-%d is in use by another program", address->port,
			   action->role, action->index);

	tell_trouble(local, sentence);
}

static char *job_folder(const struct local *local)
{
	return mem_format("%s/%s", local->jobs_folder, local->uid);
}

/* Without a log the replica runs all the same; what it prints is lost, and that is told. */
static struct log_writer *open_log(struct local *local, struct local_replica *replica)
{
	char *folder CLEANUP(mem_free_text) = job_folder(local);
	struct log_writer *log;
	struct err err;

	if (log_writer_open(folder, replica->role, replica->index, replica->attempt,
			    local->settings.rotate_at, &log, &err) < 0) {
		tell_trouble(local, err.text);
		return NULL;
	}
	replica->log = mem_copy_text(log_writer_path(log));
	return log;
}

static int start_process(struct local *local, struct local_replica *replica,
			 struct child_start *start, struct err *err)
{
	int pipe_fds[2];

	if (!start->program)
		return err_set(err, ERR_NOT_FOUND, "role '%s' has no command", replica->role);
	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return err_set_errno(err, errno, "cannot make a pipe for %s-%d", replica->role,
				     replica->index);
	fcntl(pipe_fds[0], F_SETPIPE_SZ, PIPE_SIZE);
	start->output_fd = pipe_fds[1];
	int rc = child_start(start, &replica->pid, err);

	close(pipe_fds[1]);
	replica->output = replica_output_new(local->reader, pipe_fds[0], open_log(local, replica));
	return rc;
}

static void start_replica(struct local *local, const struct job *job, const struct role *role,
			  const struct action *action)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct cluster cluster = local_ports_cluster(&local->ports, job, arena);
	struct local_replica *replica = local_replica_new(local->uid, action->role, action->index,
							  action->attempt, loop_now());
	struct child_start start;
	struct err err;

	warn_if_port_is_taken(local, action);
	local_start_describe(&cluster, role, action->index, action->attempt, arena, &start);
	if (start_process(local, replica, &start, &err) < 0)
		local_replica_fail_start(replica, &err, loop_now());
	mem_grow(&local->replicas, &local->capacity, local->n_replicas, sizeof(*local->replicas));
	local->replicas[local->n_replicas++] = replica;
}

/* Ending. */

static void arm_kill_timer(struct local *local)
{
	msec next = MSEC_NEVER;

	for (size_t i = 0; i < local->n_replicas; i++) {
		const struct local_replica *replica = local->replicas[i];

		if (replica->stage == LOCAL_RUNNING && !replica->is_killed &&
		    replica->kill_at != MSEC_UNSET)
			next = msec_min(next, replica->kill_at);
	}
	loop_timer_arm(local->kill_timer, next);
}

static void kill_overdue(void *data)
{
	struct local *local = data;
	msec now = loop_now();

	for (size_t i = 0; i < local->n_replicas; i++) {
		struct local_replica *replica = local->replicas[i];

		if (replica->kill_at != MSEC_UNSET && replica->kill_at <= now)
			local_replica_kill(replica, now);
	}
	arm_kill_timer(local);
}

static void remove_replica(struct local *local, const struct local_replica *removed)
{
	size_t kept = 0;

	if (removed->stage != LOCAL_ENDED)
		return;
	for (size_t i = 0; i < local->n_replicas; i++)
		if (local->replicas[i] != removed)
			local->replicas[kept++] = local->replicas[i];
		else
			local_replica_free(local->replicas[i]);
	local->n_replicas = kept;
}

/* A SIGKILL that we did not send was the kernel's when its count of such kills has gone up. */
static const char *reason_of_exit(struct local *local, const struct local_replica *replica,
				  const struct child_exit *child_exit)
{
	if (child_exit->signal != SIGKILL || replica->is_killed)
		return NULL;
	if (oom_kill_count() <= local->oom_kills)
		return NULL;
	local->oom_kills++;
	return "OOMKilled";
}

static void hear_exit(const struct child_exit *child_exit, void *data)
{
	struct local *local = data;
	struct local_replica *replica = find_process(local, child_exit->pid);

	if (!replica)
		return;
	replica->reason = reason_of_exit(local, replica, child_exit);
	local_replica_leave(replica, child_exit, loop_now());
}

static bool has_mark_of(const struct local_replica *replica, const char *attempt_mark)
{
	return text_equals(strchr(replica->mark, '=') + 1, attempt_mark);
}

/* A child that we did not start fell to us when its parent died. What belongs to an attempt that is
 * over has to end; what belongs to one that runs is left to it. */
static void end_if_left_over(pid_t pid, void *data)
{
	struct local *local = data;

	if (find_process(local, pid))
		return;
	char *attempt_mark CLEANUP(mem_free_text) = process_variable(pid, ENVIRONMENT_ATTEMPT_MARK);

	for (size_t i = 0; attempt_mark && i < local->n_replicas; i++) {
		struct local_replica *replica = local->replicas[i];

		if (replica->stage != LOCAL_RUNNING && has_mark_of(replica, attempt_mark) &&
		    kill(pid, SIGKILL) == 0)
			replica->has_escapees = true;
	}
}

static size_t count_left(const struct local *local)
{
	size_t count = 0;

	for (size_t i = 0; i < local->n_replicas; i++)
		count += local->replicas[i]->stage == LOCAL_LEFT;
	return count;
}

/* When an escapee dies, its own children fall to us and we are told, so we look again. */
static void end_those_that_left(struct local *local, bool has_children)
{
	if (count_left(local) == 0)
		return;
	for (size_t i = 0; i < local->n_replicas; i++)
		local->replicas[i]->has_escapees = false;
	if (has_children)
		process_each_child(getpid(), end_if_left_over, local);
	for (size_t i = 0; i < local->n_replicas; i++) {
		struct local_replica *replica = local->replicas[i];

		if (replica->stage == LOCAL_LEFT && !replica->has_escapees)
			local_replica_end(replica);
	}
	arm_kill_timer(local);
	tell_news(local);
}

static void reap_children(int signal_number, void *data)
{
	struct local *local = data;
	struct child_exit child_exit;
	bool has_children;

	(void) signal_number;
	while (child_reap(&child_exit, &has_children))
		hear_exit(&child_exit, local);
	end_those_that_left(local, has_children);
}

void backend_local_kill_all(struct backend *backend)
{
	struct local *local = of(backend);
	msec now = loop_now();

	for (size_t i = 0; i < local->n_replicas; i++)
		local_replica_kill(local->replicas[i], now);
	child_kill_all(hear_exit, local);
	end_those_that_left(local, false);
}

/* Actions. */

static int local_start(struct local *local, const struct job *job, const struct action *action,
		       struct err *err)
{
	const struct role *role = job_role(job, action->role);

	if (find_replica(local, action->role, action->index, action->attempt))
		return 0;
	if (!role)
		return err_set(err, ERR_NOT_FOUND, "job '%s' has no role '%s'", job->name,
			       action->role);
	start_replica(local, job, role, action);
	return 0;
}

static void local_end(struct local *local, const struct action *action)
{
	struct local_replica *replica =
		find_replica(local, action->role, action->index, action->attempt);

	if (!replica)
		return;
	if (action->type == ACTION_STOP)
		local_replica_stop(replica, loop_now(), action->grace);
	else if (action->type == ACTION_KILL)
		local_replica_kill(replica, loop_now());
	else
		remove_replica(local, replica);
	arm_kill_timer(local);
}

static int local_apply(struct backend *backend, const struct job *job, const struct action *action,
		       struct err *err)
{
	struct local *local = of(backend);

	learn_job(local, job);
	switch (action->type) {
	case ACTION_PUBLISH:
		return local_ports_publish(&local->ports, job, action->role, action->index, err);
	case ACTION_UNPUBLISH:
		return local_ports_unpublish(&local->ports, local->uid, action->role, action->index,
					     err);
	case ACTION_START:
		return local_start(local, job, action, err);
	case ACTION_STOP:
	case ACTION_KILL:
	case ACTION_REMOVE:
		local_end(local, action);
		return 0;
	case ACTION_TYPE_COUNT:
		break;
	}
	return err_set(err, ERR_UNSUPPORTED, "this machine has no action %d", (int) action->type);
}

/* Looking back. */

static int local_last_lines(struct backend *backend, const struct job *job, const char *role,
			    int index, int attempt, size_t most, struct arena *arena,
			    const char ***ret_lines, size_t *ret_count, struct err *err)
{
	struct local *local = of(backend);
	char *folder CLEANUP(mem_free_text) = job_folder(local);

	(void) job;
	return log_last_lines(folder, role, index, attempt, most, arena, ret_lines, ret_count, err);
}

msec backend_local_last_output(struct backend *backend, const char *role, int index)
{
	const struct local *local = of(backend);
	msec last = MSEC_UNSET;

	for (size_t i = 0; i < local->n_replicas; i++) {
		const struct local_replica *replica = local->replicas[i];

		if (replica->index != index || !text_equals(replica->role, role))
			continue;
		msec moment = local_replica_last_output(replica);

		last = moment > last ? moment : last;
	}
	return last;
}

/* Processes are not ended here: whoever frees it has seen to that (backend_local_kill_all). */
static void local_free(struct backend *backend)
{
	struct local *local = of(backend);

	if (local->uid)
		local_ports_release(&local->ports, local->uid, NULL);
	local_ports_done(&local->ports);
	for (size_t i = 0; i < local->n_replicas; i++)
		local_replica_free(local->replicas[i]);
	free(local->replicas);
	output_reader_free(local->reader);
	loop_watch_free(local->child_watch);
	loop_watch_free(local->kill_timer);
	free(local->jobs_folder);
	free(local->job_name);
	free(local->uid);
	free(local);
}

static const struct backend_functions local_functions = {
	.name = "local",
	.observe = local_observe,
	.apply = local_apply,
	.last_lines = local_last_lines,
	.free = local_free,
};

int backend_local_new(const struct backend_local_settings *settings, struct backend **ret_backend,
		      struct err *err)
{
	struct local *local = mem_new(sizeof(*local));
	const struct output_listener listener = {hear_output, hear_trouble, local};

	(void) err;
	local->backend.functions = &local_functions;
	local->settings = *settings;
	local->jobs_folder = mem_copy_text(settings->jobs_folder);
	local->ports.store = settings->store;
	local->reader = output_reader_new(settings->loop, &listener);
	local->child_watch = loop_watch_signal(settings->loop, SIGCHLD, reap_children, local);
	local->kill_timer = loop_new_timer(settings->loop, kill_overdue, local);
	local->oom_kills = oom_kill_count();
	*ret_backend = &local->backend;
	return 0;
}
