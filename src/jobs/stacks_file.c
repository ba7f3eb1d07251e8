#include "jobs/stacks_file.h"

#include "base/mem.h"
#include "io/file.h"
#include "io/folder.h"
#include "jobs/state_folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

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
