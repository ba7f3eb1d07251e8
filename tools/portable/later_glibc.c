#include "later_glibc.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

int close_range(unsigned int first, unsigned int last, int flags)
{
	return (int) syscall(436, first, last, flags);
}

/* glibc 2.32. */

const char *sigabbrev_np(int number);
const char *sigabbrev_np(int number)
{
	static const char *const names[] = {
		[SIGHUP] = "HUP",       [SIGINT] = "INT",       [SIGQUIT] = "QUIT",
		[SIGILL] = "ILL",       [SIGTRAP] = "TRAP",     [SIGABRT] = "ABRT",
		[SIGBUS] = "BUS",       [SIGFPE] = "FPE",       [SIGKILL] = "KILL",
		[SIGUSR1] = "USR1",     [SIGSEGV] = "SEGV",     [SIGUSR2] = "USR2",
		[SIGPIPE] = "PIPE",     [SIGALRM] = "ALRM",     [SIGTERM] = "TERM",
		[SIGSTKFLT] = "STKFLT", [SIGCHLD] = "CHLD",     [SIGCONT] = "CONT",
		[SIGSTOP] = "STOP",     [SIGTSTP] = "TSTP",     [SIGTTIN] = "TTIN",
		[SIGTTOU] = "TTOU",     [SIGURG] = "URG",       [SIGXCPU] = "XCPU",
		[SIGXFSZ] = "XFSZ",     [SIGVTALRM] = "VTALRM", [SIGPROF] = "PROF",
		[SIGWINCH] = "WINCH",   [SIGIO] = "POLL",       [SIGPWR] = "PWR",
		[SIGSYS] = "SYS",
	};

	return number > 0 && number < (int) (sizeof(names) / sizeof(*names)) ? names[number] : NULL;
}

const char *sigdescr_np(int number);
const char *sigdescr_np(int number)
{
	return strsignal(number);
}

/* glibc 2.36, for Debian 12's libevent. */

void arc4random_buf(void *bytes, size_t len);
void arc4random_buf(void *bytes, size_t len)
{
	for (size_t done = 0; done < len;) {
		ssize_t got = getrandom((char *) bytes + done, len - done, 0);

		if (got < 0)
			abort();
		done += (size_t) got;
	}
}

uint32_t arc4random(void);
uint32_t arc4random(void)
{
	uint32_t number;

	arc4random_buf(&number, sizeof(number));
	return number;
}
