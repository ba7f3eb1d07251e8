#include "logs/folder.h"

#include "base/mem.h"
#include "io/file.h"
#include "io/folder.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/file.h>

int log_folder_lock(const char *folder)
{
	int fd CLEANUP(file_close) = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || flock(fd, LOCK_SH | LOCK_NB) < 0)
		return -1;
	int taken = fd;

	fd = -1;
	return taken;
}

bool log_folder_is_locked(const char *folder)
{
	int fd CLEANUP(file_close) = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

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

void attached_logs_end(const char *job_folder, const char *folder, bool is_kept)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
	int job_fd CLEANUP(file_close) = open(job_folder, flags);
	int fd CLEANUP(file_close) = open(folder, flags);

	DIR *list CLEANUP(folder_close) =
		is_kept && job_fd >= 0 && fd >= 0 ? fdopendir(dup(fd)) : NULL;

	/* A file that cannot be moved stays where it is: the earlier logs are as good. */
	for (const struct dirent *entry; list && (entry = readdir(list));)
		if (entry->d_name[0] != '.')
			renameat(fd, entry->d_name, job_fd, entry->d_name);
	if (job_fd >= 0)
		(void) !folder_remove(job_fd, strrchr(folder, '/') + 1, NULL);
}

/* Time stamps of files have the resolution of the kernel's tick, 1 to 10 ms. A directory that is
 * read within this time of its last change may change again and keep its stamp (what git calls
 * racy). They come from the coarse clock, which stops for longer when a virtual machine has to
 * wait. */
#define GRAIN_NSEC 20000000

void log_folder_init(struct log_folder *folder, const char *path)
{
	*folder = (struct log_folder){.path = mem_copy_text(path)};
}

void log_folder_done(struct log_folder *folder)
{
	mem_free_text(&folder->path);
	mem_free_any(&folder->names);
	*folder = (struct log_folder){0};
}

static int compare_names(const void *a, const void *b)
{
	return log_name_compare(a, b);
}

static int read_names(struct log_folder *folder, struct err *err)
{
	DIR *entries CLEANUP(folder_close) = opendir(folder->path);
	struct dirent *entry;
	size_t kept = 0;

	if (!entries)
		return err_set_errno(err, errno, "cannot read log directory '%s'", folder->path);
	folder->count = 0;
	while ((entry = readdir(entries))) {
		mem_grow(&folder->names, &folder->capacity, folder->count, sizeof(*folder->names));
		if (log_name_read(entry->d_name, &folder->names[folder->count]))
			folder->count++;
	}
	if (folder->count > 0)
		qsort(folder->names, folder->count, sizeof(*folder->names), compare_names);
	/* A log and its older part have the same name. */
	for (size_t i = 0; i < folder->count; i++)
		if (kept == 0 || log_name_compare(&folder->names[kept - 1], &folder->names[i]) != 0)
			folder->names[kept++] = folder->names[i];
	folder->count = kept;
	return 0;
}

static int64_t nsec_of(struct timespec time)
{
	return (int64_t) time.tv_sec * 1000000000 + time.tv_nsec;
}

int log_folder_read(struct log_folder *folder, bool *ret_is_changed, struct err *err)
{
	struct timespec now;
	struct stat found;

	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	if (stat(folder->path, &found) != 0)
		return errno == ENOENT ? err_set(err, ERR_NOT_FOUND, "log directory '%s' not found",
						 folder->path)
				       : err_set_errno(err, errno, "cannot read log directory '%s'",
						       folder->path);
	int64_t changed = nsec_of(found.st_mtim);

	*ret_is_changed = !folder->is_stable || folder->changed != changed;
	if (!*ret_is_changed)
		return 0;
	folder->changed = changed;
	folder->is_stable = nsec_of(now) - changed > GRAIN_NSEC;
	return read_names(folder, err);
}

const struct log_name *log_folder_next_attempt(const struct log_folder *folder,
					       const struct log_name *name)
{
	size_t low = 0;
	size_t high = folder->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (log_name_compare(&folder->names[middle], name) > 0)
			high = middle;
		else
			low = middle + 1;
	}
	bool is_found = low < folder->count && log_name_same_stream(&folder->names[low], name);

	return is_found ? &folder->names[low] : NULL;
}

void log_folder_describe_replicas(const struct log_folder *folder, struct text *text)
{
	for (size_t first = 0; first < folder->count;) {
		const struct log_name *begin = &folder->names[first], *end = begin;

		/* The indexes without gaps in one role. */
		while (++first < folder->count && strcmp(end[1].role, begin->role) == 0 &&
		       end[1].index <= end->index + 1)
			end++;
		text_addf(text, "%s%s-%d", text->len ? ", " : "", begin->role, begin->index);
		if (end->index > begin->index)
			text_addf(text, "..%d", end->index);
	}
}

#define STDERR_PART ".stderr"

static const char *const endings[LOG_FILE_COUNT] = {
	[LOG_FILE_TEXT] = "log",
	[LOG_FILE_INDEX] = "index",
	[LOG_FILE_OLD_TEXT] = "log.1",
	[LOG_FILE_OLD_INDEX] = "index.1",
};

int log_name_make(const char *role, int index, int attempt, struct log_name *ret_name,
		  struct err *err)
{
	struct log_name name = {.index = index, .attempt = attempt};

	if (strlen(role) >= sizeof(name.role))
		return err_set(err, ERR_LIMIT, "role '%s' is longer than %d characters", role,
			       LOG_ROLE_SIZE - 1);
	memcpy(name.role, role, strlen(role));
	*ret_name = name;
	return 0;
}

char *log_name_path(const char *folder, const struct log_name *name, enum log_file file)
{
	return mem_format("%s/%s-%d.%d%s.%s", folder, name->role, name->index, name->attempt,
			  name->is_stderr ? STDERR_PART : "", endings[file]);
}

char *log_name_stderr_path(const char *stdout_path)
{
	const char *dot = strrchr(stdout_path, '.');

	return mem_format("%.*s" STDERR_PART "%s", (int) (dot - stdout_path), stdout_path, dot);
}

/* Reads the digits at `text`; returns the text after them, or NULL if there are none or too many
 * for any number of ours. */
static const char *read_digits(const char *text, int *ret_number)
{
	int number = 0;
	const char *at = text;

	for (; *at >= '0' && *at <= '9'; at++) {
		if (at - text == 9)
			return NULL;
		number = number * 10 + (*at - '0');
	}
	*ret_number = number;
	return at > text ? at : NULL;
}

bool log_name_read(const char *file_name, struct log_name *ret_name)
{
	struct log_name name = {0};
	const char *dot = strchr(file_name, '.');
	const char *dash = dot ? memrchr(file_name, '-', (size_t) (dot - file_name)) : NULL;

	if (!dash || dash == file_name || dash - file_name >= LOG_ROLE_SIZE)
		return false;
	memcpy(name.role, file_name, (size_t) (dash - file_name));
	if (read_digits(dash + 1, &name.index) != dot)
		return false;
	const char *ending = read_digits(dot + 1, &name.attempt);

	if (ending && text_starts_with(ending, STDERR_PART ".")) {
		name.is_stderr = true;
		ending += strlen(STDERR_PART);
	}
	if (!ending || *ending != '.')
		return false;
	if (strcmp(ending + 1, endings[LOG_FILE_TEXT]) != 0 &&
	    strcmp(ending + 1, endings[LOG_FILE_OLD_TEXT]) != 0)
		return false;
	*ret_name = name;
	return true;
}

int log_name_compare(const struct log_name *a, const struct log_name *b)
{
	int roles = strcmp(a->role, b->role);

	if (roles != 0)
		return roles;
	if (a->index != b->index)
		return a->index < b->index ? -1 : 1;
	if (a->is_stderr != b->is_stderr)
		return a->is_stderr ? 1 : -1;
	return (a->attempt > b->attempt) - (a->attempt < b->attempt);
}

bool log_name_same_replica(const struct log_name *a, const struct log_name *b)
{
	return a->index == b->index && strcmp(a->role, b->role) == 0;
}

bool log_name_same_stream(const struct log_name *a, const struct log_name *b)
{
	return a->is_stderr == b->is_stderr && log_name_same_replica(a, b);
}

bool log_name_is_listed(const struct log_name *list, size_t count, const struct log_name *name)
{
	for (size_t i = 0; i < count; i++)
		if (log_name_same_replica(&list[i], name))
			return true;
	return count == 0;
}
