/* A worker of the benchmarks: notes when it began, and becomes another program.
 *
 *     stamp FILE WORD [PROGRAM ARGS…]
 *
 * Appends one line "WORD PID NANOSECONDS" (of the clock that never jumps) to FILE with one write,
 * so that many may share the file, and then executes PROGRAM, or ends with 0 where there is none.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void die(const char *what)
{
	perror(what);
	exit(1);
}

int main(int argc, char **argv)
{
	struct timespec now;
	char line[200];

	if (argc < 3) {
		fprintf(stderr, "use: stamp FILE WORD [PROGRAM ARGS…]\n");
		return 2;
	}
	clock_gettime(CLOCK_MONOTONIC, &now);
	int len = snprintf(line, sizeof(line), "%.100s %ld %lld\n", argv[2], (long) getpid(),
			   (long long) now.tv_sec * 1000000000 + now.tv_nsec);
	int fd = open(argv[1], O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, line, (size_t) len) != len)
		die(argv[1]);
	if (argc > 3) {
		execvp(argv[3], argv + 3);
		die(argv[3]);
	}
	return 0;
}
