#include "local/replica.h"

#include "base/exit_code.h"
#include "io/control_group.h"
#include "io/file.h"
#include "io/log.h"
#include "io/process.h"
#include "jobs/processes.h"
#include "local/start.h"
#include "status/failure_words.h"

#include <inttypes.h>
#include <signal.h>

#define TENSORFLOW_LIBRARY "/libtensorflow"
#define TORCH_LIBRARY "/libtorch"
#define BEFORE_SEARCH MSEC_PER_SECOND

struct local_replica *local_replica_new(const char *uid, const char *role, int index, int attempt,
					msec now)
{
	struct local_replica *replica = mem_new(sizeof(*replica));

	*replica = (struct local_replica){
		.seen =
			{
				.role = mem_copy_text(role),
				.index = index,
				.attempt = attempt,
				.phase = OBSERVED_RUNNING,
				.exit_code = -1,
				.started_at = now,
			},
		.mark = local_start_mark(uid, role, index, attempt),
	};
	return replica;
}

/* Closes its descriptors and frees it; the process, if there is one, is the caller's. */
static void local_replica_free(struct local_replica *replica)
{
	if (!replica)
		return;
	replica_output_free(replica->output);
	replica_output_free(replica->error_output);
	free((char *) replica->seen.role);
	free((char *) replica->seen.message);
	free((char *) replica->seen.log);
	free((char *) replica->seen.gpus);
	free(replica->mark);
	free(replica->stop_file);
	free(replica);
}

/* Opens a pipe or a terminal: its read end, and the log, become *ret_output. */
static int open_output(const struct local_replica *replica, struct output_reader *reader,
		       const struct terminal_size *terminal, struct log_writer *take_log,
		       struct replica_output **ret_output, int *ret_write_fd, struct err *err)
{
	int fds[2];
	int rc = terminal                    ? terminal_new_pair(*terminal, &fds[0], &fds[1], err)
		 : pipe2(fds, O_CLOEXEC) < 0 ? err_set_errno(err, errno, "cannot create a pipe")
					     : 0;

	if (rc < 0) {
		log_writer_close(take_log);
		return err_prefix(err, "%s-%d", replica->seen.role, replica->seen.index);
	}
	*ret_output = replica_output_new(reader, fds[0], take_log);
	*ret_write_fd = fds[1];
	return 0;
}

int local_replica_start(struct local_replica *replica, struct child_start *start,
			struct output_reader *reader, const struct replica_logs *take_logs,
			struct err *err)
{
	int output_fd CLEANUP(file_close) = -1, error_fd CLEANUP(file_close) = -1;
	int rc = open_output(replica, reader, take_logs->terminal, take_logs->log, &replica->output,
			     &output_fd, err);

	if (rc < 0) {
		log_writer_close(take_logs->error_log);
		return rc;
	}
	if (take_logs->keeps_streams_apart) {
		rc = open_output(replica, reader, NULL, take_logs->error_log,
				 &replica->error_output, &error_fd, err);
		if (rc < 0)
			return rc;
		start->error_fd = error_fd;
	}
	start->output_fd = output_fd;
	if (!start->program)
		return err_set(err, ERR_NOT_FOUND, "role '%s' has no command", replica->seen.role);
	pid_t pid;

	rc = child_start(start, &pid, err);
	if (rc < 0)
		return rc;
	replica->seen.pid = pid;
	log_info("%s-%d is running as process %d", replica->seen.role, replica->seen.index,
		 (int) pid);
	return 0;
}

/* No process of it is left: reads its last output, and closes its log. */
static void local_replica_end(struct local_replica *replica)
{
	replica_output_finish(TAKE(replica->output));
	replica_output_finish(TAKE(replica->error_output));
	replica->stage = LOCAL_ENDED;
	replica->seen.phase =
		replica->child_exit.exit_code == 0 ? OBSERVED_SUCCEEDED : OBSERVED_FAILED;
	replica->seen.exit_code = replica->child_exit.exit_code;
	replica->seen.signal = replica->child_exit.signal;
	replica->seen.ended_at = replica->left_at;
}

void local_replica_fail_start(struct local_replica *replica, const struct err *err, msec now)
{
	bool is_missing = err->code == ERR_NOT_FOUND;

	replica->child_exit.exit_code = is_missing ? EXIT_NO_PROGRAM : EXIT_CANNOT_RUN;
	replica->seen.reason = FAILURE_START_FAILED;
	replica->seen.message = mem_copy_text(err->text);
	replica->left_at = now;
	local_replica_end(replica);
}

/* An attempt that is exiting gets no more signals, but the request is recorded. */
void local_replica_stop(struct local_replica *replica, msec now, msec grace, int signal_number)
{
	if (replica->stage == LOCAL_ENDED || replica->seen.stop_asked_at != MSEC_UNSET)
		return;
	replica->seen.stop_asked_at = now;
	replica->seen.kill_at = now + grace;
	replica->held_signal = signal_number;
}

void local_replica_send_held(struct local_replica *replica)
{
	int signal_number = replica->held_signal;

	replica->held_signal = 0;
	if (!signal_number || replica->stage != LOCAL_RUNNING)
		return;
	int fd CLEANUP(file_close) = file_open_regular(replica->stop_file, O_WRONLY | O_CREAT);

	if (fd < 0)
		log_info("%s-%d gets the signal alone: cannot create '%s': %s", replica->seen.role,
			 replica->seen.index, replica->stop_file, strerror(errno));
	if (signal_number != replica->had_signal)
		child_signal_group(replica->seen.pid, signal_number);
	child_signal_group(replica->seen.pid, SIGCONT);
}

void local_replica_kill(struct local_replica *replica, msec now)
{
	if (replica->stage == LOCAL_ENDED || replica->seen.is_killed)
		return;
	if (replica->seen.stop_asked_at == MSEC_UNSET)
		replica->seen.stop_asked_at = replica->seen.kill_at = now;
	replica->seen.is_killed = true;
	if (replica->stage == LOCAL_LEFT)
		return;
	child_signal_group(replica->seen.pid, SIGKILL);
}

/* Whether it was asked to exit, and is still running. */
static bool local_replica_awaits_kill(const struct local_replica *replica)
{
	return replica->stage != LOCAL_ENDED && !replica->seen.is_killed &&
	       replica->seen.kill_at != MSEC_UNSET;
}

static bool may_descendants_save(const struct local_replica *replica,
				 const struct child_exit *child_exit)
{
	return child_exit->signal && local_replica_awaits_kill(replica) &&
	       loop_now() < replica->seen.kill_at;
}

static msec printed_at(const struct replica_output *output)
{
	return output ? replica_output_last(output) : MSEC_UNSET;
}

static void note_framework(pid_t pid, void *data)
{
	struct observed_replica *seen = data;

	seen->has_tensorflow |= process_has_loaded(pid, TENSORFLOW_LIBRARY);
	seen->has_torch |= process_has_loaded(pid, TORCH_LIBRARY);
}

/* Once, and not while others await the stop signal: a map has thousands of lines. A shell or a
 * launcher has loaded nothing, but what it has started may have. */
static void find_framework(struct local_replica *replica, bool has_any_failed, msec now)
{
	msec asked_at = replica->seen.stop_asked_at;
	bool is_due = asked_at == MSEC_UNSET ? has_any_failed : now >= asked_at + BEFORE_SEARCH;

	if (replica->stage != LOCAL_RUNNING || replica->was_searched || !is_due)
		return;
	replica->was_searched = true;
	note_framework(replica->seen.pid, &replica->seen);
	if (!replica->seen.has_tensorflow && !replica->seen.has_torch)
		process_each_child(replica->seen.pid, note_framework, &replica->seen);
}

static void local_replica_observe(const struct local_replica *replica, struct arena *arena,
				  struct observed_replica *ret_observed)
{
	*ret_observed = replica->seen;
	ret_observed->role = arena_copy_text(arena, replica->seen.role);
	ret_observed->message = arena_copy_text(arena, replica->seen.message);
	ret_observed->log = arena_copy_text(arena, replica->seen.log);
	ret_observed->gpus = arena_copy_text(arena, replica->seen.gpus);
	ret_observed->printed_at =
		msec_max(printed_at(replica->output), printed_at(replica->error_output));
	/* Why it is running and does nothing. */
	if (replica->stage != LOCAL_RUNNING || !replica->stopped_by)
		return;
	ret_observed->reason = FAILURE_PROCESS_STOPPED;
	ret_observed->message = arena_format(
		arena,
		"its process is paused by SIG%s, and its peers wait for it until they fail; "
		"continue it with `kill -CONT %d`",
		sigabbrev_np(replica->stopped_by), (int) replica->seen.pid);
}

/* All attempts. */

void local_replicas_done(struct local_replicas *replicas)
{
	for (struct local_replica *replica; (replica = TAILQ_FIRST(&replicas->list));) {
		TAILQ_REMOVE(&replicas->list, replica, link);
		local_replica_free(replica);
	}
}

void local_replicas_add(struct local_replicas *replicas, struct local_replica *take_replica)
{
	TAILQ_INSERT_TAIL(&replicas->list, take_replica, link);
	replicas->count++;
}

void local_replicas_remove(struct local_replicas *replicas, struct local_replica *replica)
{
	if (replica->stage != LOCAL_ENDED)
		return;
	TAILQ_REMOVE(&replicas->list, replica, link);
	replicas->count--;
	local_replica_free(replica);
}

struct local_replica *local_replicas_find(const struct local_replicas *replicas, const char *role,
					  int index, int attempt)
{
	struct local_replica *replica;

	TAILQ_FOREACH (replica, &replicas->list, link)
		if (replica->seen.attempt == attempt && replica->seen.index == index &&
		    text_equals(replica->seen.role, role))
			break;
	return replica;
}

struct local_replica *local_replicas_find_process(const struct local_replicas *replicas, pid_t pid)
{
	struct local_replica *replica;

	TAILQ_FOREACH (replica, &replicas->list, link)
		if (replica->seen.pid == pid && replica->stage == LOCAL_RUNNING)
			break;
	return replica;
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

	if (replica->seen.is_killed || (child_exit->exit_code == 0 && !child_exit->signal))
		return NULL;
	if (oom_kill_count() <= replicas->oom_kills)
		return NULL;
	replicas->oom_kills++;
	return is_kill ? "OOMKilled" : FAILURE_PROCESS_OOM_KILLED;
}

bool local_replicas_spare_group(const struct child_exit *child_exit, const void *data)
{
	const struct local_replica *replica = local_replicas_find_process(data, child_exit->pid);

	return replica && may_descendants_save(replica, child_exit);
}

void local_replicas_handle_exit(const struct child_exit *child_exit, void *data)
{
	struct local_replicas *replicas = data;
	struct local_replica *replica = local_replicas_find_process(replicas, child_exit->pid);

	if (!replica)
		return;
	replica->seen.reason = reason_of_exit(replicas, replica, child_exit);
	if (replica->seen.reason)
		replica->seen.message = oom_kill_describe();
	log_info("%s-%d (process %d) ended: code %d, signal %d", replica->seen.role,
		 replica->seen.index, (int) replica->seen.pid, child_exit->exit_code,
		 child_exit->signal);
	replica->child_exit = *child_exit;
	replica->left_at = loop_now();
	replica->stage = LOCAL_LEFT;
}

msec local_replicas_next_kill(const struct local_replicas *replicas)
{
	const struct local_replica *replica;
	msec next = MSEC_NEVER;

	TAILQ_FOREACH (replica, &replicas->list, link)
		if (local_replica_awaits_kill(replica))
			next = msec_min(next, replica->seen.kill_at);
	return next;
}

void local_replicas_kill_overdue(struct local_replicas *replicas, msec now)
{
	struct local_replica *replica;

	TAILQ_FOREACH (replica, &replicas->list, link)
		if (local_replica_awaits_kill(replica) && replica->seen.kill_at <= now)
			local_replica_kill(replica, now);
}

void local_replicas_kill_all(struct local_replicas *replicas, msec now)
{
	struct local_replica *replica;

	TAILQ_FOREACH (replica, &replicas->list, link)
		local_replica_kill(replica, now);
}

/* We adopted a child that we did not start when its parent exited. If its attempt is over, it is
 * killed; if its attempt is running, it is left alone. */
static void end_if_left_over(pid_t pid, void *data)
{
	struct local_replicas *replicas = data;

	if (local_replicas_find_process(replicas, pid))
		return;
	char *attempt_mark CLEANUP(mem_free_text) = NULL;
	struct local_replica *replica;

	if (!process_read_variable(pid, ENVIRONMENT_ATTEMPT_MARK, &attempt_mark))
		replicas->is_unclear = true;
	TAILQ_FOREACH (replica, &replicas->list, link)
		if (replica->stage != LOCAL_RUNNING &&
		    text_equals(strchr(replica->mark, '=') + 1, attempt_mark) &&
		    ((may_descendants_save(replica, &replica->child_exit) &&
		      getpgid(pid) == replica->seen.pid) ||
		     kill(pid, SIGKILL) == 0))
			replica->has_escapees = true;
}

/* When an escapee exits, we adopt its own children, and its exit triggers another check. A process
 * that is executing a program, or exiting at this moment, may belong to any attempt, and so may its
 * children. */
enum local_check local_replicas_end_left(struct local_replicas *replicas, bool has_children)
{
	struct local_replica *replica;
	bool has_any_left = false;

	TAILQ_FOREACH (replica, &replicas->list, link) {
		replica->has_escapees = false;
		has_any_left |= replica->stage == LOCAL_LEFT;
	}
	if (!has_any_left)
		return LOCAL_CHECK_NONE;
	replicas->is_unclear = false;
	if (has_children)
		process_each_child(getpid(), end_if_left_over, replicas);
	if (replicas->is_unclear)
		return LOCAL_CHECK_UNCLEAR;
	TAILQ_FOREACH (replica, &replicas->list, link)
		if (replica->stage == LOCAL_LEFT && !replica->has_escapees)
			local_replica_end(replica);
	return LOCAL_CHECK_DONE;
}

void local_replicas_move_times(struct local_replicas *replicas, msec step)
{
	struct local_replica *replica;

	log_info("the clock of this machine was set %s by %" PRId64 " s",
		 step < 0 ? "back" : "forward", (step < 0 ? -step : step) / MSEC_PER_SECOND);
	TAILQ_FOREACH (replica, &replicas->list, link) {
		msec_move(&replica->seen.started_at, step);
		msec_move(&replica->seen.ended_at, step);
		msec_move(&replica->left_at, step);
		msec_move(&replica->seen.stop_asked_at, step);
		msec_move(&replica->seen.kill_at, step);
	}
}

void local_replicas_observe(const struct local_replicas *replicas, struct arena *arena,
			    struct observed *observed)
{
	struct local_replica *replica;
	bool has_any_failed = false;

	TAILQ_FOREACH (replica, &replicas->list, link)
		has_any_failed |= replica->seen.phase == OBSERVED_FAILED;
	observed->replicas = arena_take_array(arena, replicas->count, sizeof(*observed->replicas));
	TAILQ_FOREACH (replica, &replicas->list, link) {
		find_framework(replica, has_any_failed, loop_now());
		local_replica_observe(replica, arena, &observed->replicas[observed->n_replicas++]);
	}
}

static void start_stacks_asker(void *data);

/* Without the hook the job trains all the same. */
static char *make_hook(const char *state_folder)
{
	char *folder = NULL;
	struct err err;

	if (stacks_hook_install(state_folder, &folder, &err) < 0)
		log_info("stacks are not available: %s", err.text);
	return folder;
}

void local_stacks_init(struct local_stacks *stacks, struct local_replicas *replicas,
		       const char *state_folder, struct loop *loop)
{
	*stacks = (struct local_stacks){
		.loop = loop,
		.replicas = replicas,
		.hook = state_folder ? make_hook(state_folder) : NULL,
	};
}

void local_stacks_done(struct local_stacks *stacks)
{
	stacks_asker_free(stacks->asker);
	stacks_done(&stacks->answers);
	arena_free(stacks->arena);
	free(stacks->hook);
	free(stacks->job_folder);
	*stacks = (struct local_stacks){0};
}

/* Replicas that were held back meanwhile are asked, and signaled, after these. */
static void on_stacks_answered(void *data)
{
	struct local_stacks *stacks = data;
	struct local_replica *replica;

	stacks_asker_read(stacks->asker, stacks->arena, &stacks->answers);
	stacks_asker_free(TAKE(stacks->asker));
	TAILQ_FOREACH (replica, &stacks->replicas->list, link)
		if (replica->is_asked)
			local_replica_send_held(replica);
	start_stacks_asker(stacks);
	stacks->on_kept(stacks->data);
}

static void start_stacks_asker(void *data)
{
	struct local_stacks *stacks = data;
	const struct stacks_asker_settings settings = {stacks->loop, stacks->job_folder,
						       stacks->uid, on_stacks_answered, stacks};
	struct stacks_replica *held CLEANUP(mem_free_any) =
		mem_new_array(stacks->replicas->count + 1, sizeof(*held));
	size_t n_held = 0;

	struct local_replica *replica;

	stacks->is_due = false;
	if (stacks->asker)
		return;
	TAILQ_FOREACH (replica, &stacks->replicas->list, link) {
		if (!replica->held_signal || replica->stage != LOCAL_RUNNING)
			continue;
		replica->is_asked = true;
		held[n_held++] = (struct stacks_replica){replica->seen.role, replica->seen.index,
							 replica->seen.attempt, replica->seen.pid};
	}
	if (n_held == 0)
		return;
	if (!stacks->arena)
		stacks->arena = arena_new();
	stacks->asker = stacks_asker_new(&settings, held, n_held);
}

void local_stacks_ask(struct local_stacks *stacks)
{
	if (!stacks->is_due)
		loop_defer(stacks->loop, start_stacks_asker, stacks);
	stacks->is_due = true;
}

int local_stacks_summarize(const struct local_stacks *stacks, struct arena *arena,
			   const char ***ret_lines, size_t *ret_count, struct err *err)
{
	if (!stacks->arena || stacks->asker || stacks->is_due)
		return err_set(err, ERR_UNREACHABLE, "the stacks are not ready yet");
	*ret_lines = stacks_summarize(&stacks->answers, LIMIT_STACKS - 1, arena, ret_count);
	return 0;
}
