#include "logs/folder_lock.h"

#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>

int log_folder_lock(const char *folder)
{
	int fd CLEANUP(file_close) = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || flock(fd, LOCK_SH | LOCK_NB) < 0)
		return -1;
	int taken = fd;

	fd = -1;
	return taken;
}

bool log_folder_is_locked(const char *folder)
{
	int fd CLEANUP(file_close) = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}
