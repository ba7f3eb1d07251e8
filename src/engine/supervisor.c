/* The outer side of a supervisor: who forks, who waits, and who tells the person.
 *
 * Attached: guard_fork splits the process in two. Both come back to the caller, the inner one with
 * the job's end, the outer one, once nothing is left, with the same exit code.
 *
 * Detached: a daemon is forked first, which does just that without a terminal. Its parent waits on
 * a pipe until the first replicas were started: an answer is one letter, ANSWER_STARTED or
 * ANSWER_ERROR and a struct err behind it. */
#include "engine/supervisor.h"

#include "base/mem.h"
#include "engine/job_uid.h"
#include "engine/settle.h"
#include "engine/supervision.h"
#include "io/file.h"
#include "io/guard.h"
#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_OWN_FAULT 125
#define EXIT_BY_SIGNAL 128
#define ANSWER_STARTED 's'
#define ANSWER_ERROR 'e'

static int settle(const struct supervisor_request *request, struct err *err)
{
	struct store *store;
	int rc = store_sqlite_open(request->state_folder, &store, err);

	if (rc < 0)
		return rc;
	rc = settle_job(store, request->job->name, request->job->uid, err);
	store->functions->free(store);
	return rc;
}

/* The inner process was killed or crashed. Its descendants are gone already; what is left to do is
 * to say so, here and in the record. */
static int tell_of_loss(const struct supervisor_request *request, int signal_number,
			struct err *err)
{
	const char *name = request->job->name;
	int rc = settle(request, err);

	if (rc < 0)
		return err_prefix(err, "muster itself was killed, so job '%s' was ended", name);
	return err_set(err, ERR_IO,
		       "muster itself was killed by signal %d (SIG%s), so job '%s' was ended",
		       signal_number, sigabbrev_np(signal_number), name);
}

/* Splits into outer and inner, and returns in both. */
static int see_through(const struct supervisor_request *request, loop_fn on_started, void *data,
		       int *ret_exit_code, struct err *err)
{
	struct guard guard;
	int rc = guard_fork(&guard, err);

	if (rc < 0)
		return rc;
	if (guard.is_inner)
		return supervision_run(request, &guard, on_started, data, ret_exit_code, err);
	if (guard.was_lost)
		return tell_of_loss(request, guard.exit_code - EXIT_BY_SIGNAL, err);
	if (guard.exit_code == EXIT_BUG) /* it has told why; a job may end with this code, too */
		rc = settle(request, err);
	*ret_exit_code = guard.exit_code;
	return rc;
}

/* Detached. */

struct daemon {
	int answer_fd; /* to the waiting parent; -1 once it was answered */
};

static void answer(struct daemon *daemon, char letter, const struct err *err)
{
	file_write_all(daemon->answer_fd, &letter, 1, NULL);
	if (err)
		file_write_all(daemon->answer_fd, err, sizeof(*err), NULL);
	file_close(&daemon->answer_fd);
}

static void on_started(void *data)
{
	answer(data, ANSWER_STARTED, NULL);
}

/* The working folder stays: replicas without one of their own run in it. */
static void leave_terminal(void)
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

static NORETURN void be_daemon(const struct supervisor_request *request, int answer_fd)
{
	struct daemon daemon = {.answer_fd = answer_fd};
	struct err err = {0};
	int exit_code = EXIT_OWN_FAULT;

	leave_terminal();
	int rc = see_through(request, on_started, &daemon, &exit_code, &err);
	if (rc < 0 && daemon.answer_fd >= 0)
		answer(&daemon, ANSWER_ERROR, &err);
	_exit(exit_code);
}

static bool read_all(int fd, void *bytes, size_t len)
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

static int read_answer(int answer_fd, struct err *err)
{
	struct err told;
	char letter;

	if (!read_all(answer_fd, &letter, 1))
		return err_set(err, ERR_IO, "muster died in the background before it began");
	if (letter == ANSWER_STARTED)
		return 0;
	if (!read_all(answer_fd, &told, sizeof(told)))
		return err_set(err, ERR_IO, "muster died in the background");
	return err_set(err, (enum err_code) told.code, "%s", told.text);
}

static int run_detached(const struct supervisor_request *request, struct err *err)
{
	int answer_fds[2];

	if (pipe2(answer_fds, O_CLOEXEC) < 0)
		return err_set_errno(err, errno, "cannot make a pipe");
	pid_t pid = fork();
	if (pid == 0) {
		close(answer_fds[0]);
		be_daemon(request, answer_fds[1]);
	}
	close(answer_fds[1]);
	int rc = pid < 0 ? err_set_errno(err, errno, "cannot start a process in the background")
			 : read_answer(answer_fds[0], err);
	close(answer_fds[0]);
	if (pid > 0 && rc < 0)
		waitpid(pid, NULL, 0);
	return rc;
}

int supervisor_run(const struct supervisor_request *request, int *ret_exit_code, struct err *err)
{
	int rc = job_uid_set_new(request->job, err);

	if (rc < 0)
		return rc;
	if (!request->is_detached)
		return see_through(request, NULL, NULL, ret_exit_code, err);
	rc = run_detached(request, err);
	if (rc == 0)
		*ret_exit_code = 0;
	return rc;
}
