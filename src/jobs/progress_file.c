#include "jobs/progress_file.h"

#include "base/text.h"
#include "io/file.h"
#include "spec/limits.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

int64_t progress_file_read(const char *path)
{
	/* Opening a FIFO would block. */
	int fd CLEANUP(file_close) = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat status;
	char number[32];
	int64_t step = 0;

	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
		return 0;
	number[file_read_at(fd, number, sizeof(number) - 1, 0)] = '\0';
	number[strcspn(number, " \t\r\n")] = '\0';
	return text_read_int(number, 1, LIMIT_STEP, &step, NULL) < 0 ? 0 : step;
}
