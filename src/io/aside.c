#include "io/aside.h"

#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int aside_open(struct aside *ret_aside, struct err *err)
{
	int fd = memfd_create("aside", MFD_CLOEXEC);

	if (fd < 0)
		return err_set_errno(err, errno, "cannot create a file in memory");
	*ret_aside = (struct aside){.memory_fd = fd, .error_fd = -1};
	return 0;
}

void aside_begin(struct aside *aside)
{
	aside->error_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (aside->error_fd >= 0)
		dup2(aside->memory_fd, STDERR_FILENO);
}

void aside_end(struct aside *aside)
{
	if (aside->error_fd >= 0)
		dup2(aside->error_fd, STDERR_FILENO);
	file_close(&aside->error_fd);
}

void aside_show(const struct aside *aside)
{
	char part[4096];
	size_t len;

	for (int64_t offset = 0;
	     (len = file_read_at(aside->memory_fd, part, sizeof(part), offset)) > 0;
	     offset += (int64_t) len)
		file_write_all(STDERR_FILENO, part, len, NULL);
}
