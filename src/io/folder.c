/* Removal uses open directories (openat, unlinkat) with O_NOFOLLOW: it never follows a link that a
 * training script left in place of a directory. */
#include "io/folder.h"

#include "base/mem.h"
#include "io/file.h"

#include <fts.h>
#include <limits.h>
#include <stdalign.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>

/* For this user alone. */
static int make_one(const char *path, struct err *err)
{
	if (mkdir(path, 0700) == 0 || errno == EEXIST)
		return 0;
	return err_set_errno(err, errno, "cannot create directory '%s'", path);
}

int folder_create(const char *path, struct err *err)
{
	struct stat state;

	if (stat(path, &state) == 0) {
		if (S_ISDIR(state.st_mode))
			return 0;
		return err_set(err, ERR_IO, "'%s' is not a directory", path);
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

/* Some file systems give all of a user's files to another user: NFS gives root's to nobody, others
 * give them to the user who mounted them. Then the directory's owner is the owner of new files
 * too. */
static bool gives_files_to(int folder, uid_t owner)
{
	char *probe CLEANUP(mem_free_text) = mem_format("/proc/self/fd/%d/owner-XXXXXX", folder);
	int fd CLEANUP(file_close) = mkostemp(probe, O_CLOEXEC);
	struct stat status = {0};

	if (fd < 0)
		return false;
	unlink(probe);
	return fstat(fd, &status) == 0 && status.st_uid == owner;
}

/* The kernel's overflowuid stands for each user that a user namespace lacks. */
#define UNKNOWN_USER 65534
#define ALL_USERS "4294967295" /* the length of a map of all of them */

static bool may_be_root(uid_t owner)
{
	char *map CLEANUP(mem_free_text) =
		owner == UNKNOWN_USER ? file_read_text("/proc/self/uid_map") : NULL;

	return owner == 0 || (map && !strstr(map, ALL_USERS));
}

/* Of what is in the open directory, or of that itself. */
static bool is_trusted(uid_t owner, int folder)
{
	return owner == geteuid() || may_be_root(owner) || gives_files_to(folder, owner);
}

/* A path that is followed part by part, so that each link is seen. */
struct walk {
	const char *path; /* the whole one */
	const char *advice; /* that of folder_check_own; NULL: only the links are checked */
	bool creates; /* what is missing, for all users */
	char *rest;
	int fd; /* of the directory that was reached */
	int n_links;
};

#define MOST_LINKS 40 /* as the kernel */

static char *name_of_open(int fd)
{
	char *link CLEANUP(mem_free_text) = mem_format("/proc/self/fd/%d", fd);
	char name[PATH_MAX];
	ssize_t len = readlink(link, name, sizeof(name));

	return mem_copy_bytes(name, len < 0 ? 0 : (size_t) len);
}

/* Who may write to a directory may rename what is in it; in a sticky one only its owner may. */
static int check_passed(const struct walk *walk, struct err *err)
{
	struct stat status = {0};

	if (!walk->advice || fstat(walk->fd, &status) < 0)
		return 0;
	bool is_open = (status.st_mode & S_IWOTH) && !(status.st_mode & S_ISVTX);
	char *name CLEANUP(mem_free_text) = name_of_open(walk->fd);

	if (is_open)
		return err_set(err, ERR_REFUSED,
			       "'%s' is writable by other users (mode %03o), who could replace "
			       "what is in it; chmod o-w it, or %s",
			       name, status.st_mode & 0777, walk->advice);
	if (is_trusted(status.st_uid, walk->fd))
		return 0;
	return err_set(err, ERR_REFUSED,
		       "'%s' belongs to user %u, but muster runs as user %u, so another user could "
		       "replace what is in it; %s",
		       name, status.st_uid, geteuid(), walk->advice);
}

static int fail_walk(const struct walk *walk, struct err *err)
{
	if (errno == ENOENT || errno == ENOTDIR)
		return err_set(err, ERR_NOT_FOUND, "directory '%s' not found", walk->path);
	return err_set_errno(err, errno, "cannot see '%s'", walk->path);
}

static int follow_link(struct walk *walk, int link, uid_t owner, const char *behind,
		       struct err *err)
{
	char target[PATH_MAX] = "";

	if (!is_trusted(owner, walk->fd)) {
		char *name CLEANUP(mem_free_text) = name_of_open(link);

		return err_set(err, ERR_REFUSED,
			       "'%s' is a link of user %u, who could change where it leads%s%s",
			       name, owner, walk->advice ? "; " : "",
			       walk->advice ? walk->advice : "");
	}
	if (++walk->n_links > MOST_LINKS)
		errno = ELOOP;
	else if (readlinkat(link, "", target, sizeof(target) - 1) > 0)
		errno = 0;
	if (errno)
		return fail_walk(walk, err);
	char *rest = mem_format("%s/%s", target, behind);

	free(walk->rest);
	walk->rest = rest;
	if (*target == '/') {
		close(walk->fd);
		walk->fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	}
	return walk->fd < 0 ? fail_walk(walk, err) : 0;
}

/* Takes the first part of the rest. */
static int take_part(struct walk *walk, const char *part, struct err *err)
{
	size_t len = strcspn(part, "/");
	char *name CLEANUP(mem_free_text) = mem_copy_bytes(part, len);
	int rc = check_passed(walk, err);
	struct stat status;

	if (rc < 0)
		return rc;
	int failure = walk->creates && mkdirat(walk->fd, name, 0777) < 0 ? errno : 0;
	int fd CLEANUP(file_close) = openat(walk->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 && failure)
		return err_set_errno(err, failure, "cannot create directory '%s'", walk->path);
	if (fd < 0 || fstat(fd, &status) < 0)
		return fail_walk(walk, err);
	if (S_ISLNK(status.st_mode))
		return follow_link(walk, fd, status.st_uid, part + len, err);
	close(walk->fd);
	walk->fd = fd;
	fd = -1;
	memmove(walk->rest, part + len, strlen(part + len) + 1);
	return 0;
}

static int follow_path(struct walk *walk, int *ret_fd, struct err *err)
{
	char *start CLEANUP(mem_free_text) = *walk->path == '/' ? NULL : realpath(".", NULL);
	const char *part;
	int rc = 0;

	walk->rest = start ? mem_format("%s/%s", start, walk->path) : mem_copy_text(walk->path);
	walk->fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	while (rc == 0 && *(part = walk->rest + strspn(walk->rest, "/")))
		rc = take_part(walk, part, err);
	free(walk->rest);
	if (rc == 0)
		*ret_fd = walk->fd;
	else
		file_close(&walk->fd);
	return rc;
}

/* Nothing is created behind a link of another user either. */
int folder_open_shared(const char *path, int *ret_fd, struct err *err)
{
	struct walk walk = {.path = path, .creates = !folder_exists(path)};
	int fd CLEANUP(file_close) = -1;
	int rc = follow_path(&walk, &fd, err);
	struct stat status;

	if (rc < 0)
		return rc;
	if (fstat(fd, &status) < 0 || !S_ISDIR(status.st_mode))
		return err_set(err, ERR_IO, "'%s' is not a directory", path);
	*ret_fd = fd;
	fd = -1;
	return 0;
}

int folder_check_lasting(int fd, const char *path, struct err *err)
{
	const struct walk walk = {
		.path = path, .advice = "choose a directory of your own", .fd = fd};

	return check_passed(&walk, err);
}

/* Kubernetes sets it in each container. */
static bool is_in_pod(void)
{
	return getenv("KUBERNETES_SERVICE_HOST");
}

bool folder_exists(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

void folder_close(DIR **folder)
{
	if (*folder)
		closedir(*folder);
}

int folder_check_own(const char *path, const char *advice, struct err *err)
{
	struct walk walk = {.path = path, .advice = advice};
	int fd CLEANUP(file_close) = -1;
	int rc = is_in_pod() ? 0 : follow_path(&walk, &fd, err);
	struct stat status;

	if (rc < 0 && rc != ERR_NOT_FOUND)
		return rc;
	if (stat(path, &status) < 0)
		return errno == ENOENT ? 0 : err_set_errno(err, errno, "cannot see '%s'", path);
	if (status.st_mode & (S_IWGRP | S_IWOTH))
		return err_set(err, ERR_REFUSED,
			       "'%s' is writable by other users (mode %03o), who could change its "
			       "contents; chmod go-w it, or %s",
			       path, status.st_mode & 0777, advice);
	if (is_in_pod())
		fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (is_trusted(status.st_uid, fd))
		return 0;
	return err_set(
		err, ERR_REFUSED,
		"'%s' belongs to user %u, but muster runs as user %u, so another user could change "
		"its contents; chown it, or %s",
		path, status.st_uid, geteuid(), advice);
}

static bool is_entry(const struct dirent *entry)
{
	return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* Empties the directory `name`, which is no link; a missing one counts as empty. */
static int empty_folder(int parent_fd, const char *name, struct err *err)
{
	int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *folder CLEANUP(folder_close) = fd < 0 ? NULL : fdopendir(fd);
	int rc = 0;

	if (!folder && errno != ENOENT)
		rc = err_set_errno(err, errno, "cannot open directory '%s'", name);
	if (fd >= 0 && !folder)
		close(fd);
	for (struct dirent *entry; folder && rc == 0 && (entry = readdir(folder));)
		if (is_entry(entry))
			rc = folder_remove(fd, entry->d_name, err);
	return rc;
}

int folder_remove(int parent_fd, const char *name, struct err *err)
{
	if (unlinkat(parent_fd, name, 0) == 0 || errno == ENOENT)
		return 0;
	/* Linux returns EISDIR for a directory, POSIX and some file systems EPERM. */
	if (errno != EISDIR && errno != EPERM)
		return err_set_errno(err, errno, "cannot remove '%s'", name);
	int rc = empty_folder(parent_fd, name, err);
	if (rc < 0)
		return rc;
	if (unlinkat(parent_fd, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return 0;
	return err_set_errno(err, errno, "cannot delete directory '%s'", name);
}

int folder_move_contents(const char *source, const char *target, struct err *err)
{
	DIR *folder CLEANUP(folder_close) = opendir(source);
	int rc = 0;

	if (!folder)
		return err_set_errno(err, errno, "cannot read directory '%s'", source);
	for (struct dirent *entry; rc == 0 && (entry = readdir(folder));) {
		if (!is_entry(entry))
			continue;
		char *from CLEANUP(mem_free_text) = mem_format("%s/%s", source, entry->d_name);
		char *to CLEANUP(mem_free_text) = mem_format("%s/%s", target, entry->d_name);

		rc = folder_move(from, to, err);
	}
	if (rc == 0 && rmdir(source) < 0)
		return err_set_errno(err, errno, "cannot delete directory '%s'", source);
	return rc;
}

int folder_move(const char *source, const char *target, struct err *err)
{
	if (rename(source, target) == 0)
		return 0;
	switch (errno) {
	case ENOTEMPTY:
	case EEXIST:
		return folder_move_contents(source, target, err);
	case ENOTDIR:
		return err_set(err, ERR_EXISTS, "'%s' already exists and is not a directory",
			       target);
	case EISDIR:
		return err_set(err, ERR_EXISTS, "'%s' already exists and is a directory", target);
	default:
		return err_set_errno(err, errno, "cannot rename the new copy to '%s'", target);
	}
}

void folder_measure(const char *path, uint64_t *n_files, uint64_t *bytes)
{
	char *roots[] = {(char *) path, NULL};
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);

	for (const FTSENT *found; walk && (found = fts_read(walk));)
		if (found->fts_info == FTS_F || found->fts_info == FTS_SL ||
		    found->fts_info == FTS_DEFAULT) {
			*n_files += 1;
			*bytes += (uint64_t) found->fts_statp->st_size;
		}
	if (walk)
		fts_close(walk);
}

struct folder_watch {
	int fd;
	struct loop_watch *readable;
	folder_watch_fn fn;
	void *data;
};

static void on_folder_watch_readable(void *data)
{
	struct folder_watch *watch = data;
	alignas(struct inotify_event) char events[8192];
	ssize_t len = read(watch->fd, events, sizeof(events));

	for (ssize_t at = 0; at < len;) {
		const struct inotify_event *event = (const void *) (events + at);

		const char *name = event->len > 0 ? event->name : NULL;

		/* The last event is reported last; an overflow may hide everything except the
		 * end. */
		if (event->mask & (IN_DELETE_SELF | IN_IGNORED))
			watch->fn(FOLDER_GONE, NULL, watch->data);
		else if (event->mask & (IN_CLOSE_WRITE | IN_Q_OVERFLOW))
			watch->fn(FOLDER_FILE_CLOSED, name, watch->data);
		else
			watch->fn(FOLDER_CHANGED, name, watch->data);
		at += (ssize_t) (sizeof(*event) + event->len);
	}
}

static int watch_path(int fd, const char *path, struct err *err)
{
	const uint32_t events =
		IN_MODIFY | IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE_SELF | IN_ONLYDIR;

	if (inotify_add_watch(fd, path, events) >= 0)
		return 0;
	if (errno == ENOENT)
		return err_set(err, ERR_NOT_FOUND, "directory '%s' not found", path);
	if (errno == ENOSPC)
		return err_set(
			err, ERR_LIMIT,
			"too many directories are watched (sysctl fs.inotify.max_user_watches)");
	return err_set_errno(err, errno, "cannot watch directory '%s'", path);
}

int folder_watch_new(struct loop *loop, const char *path, folder_watch_fn fn, void *data,
		     struct folder_watch **ret_watch, struct err *err)
{
	int fd CLEANUP(file_close) = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	if (fd < 0 && errno == EMFILE)
		return err_set(err, ERR_LIMIT,
			       "too many programs watch directories (sysctl "
			       "fs.inotify.max_user_instances)");
	if (fd < 0)
		return err_set_errno(err, errno, "cannot watch directories");
	int rc = watch_path(fd, path, err);

	if (rc)
		return rc;
	struct folder_watch *watch = mem_new(sizeof(*watch));

	*watch = (struct folder_watch){.fd = fd, .fn = fn, .data = data};
	watch->readable = loop_watch_readable(loop, fd, on_folder_watch_readable, watch);
	fd = -1;
	*ret_watch = watch;
	return 0;
}

void folder_watch_free(struct folder_watch *watch)
{
	if (!watch)
		return;
	loop_watch_free(watch->readable);
	file_close(&watch->fd);
	mem_free_any(&watch);
}
