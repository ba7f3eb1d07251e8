#include "io/stderr_capture.h"

#include "io/file.h"

#include <sys/mman.h>

int stderr_capture_open(struct stderr_capture *ret_capture, struct err *err)
{
	int fd = memfd_create("aside", MFD_CLOEXEC);

	if (fd < 0)
		return err_set_errno(err, errno, "cannot create a file in memory");
	*ret_capture = (struct stderr_capture){.memory_fd = fd, .error_fd = -1};
	return 0;
}

void stderr_capture_begin(struct stderr_capture *capture)
{
	capture->error_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (capture->error_fd >= 0)
		dup2(capture->memory_fd, STDERR_FILENO);
}

void stderr_capture_end(struct stderr_capture *capture)
{
	if (capture->error_fd >= 0)
		dup2(capture->error_fd, STDERR_FILENO);
	file_close(&capture->error_fd);
}

void stderr_capture_show(const struct stderr_capture *capture)
{
	char part[4096];
	size_t len;

	for (int64_t offset = 0;
	     (len = file_read_at(capture->memory_fd, part, sizeof(part), offset)) > 0;
	     offset += (int64_t) len)
		file_write_all(STDERR_FILENO, part, len, NULL);
}
