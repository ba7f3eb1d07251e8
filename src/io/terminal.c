#include "io/terminal.h"

#include "base/text.h"

#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool terminal_understands_escapes(int fd)
{
	const char *kind = getenv("TERM");

	return isatty(fd) && kind && kind[0] && !text_equals(kind, "dumb");
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
