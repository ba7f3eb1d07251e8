#include "jobs/process_files.h"

#include "base/mem.h"
#include "base/text.h"
#include "io/file.h"
#include "io/folder.h"
#include "jobs/state_folder.h"
#include "spec/limits.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* faulthandler writes up to 100 threads of 100 frames. */
#define READ_LIMIT ((size_t) 4 * 1024 * 1024)

char *stacks_file_path(const char *job_folder, const char *role, int index, int attempt)
{
	return mem_format("%s/%s-%d.%d.stacks", job_folder, role, index, attempt);
}

char *stacks_file_text(const char *path)
{
	char *bytes = NULL;
	size_t len;

	return file_read_regular(path, READ_LIMIT, &bytes, &len, NULL) == 0 ? bytes : NULL;
}

int stacks_hook_install(const char *state_folder, char **ret_folder, struct err *err)
{
	char *programs CLEANUP(mem_free_text) = state_folder_programs(state_folder);
	char *folder CLEANUP(mem_free_text) = mem_format("%s/stacks", programs);
	char *path CLEANUP(mem_free_text) = mem_format("%s/sitecustomize.py", folder);

	/* Python would read two directories, of which another user could create one. */
	if (strchr(folder, ':'))
		return err_set(err, ERR_INVALID, "'%s' has a colon, which separates directories",
			       folder);
	int rc = folder_create(folder, err);

	if (rc == 0)
		rc = file_ensure(path, stacks_hook, stacks_hook_size, err);
	if (rc == 0)
		*ret_folder = TAKE(folder);
	return rc;
}

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
