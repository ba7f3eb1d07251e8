#include "io/typed_lines.h"

#include "io/child.h"
#include "io/file.h"
#include "io/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <unistd.h>

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

static bool is_worth_another_try(void)
{
	return errno == EINTR || (errno == EIO && !terminal_is_in_foreground(STDIN_FILENO));
}

static void forward_typed_lines(void)
{
	char line[LONGEST_LINE];

	while (wait_for_line()) {
		ssize_t len = read(STDIN_FILENO, line, sizeof(line));

		if (len < 0 && is_worth_another_try())
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
