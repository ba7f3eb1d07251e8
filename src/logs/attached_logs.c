#include "logs/attached_logs.h"

#include "base/mem.h"
#include "io/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int attached_logs_create(const char *job_folder, char **ret_folder, struct err *err)
{
	char *folder CLEANUP(mem_free_text) =
		mem_format("%s/attached-%d", job_folder, (int) getpid());
	int rc = folder_create(folder, err);

	if (rc < 0)
		return rc;
	*ret_folder = TAKE(folder);
	return 0;
}

/* A file that cannot be moved stays where it is: the earlier logs are as good. */
static void move_files(int job_fd, int fd)
{
	DIR *list = fdopendir(dup(fd));

	if (!list)
		return;
	for (const struct dirent *entry; (entry = readdir(list));)
		if (entry->d_name[0] != '.')
			renameat(fd, entry->d_name, job_fd, entry->d_name);
	closedir(list);
}

void attached_logs_end(const char *job_folder, const char *folder, bool is_kept)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	int job_fd = open(job_folder, flags);
	int fd = open(folder, flags);

	if (is_kept && job_fd >= 0 && fd >= 0)
		move_files(job_fd, fd);
	if (fd >= 0)
		close(fd);
	if (job_fd < 0)
		return;
	int ignored = folder_remove(job_fd, strrchr(folder, '/') + 1, NULL);

	(void) ignored;
	close(job_fd);
}
