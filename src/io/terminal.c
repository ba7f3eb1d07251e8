#include "io/terminal.h"

#include "base/mem.h"
#include "base/text.h"
#include "io/child.h"
#include "io/file.h"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>

bool terminal_understands_escapes(int fd)
{
	const char *kind = getenv("TERM");

	/* Jupyter gives the commands of a cell a terminal, and keeps every byte. */
	return isatty(fd) && kind && kind[0] && !text_equals(kind, "dumb") &&
	       !getenv("JPY_PARENT_PID");
}

bool terminal_wants_color(int fd, const char *when)
{
	const char *no_color = getenv("NO_COLOR");

	if (text_equals(when, "always"))
		return true;
	if (text_equals(when, "never") || (no_color && no_color[0]))
		return false;
	return terminal_understands_escapes(fd);
}

static pid_t kept_group; /* 0: that of this process */

void terminal_keep_group(void)
{
	kept_group = getpgrp();
}

bool terminal_is_in_foreground(int fd)
{
	pid_t foreground = tcgetpgrp(fd);

	return foreground < 0 || foreground == (kept_group ? kept_group : getpgrp());
}

struct terminal_size terminal_size(int fd)
{
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0)
		return (struct terminal_size){24, 80};
	return (struct terminal_size){size.ws_row, size.ws_col};
}

void terminal_set_size(int fd, struct terminal_size size)
{
	const struct winsize wanted = {.ws_row = (unsigned short) size.rows,
				       .ws_col = (unsigned short) size.columns};

	(void) !ioctl(fd, TIOCSWINSZ, &wanted);
}

int terminal_new_pair(struct terminal_size size, int *ret_ours, int *ret_its, struct err *err)
{
	struct termios mode;
	int ours CLEANUP(file_close) = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (ours < 0 || unlockpt(ours) < 0)
		return err_set_errno(err, errno, "cannot create a terminal");
	/* By its number: the file system of terminals may be another one here. */
	int its CLEANUP(file_close) = ioctl(ours, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (its < 0 || tcgetattr(its, &mode) < 0)
		return err_set_errno(err, errno, "cannot create a terminal");
	mode.c_oflag &= ~(tcflag_t) OPOST;
	mode.c_lflag &= ~(tcflag_t) ECHO;
	tcsetattr(its, TCSANOW, &mode);
	terminal_set_size(ours, size);
	*ret_ours = ours;
	*ret_its = its;
	ours = its = -1;
	return 0;
}

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

/* A line has at most 4095 bytes (termios(3)). */
#define LONGEST_LINE 4096
/* Milliseconds between checks of a terminal that another job of the shell reads. */
#define LOOK_AWAY 200

/* Waits until a line for us is available; false at the end of the terminal, or when the reader has
 * closed the pipe. */
static bool wait_for_line(void)
{
	struct pollfd ends[] = {{.fd = STDIN_FILENO, .events = POLLIN},
				{.fd = STDOUT_FILENO, .events = 0}};

	for (;;) {
		if (poll(ends, 2, -1) < 0 || (ends[1].revents & POLLERR))
			return false;
		if (terminal_is_in_foreground(STDIN_FILENO))
			return true;
		poll(&ends[1], 1, LOOK_AWAY);
	}
}

static void forward_typed_lines(void)
{
	char line[LONGEST_LINE];

	while (wait_for_line()) {
		ssize_t len = read(STDIN_FILENO, line, sizeof(line));

		if (len < 0 &&
		    (errno == EINTR || (errno == EIO && !terminal_is_in_foreground(STDIN_FILENO))))
			continue;
		if (len <= 0 || file_write_all(STDOUT_FILENO, line, (size_t) len, NULL))
			return;
	}
}

int typed_lines_open(int *ret_fd, struct err *err)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_set_errno(err, errno, "cannot create a pipe");
	pid_t pid = child_fork();

	if (pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		close_range(STDERR_FILENO, ~0U, 0);
		forward_typed_lines();
		_exit(0);
	}
	file_close(&ends[1]);
	if (pid < 0) {
		file_close(&ends[0]);
		return err_set_errno(err, errno, "cannot start a process");
	}
	*ret_fd = ends[0];
	return 0;
}
