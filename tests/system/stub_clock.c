/* A library to preload, with which a test sets the wall clock of the programs that it starts: by
 * the seconds in the file STUB_CLOCK, which may change at any time. The real clock stays as it is.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *offset;

__attribute__((constructor)) static void open_offset(void)
{
	const char *path = getenv("STUB_CLOCK");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *page =
		fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(*offset), PROT_READ, MAP_SHARED, fd, 0);

	if (fd >= 0)
		close(fd);
	if (page != MAP_FAILED)
		offset = page;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
	int rc = (int) syscall(SYS_clock_gettime, clock, time);

	if (rc == 0 && offset && clock == CLOCK_REALTIME)
		time->tv_sec += *offset;
	return rc;
}

int gettimeofday(struct timeval *restrict ret_time, void *restrict zone)
{
	struct timespec now;

	(void) zone;
	clock_gettime(CLOCK_REALTIME, &now);
	*ret_time = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
	return 0;
}

time_t time(time_t *ret_time)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (ret_time)
		*ret_time = now.tv_sec;
	return now.tv_sec;
}
