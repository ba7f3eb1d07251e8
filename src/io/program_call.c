/* A pidfd reports its exit, and not SIGCHLD, which belongs to the code that runs replicas. */
#include "io/program_call.h"

#include "base/mem.h"
#include "io/child.h"
#include "io/file.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

struct program_call {
	char *program;
	pid_t pid;
	bool has_group;
	int process_fd, output_fd;
	struct loop_watch *ended, *readable, *timer;
	char *bytes; /* of `limit` and one more; it never grows, so no secret is left in freed
			memory */
	size_t len, limit;
	msec time_limit;
	bool is_reaped;
	program_done_fn done;
	void *data;
};

static void reap(struct program_call *call, siginfo_t *ended)
{
	if (call->has_group)
		child_signal_group(call->pid, SIGKILL); /* its remaining children */
	waitid(P_PIDFD, (id_t) call->process_fd, ended, WEXITED);
	call->is_reaped = true;
}

void program_call_cancel(struct program_call *call)
{
	siginfo_t ended = {.si_pid = 0};

	if (!call)
		return;

	loop_watch_free(call->ended);
	loop_watch_free(call->readable);
	loop_watch_free(call->timer);
	if (!call->is_reaped && call->pid > 0) {
		syscall(SYS_pidfd_send_signal, call->process_fd, SIGKILL, NULL, 0);
		reap(call, &ended);
	}
	file_close(&call->process_fd);
	file_close(&call->output_fd);
	explicit_bzero(call->bytes, call->limit + 1);
	free(call->bytes);
	free(call->program);
	free(call);
}

static void fail_program_call(struct program_call *call, const struct err *err)
{
	program_done_fn done = call->done;
	void *data = call->data;

	program_call_cancel(call);
	done(NULL, err, data);
}

/* Reads the available output. False when it was more than the limit. */
static bool read_output(struct program_call *call)
{
	while (call->len <= call->limit) {
		ssize_t n =
			read(call->output_fd, call->bytes + call->len, call->limit + 1 - call->len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return true;
		if (n == 0) {
			loop_watch_enable(call->readable, false);
			return true;
		}
		call->len += (size_t) n;
	}
	return false;
}

static void fail_with_too_much(struct program_call *call)
{
	struct err err;

	err_set(&err, ERR_LIMIT, "'%s' prints more than %zu bytes", call->program, call->limit);
	fail_program_call(call, &err);
}

static void on_program_output(void *data)
{
	struct program_call *call = data;

	if (!read_output(call))
		fail_with_too_much(call);
}

static void on_time_limit(void *data)
{
	struct program_call *call = data;
	struct err err;

	err_set(&err, ERR_UNREACHABLE, "'%s' did not answer within %d seconds", call->program,
		(int) msec_to_whole_seconds(call->time_limit));
	fail_program_call(call, &err);
}

static void on_program_ended(void *data)
{
	struct program_call *call = data;
	siginfo_t ended = {.si_code = CLD_EXITED};

	reap(call, &ended);
	if (!read_output(call)) {
		fail_with_too_much(call);
		return;
	}
	bool has_code = ended.si_code == CLD_EXITED;
	const struct program_answer answer = {
		.bytes = call->bytes,
		.len = call->len,
		.exit_code = has_code ? ended.si_status : -1,
		.signal = has_code ? 0 : ended.si_status,
	};

	call->bytes[call->len] = '\0';
	call->done(&answer, NULL, call->data);
	program_call_cancel(call);
}

static int start_called_program(struct program_call *call, const struct program_question *question,
				struct err *err)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_set_errno(err, errno, "cannot start '%s'", question->program);
	int write_end CLEANUP(file_close) = ends[1];
	const struct child_start how = {
		.program = question->program,
		.arguments = question->arguments,
		.environment = question->environment,
		.output_fd = write_end,
		.error_fd = STDERR_FILENO,
		.uses_terminal = question->uses_terminal,
	};
	pid_t pid = 0;

	call->output_fd = ends[0];
	fcntl(call->output_fd, F_SETFL, O_NONBLOCK);
	int rc = child_start(&how, &pid, err);

	if (rc < 0)
		return rc;
	call->process_fd = (int) syscall(SYS_pidfd_open, pid, 0);
	if (call->process_fd >= 0) {
		call->pid = pid;
		return 0;
	}
	rc = err_set_errno(err, errno, "cannot watch '%s'", question->program);
	child_end(pid);
	return rc;
}

int program_call_new(struct loop *loop, const struct program_question *question,
		     struct program_call **ret_call, struct err *err)
{
	struct program_call *call = mem_new(sizeof(*call));

	*call = (struct program_call){
		.program = mem_copy_text(question->program),
		.has_group = !question->uses_terminal,
		.process_fd = -1,
		.output_fd = -1,
		.bytes = mem_new(question->limit + 1),
		.limit = question->limit,
		.time_limit = question->time_limit,
		.done = question->done,
		.data = question->data,
	};
	int rc = start_called_program(call, question, err);

	if (rc < 0) {
		program_call_cancel(call);
		return rc;
	}
	call->readable = loop_watch_readable(loop, call->output_fd, on_program_output, call);
	call->ended = loop_watch_readable(loop, call->process_fd, on_program_ended, call);
	call->timer = loop_new_timer(loop, on_time_limit, call);
	loop_timer_arm_after(call->timer, question->time_limit);
	*ret_call = call;
	return 0;
}

/* Waiting for one. */

struct wait {
	const char *program;
	struct loop *loop;
	struct text *output;
	int rc;
	struct err *err;
};

static void on_awaited_answer(const struct program_answer *answer, const struct err *err,
			      void *data)
{
	struct wait *wait = data;

	if (err)
		wait->rc = err_set(wait->err, err->code, "%s: %s", wait->program, err->text);
	else if (answer->signal != 0)
		wait->rc = err_set(wait->err, ERR_INVALID, "%s was killed by signal %d",
				   wait->program, answer->signal);
	else if (answer->exit_code != 0)
		wait->rc = err_set(wait->err, ERR_INVALID, "%s exited with code %d", wait->program,
				   answer->exit_code);
	else
		text_add_bytes(wait->output, answer->bytes, answer->len);
	loop_stop(wait->loop);
}

int program_call_wait(const struct program_question *question, struct text *output, struct err *err)
{
	struct wait wait = {.program = question->program, .output = output, .err = err};
	struct program_question asked = *question;
	struct program_call *call;
	int rc = loop_new(&wait.loop, err);

	if (rc < 0)
		return rc;
	asked.done = on_awaited_answer;
	asked.data = &wait;
	rc = program_call_new(wait.loop, &asked, &call, err);
	if (rc == 0) {
		loop_run(wait.loop);
		rc = wait.rc;
	}
	loop_free(wait.loop);
	return rc;
}
