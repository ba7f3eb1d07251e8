/* Folders of our own state.
 *
 * Removal goes by open folders (openat, unlinkat) with O_NOFOLLOW: whatever a training script left
 * in its place, a link to elsewhere is never entered. */
#include "io/folder.h"

#include "base/mem.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int make_one(const char *path, struct err *err)
{
	if (mkdir(path, 0700) == 0 || errno == EEXIST)
		return 0;
	return err_set_errno(err, errno, "cannot make folder '%s'", path);
}

int folder_make(const char *path, struct err *err)
{
	struct stat state;

	if (stat(path, &state) == 0) {
		if (S_ISDIR(state.st_mode))
			return 0;
		return err_set_errno(err, ENOTDIR, "'%s' is in the way", path);
	}
	char *part CLEANUP(mem_free_text) = mem_copy_text(path);

	for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		int rc = make_one(part, err);
		if (rc < 0)
			return rc;
		*slash = '/';
	}
	return make_one(path, err);
}

static int remove_contents(DIR *folder, struct err *err)
{
	struct dirent *entry;

	while ((entry = readdir(folder))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		int rc = folder_remove(dirfd(folder), entry->d_name, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Empties the folder `name`; one that is gone already is empty. */
static int empty_folder(int parent_fd, const char *name, struct err *err)
{
	int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT ? 0
				       : err_set_errno(err, errno, "cannot open folder '%s'", name);
	DIR *folder = fdopendir(fd);
	if (!folder) {
		int rc = err_set_errno(err, errno, "cannot read folder '%s'", name);

		close(fd);
		return rc;
	}
	int rc = remove_contents(folder, err);
	closedir(folder);
	return rc;
}

int folder_remove(int parent_fd, const char *name, struct err *err)
{
	if (unlinkat(parent_fd, name, 0) == 0 || errno == ENOENT)
		return 0;
	/* Linux says EISDIR of a folder, POSIX and some file systems EPERM. */
	if (errno != EISDIR && errno != EPERM)
		return err_set_errno(err, errno, "cannot remove '%s'", name);
	int rc = empty_folder(parent_fd, name, err);
	if (rc < 0)
		return rc;
	if (unlinkat(parent_fd, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return 0;
	return err_set_errno(err, errno, "cannot remove folder '%s'", name);
}
