#include "io/file.h"

#include "base/mem.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#define FIRST_READ_SIZE 16384
#define TEXT_LIMIT 65536

void file_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void file_keep_standard_numbers(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

void file_close_inherited(void)
{
	DIR *folder = opendir("/proc/self/fd");

	if (!folder)
		return;
	for (struct dirent *entry; (entry = readdir(folder));) {
		int fd = atoi(entry->d_name);

		if (fd > STDERR_FILENO && (fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0)
			close(fd);
	}
	closedir(folder);
}

int file_write_all(int fd, const void *bytes, size_t len, size_t *ret_written)
{
	size_t written = 0;
	int failure = 0;

	while (written < len && failure == 0) {
		ssize_t n = write(fd, (const char *) bytes + written, len - written);

		if (n > 0)
			written += (size_t) n;
		else if (n == 0)
			failure = ENOSPC;
		else if (errno != EINTR)
			failure = errno;
	}
	if (ret_written)
		*ret_written = written;
	return failure;
}

size_t file_read_at(int fd, void *bytes, size_t len, int64_t offset)
{
	size_t got = 0;

	while (got < len) {
		ssize_t n = pread(fd, (char *) bytes + got, len - got, offset + (int64_t) got);

		if (n > 0)
			got += (size_t) n;
		else if (n == 0 || errno != EINTR)
			break;
	}
	return got;
}

bool file_is_program(const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISREG(status.st_mode) && !access(path, X_OK);
}

char *file_folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return mem_copy_text(".");
	return slash == path ? mem_copy_text("/") : mem_copy_bytes(path, (size_t) (slash - path));
}

int file_open_regular(const char *path, int flags)
{
	int fd = open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
	struct stat found;

	if (fd < 0 || (fstat(fd, &found) == 0 && S_ISREG(found.st_mode)))
		return fd;
	close(fd);
	errno = ENXIO; /* as for a FIFO without a reader */
	return -1;
}

/* Reads to the end of the file, growing `*bytes`; one byte more than `limit` is enough to know that
 * it is too large. */
static int read_to_end(int fd, size_t limit, char **bytes, size_t *ret_len)
{
	size_t capacity = FIRST_READ_SIZE;
	size_t len = 0;

	*bytes = mem_resize(*bytes, capacity + 1, 1);
	while (len <= limit) {
		ssize_t n = read(fd, *bytes + len, capacity - len);

		if (n == 0)
			break;
		if (n < 0 && errno != EINTR)
			return errno;
		if (n > 0)
			len += (size_t) n;
		if (len == capacity) {
			capacity *= 2;
			*bytes = mem_resize(*bytes, capacity + 1, 1);
		}
	}
	(*bytes)[len] = '\0';
	*ret_len = len;
	return 0;
}

/* `take_fd` is the result of open. */
static int read_opened(int take_fd, const char *path, size_t limit, char **ret_bytes,
		       size_t *ret_len, struct err *err)
{
	int fd CLEANUP(file_close) = take_fd;

	if (fd < 0 && errno == ENOENT)
		return err_set(err, ERR_NOT_FOUND, "file '%s' not found", path);
	if (fd < 0)
		return err_set_errno(err, errno, "cannot open '%s'", path);

	char *bytes CLEANUP(mem_free_text) = NULL;
	size_t len = 0;
	int failure = read_to_end(fd, limit, &bytes, &len);

	if (failure)
		return err_set_errno(err, failure, "cannot read '%s'", path);
	if (len > limit)
		return err_set(err, ERR_LIMIT, "'%s' is larger than %zu bytes", path, limit);
	*ret_bytes = TAKE(bytes);
	*ret_len = len;
	return 0;
}

int file_read_whole(const char *path, size_t limit, char **ret_bytes, size_t *ret_len,
		    struct err *err)
{
	return read_opened(open(path, O_RDONLY | O_CLOEXEC), path, limit, ret_bytes, ret_len, err);
}

int file_read_regular(const char *path, size_t limit, char **ret_bytes, size_t *ret_len,
		      struct err *err)
{
	return read_opened(file_open_regular(path, O_RDONLY), path, limit, ret_bytes, ret_len, err);
}

char *file_read_text(const char *path)
{
	char *text = NULL;
	size_t len;

	return file_read_whole(path, TEXT_LIMIT, &text, &len, NULL) < 0 ? NULL : text;
}

bool file_write_text(const char *path, const char *text)
{
	int fd CLEANUP(file_close) = open(path, O_WRONLY | O_CLOEXEC);

	return fd >= 0 && file_write_all(fd, text, strlen(text), NULL) == 0;
}

bool file_is_in(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	while (len && folder[len - 1] == '/')
		len--;
	return strncmp(path, folder, len) == 0 && (path[len] == '/' || path[len] == '\0');
}

typedef int (*move_fn)(const char *from, const char *to);

static int write_and_move(const char *path, const void *bytes, size_t len, move_fn move,
			  struct err *err)
{
	char *new_path CLEANUP(mem_free_text) = mem_format("%s.XXXXXX", path);
	int fd CLEANUP(file_close) = mkostemp(new_path, O_CLOEXEC);

	if (fd < 0)
		return err_set_errno(err, errno, "cannot create a file next to '%s'", path);
	int failure = file_write_all(fd, bytes, len, NULL);

	if (failure == 0 && (fsync(fd) || move(new_path, path)))
		failure = errno;
	if (failure == 0)
		return 0;
	unlink(new_path);
	if (failure == EEXIST)
		return err_set(err, ERR_EXISTS, "'%s' already exists", path);
	return err_set_errno(err, failure, "cannot write '%s'", path);
}

int file_replace(const char *path, const void *bytes, size_t len, struct err *err)
{
	return write_and_move(path, bytes, len, rename, err);
}

/* Some file systems have no links: then a file that is created at the same time is replaced. */
static int move_to_free_name(const char *from, const char *to)
{
	struct stat found;

	if (link(from, to) == 0)
		return unlink(from);
	if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS)
		return -1;
	if (lstat(to, &found) < 0)
		return rename(from, to);
	errno = EEXIST;
	return -1;
}

int file_create(const char *path, const void *bytes, size_t len, struct err *err)
{
	return write_and_move(path, bytes, len, move_to_free_name, err);
}

bool file_is_mounted_by_root(const char *path)
{
	struct statvfs system;
	struct stat file;

	return stat(path, &file) == 0 && file.st_uid == 0 && statvfs(path, &system) == 0 &&
	       (system.f_flag & ST_RDONLY);
}

mode_t file_mode_if_shared(const char *path)
{
	struct stat file;

	if (stat(path, &file) < 0 || !S_ISREG(file.st_mode) || file_is_mounted_by_root(path))
		return 0;
	mode_t others = file.st_uid == geteuid() ? S_IRWXG | S_IRWXO : S_IRWXO;

	return file.st_mode & others ? file.st_mode & 0777 : 0;
}

int file_ensure(const char *path, const void *bytes, size_t len, struct err *err)
{
	char *found CLEANUP(mem_free_text) = NULL;
	size_t found_len = 0;
	int rc = file_read_regular(path, len, &found, &found_len, NULL);

	if (rc == 0 && found && found_len == len && memcmp(found, bytes, len) == 0)
		return 0;
	return file_replace(path, bytes, len, err);
}

#define BESIDES_CONNECTIONS 32

int descriptor_limit_raise(size_t n_needed, rlim_t *ret_before, struct err *err)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return err_set_errno(err, errno, "cannot read the limit on open files");
	if (limit.rlim_max < n_needed)
		return err_set(err, ERR_LIMIT,
			       "muster needs up to %zu open files, but the limit is %" PRIuMAX
			       " (ulimit -Hn)",
			       n_needed, (uintmax_t) limit.rlim_max);
	*ret_before = limit.rlim_cur;
	descriptor_limit_set(limit.rlim_max);
	return 0;
}

size_t descriptor_limit_connections(size_t wanted)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= wanted + BESIDES_CONNECTIONS)
		return wanted;
	return limit.rlim_cur > BESIDES_CONNECTIONS ? limit.rlim_cur - BESIDES_CONNECTIONS : 1;
}

void descriptor_limit_set(rlim_t soft)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = soft;
	setrlimit(RLIMIT_NOFILE, &limit);
}
