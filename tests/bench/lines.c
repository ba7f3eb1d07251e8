/* A talkative worker of the benchmarks: prints numbered lines of one length.
 *
 *     lines FILE COUNT LENGTH [PER_SECOND|each]
 *
 * Each line is "PID NUMBER xxxx…" and LENGTH bytes long, its line feed included; as fast as it can,
 * in blocks or each by a write of its own, or PER_SECOND lines in each second. At the end it
 * appends "cpu PID NANOSECONDS" to FILE, the time it took of the processor itself, which is not to
 * be laid at the launcher's door. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define NANOSECONDS 1000000000LL
#define LONGEST_LINE 4096
#define PORTIONS_PER_SECOND 100

static long long cpu_time(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * NANOSECONDS +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

static int note_cpu_time(const char *path)
{
	char line[100];
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	int len = snprintf(line, sizeof(line), "cpu %ld %lld\n", (long) getpid(), cpu_time());

	return fd < 0 || write(fd, line, (size_t) len) != len;
}

/* Seven digits into a line that is there already: formatting each line anew would cost the worker
 * more than the launcher spends on it. */
static void put_number(char *digits, long number)
{
	for (int i = 6; i >= 0; i--, number /= 10)
		digits[i] = (char) ('0' + number % 10);
}

static void print_lines(long from, long to, int length)
{
	static char line[LONGEST_LINE];
	int head = snprintf(line, sizeof(line), "%ld 0000000 ", (long) getpid());

	memset(line + head, 'x', (size_t) (length - 1 - head));
	line[length - 1] = '\n';
	for (long number = from; number < to; number++) {
		put_number(line + head - 8, number);
		fwrite(line, 1, (size_t) length, stdout);
	}
}

/* The moments are counted from the first one, so that a late portion is made up for. */
static void print_paced(long count, int length, long per_second)
{
	long portion = per_second / PORTIONS_PER_SECOND;
	struct timespec due;

	clock_gettime(CLOCK_MONOTONIC, &due);
	for (long from = 0; from < count; from += portion) {
		print_lines(from, from + portion < count ? from + portion : count, length);
		fflush(stdout);
		due.tv_nsec += NANOSECONDS / PORTIONS_PER_SECOND;
		due.tv_sec += due.tv_nsec / NANOSECONDS;
		due.tv_nsec %= NANOSECONDS;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
	}
}

int main(int argc, char **argv)
{
	static char buffer[1 << 16];

	int length = argc < 4 ? 0 : atoi(argv[3]);

	if (length < 32 || length > LONGEST_LINE) {
		fprintf(stderr,
			"use: lines FILE COUNT LENGTH [PER_SECOND|each], LENGTH 32 to 4096\n");
		return 2;
	}
	bool writes_each = argc > 4 && strcmp(argv[4], "each") == 0;

	setvbuf(stdout, buffer, writes_each ? _IOLBF : _IOFBF, sizeof(buffer));
	if (argc > 4 && !writes_each)
		print_paced(atol(argv[2]), length, atol(argv[4]));
	else
		print_lines(0, atol(argv[2]), length);
	fflush(stdout);
	return note_cpu_time(argv[1]);
}
