/* The answer to the waiting parent is one letter: ANSWER_STARTED, or ANSWER_ERROR followed by a
 * struct err. */
#include "supervise/background.h"

#include "base/exit_code.h"
#include "io/file.h"
#include "io/process.h"

#include <signal.h>
#include <sys/wait.h>

#define ANSWER_STARTED 's'
#define ANSWER_ERROR 'e'

/* In the daemon. */

static void send_started_answer(int *answer_fd, char letter, const struct err *err)
{
	if (*answer_fd < 0)
		return;
	file_write_all(*answer_fd, &letter, 1, NULL);
	if (err)
		file_write_all(*answer_fd, err, sizeof(*err), NULL);
	file_close(answer_fd);
}

static void on_started(void *answer_fd)
{
	send_started_answer(answer_fd, ANSWER_STARTED, NULL);
}

void background_leave_terminal(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	if (fd < 0)
		return;
	dup2(fd, STDIN_FILENO);
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	close(fd);
}

static NORETURN void be_daemon(background_fn fn, void *data, int answer_fd)
{
	struct err err = {0};
	int exit_code = EXIT_INTERNAL;

	background_leave_terminal();
	file_close_inherited();
	if (fn(on_started, &answer_fd, &exit_code, &err, data) < 0)
		send_started_answer(&answer_fd, ANSWER_ERROR, &err);
	_exit(exit_code);
}

/* In its parent. */

static bool read_answer_bytes(int fd, void *bytes, size_t len)
{
	for (size_t have = 0; have < len;) {
		ssize_t got = read(fd, (char *) bytes + have, len - have);

		if (got > 0)
			have += (size_t) got;
		else if (got == 0 || errno != EINTR)
			return false;
	}
	return true;
}

static int read_started_answer(int answer_fd, struct err *err)
{
	struct err told;
	char letter;

	if (!read_answer_bytes(answer_fd, &letter, 1))
		return err_set(err, ERR_IO,
			       "the background supervisor exited before it started the job");
	if (letter == ANSWER_STARTED)
		return 0;
	if (!read_answer_bytes(answer_fd, &told, sizeof(told)))
		return err_set(err, ERR_IO, "the background supervisor exited unexpectedly");
	return err_copy(err, &told);
}

int background_run(bool is_detached, background_fn fn, void *data, int *ret_exit_code,
		   struct err *err)
{
	int answer_fds[2];

	if (!is_detached)
		return fn(NULL, NULL, ret_exit_code, err, data);
	if (pipe2(answer_fds, O_CLOEXEC) < 0)
		return err_set_errno(err, errno, "cannot create a pipe");
	pid_t pid = fork();
	if (pid == 0) {
		close(answer_fds[0]);
		be_daemon(fn, data, answer_fds[1]);
	}
	close(answer_fds[1]);
	int rc = pid < 0 ? err_set_errno(err, errno, "cannot start a process in the background")
			 : read_started_answer(answer_fds[0], err);
	close(answer_fds[0]);
	if (pid > 0 && rc < 0)
		waitpid(pid, NULL, 0);
	if (rc == 0)
		*ret_exit_code = 0;
	return rc;
}

/* One watch per signal. */

static const int numbers[END_SIGNALS_COUNT] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static bool is_of_keys(int number)
{
	return number == SIGINT || number == SIGQUIT;
}

static void on_end_signal(int number, void *data)
{
	const struct end_signals *signals = data;

	if (!signals->leaves_keys || !is_of_keys(number) || loop_signal_sender())
		signals->fn(number, signals->data);
}

void end_signals_watch(struct end_signals *signals, struct loop *loop, loop_signal_fn fn,
		       void *data)
{
	sigset_t all, before;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	end_signals_take(signals);
	end_signals_done(signals);
	signals->loop = loop;
	signals->fn = fn;
	signals->data = data;
	for (size_t i = 0; i < END_SIGNALS_COUNT; i++) {
		bool is_ignored = process_ignores(numbers[i]);

		signals->leaves_keys |= is_ignored && is_of_keys(numbers[i]);
		if (!is_ignored || is_of_keys(numbers[i]))
			signals->watches[i] =
				loop_watch_signal(loop, numbers[i], on_end_signal, signals);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
}

void end_signals_take(const struct end_signals *signals)
{
	if (signals->loop)
		loop_run_ready(signals->loop);
}

void end_signals_done(struct end_signals *signals)
{
	for (size_t i = 0; i < END_SIGNALS_COUNT; i++)
		loop_watch_free(TAKE(signals->watches[i]));
}
