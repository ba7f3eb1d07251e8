/* The running program. argv[0] is only the name that it was called by. */
#include "io/own_program.h"

#include "base/mem.h"
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define OWN_LINK "/proc/self/exe"
#define LARGEST ((size_t) 256 * 1024 * 1024)

char *own_program_path(void)
{
	char path[PATH_MAX];
	ssize_t len = readlink(OWN_LINK, path, sizeof(path) - 1);

	if (len > 0) {
		path[len] = '\0';
		if (access(path, X_OK) == 0)
			return mem_copy_text(path);
	}
	return mem_copy_text(OWN_LINK);
}

/* 0 or errno. Whatever the umask is, other users may execute it. */
static int write_program(const char *path, const char *bytes, size_t len)
{
	int fd CLEANUP(file_close) = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);

	if (fd < 0 || fchmod(fd, 0755) < 0)
		return errno;
	return file_write_all(fd, bytes, len, NULL);
}

int own_program_copy(const char *path, struct err *err)
{
	char *temporary CLEANUP(mem_free_text) = mem_format("%s.%d", path, (int) getpid());
	char *bytes CLEANUP(mem_free_text) = NULL;
	size_t len;
	int rc = file_read_whole(OWN_LINK, LARGEST, &bytes, &len, err);

	if (rc < 0)
		return rc;
	unlink(temporary); /* of an earlier process with our number */
	int failure = write_program(temporary, bytes, len);

	if (!failure && rename(temporary, path) == 0)
		return 0;
	failure = failure ? failure : errno;
	unlink(temporary);
	return err_set_errno(err, failure, "cannot copy this program to '%s'", path);
}
