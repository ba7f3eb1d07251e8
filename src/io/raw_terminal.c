#include "io/raw_terminal.h"

#include "base/mem.h"
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

struct raw_terminal {
	pid_t pid; /* of the process that restores it */
	int fd; /* our end of a pipe; that process waits until it is closed */
};

/* In its own process group, so that a signal that kills ours does not kill it. A process that is
 * not in the foreground would be stopped for this, were its signals not blocked (POSIX, tcsetattr).
 * It holds no descriptor open that another process may wait for, and calls only functions that are
 * safe after a fork. */
static NORETURN void put_back_at_the_end(int terminal, int pipe_fd, const struct termios *before)
{
	sigset_t all;
	char byte;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setpgid(0, 0);
	dup2(terminal, STDIN_FILENO);
	dup2(pipe_fd, STDOUT_FILENO);
	close_range(STDERR_FILENO, ~0U, 0);
	while (read(STDOUT_FILENO, &byte, 1) < 0 && errno == EINTR)
		continue;
	tcsetattr(STDIN_FILENO, TCSADRAIN, before);
	_exit(EXIT_SUCCESS);
}

static int start_guard(int fd, const struct termios *before, struct raw_terminal *raw,
		       struct err *err)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_set_errno(err, errno, "cannot create a pipe");
	raw->pid = fork();
	if (raw->pid == 0) {
		file_close(&ends[1]);
		put_back_at_the_end(fd, ends[0], before);
	}
	file_close(&ends[0]);
	raw->fd = ends[1];
	return raw->pid < 0 ? err_set_errno(err, errno, "cannot start a process") : 0;
}

int raw_terminal_begin(int fd, struct raw_terminal **ret_raw, struct err *err)
{
	struct raw_terminal *raw = mem_new(sizeof(*raw));
	struct termios before, now;

	raw->fd = -1;
	int rc = tcgetattr(fd, &before) < 0
			 ? err_set_errno(err, errno, "cannot read the terminal settings")
			 : start_guard(fd, &before, raw, err);

	if (rc == 0) {
		now = before;
		cfmakeraw(&now);
		if (tcsetattr(fd, TCSADRAIN, &now) < 0)
			rc = err_set_errno(err, errno, "cannot change the terminal settings");
	}
	if (rc < 0) {
		raw_terminal_end(raw);
		return rc;
	}
	*ret_raw = raw;
	return 0;
}

void raw_terminal_end(struct raw_terminal *raw)
{
	if (!raw)
		return;
	file_close(&raw->fd);
	while (raw->pid > 0 && waitpid(raw->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	free(raw);
}
