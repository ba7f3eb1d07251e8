#include "cli/sync_folder.h"

#include "archive/archive.h"
#include "base/mem.h"
#include "io/own_process.h"
#include "io/program_call.h"

#include <sys/stat.h>
#include <unistd.h>

#define FILES_LIMIT 100000
#define GIT_OUTPUT_LIMIT ((size_t) 32 * 1024 * 1024)
#define GIT_TIME_LIMIT (120 * MSEC_PER_SECOND)

struct sync_folder {
	const char *path;
	bool is_checkout;
	struct text names; /* of git, each ends with a NUL */
	const char **list; /* of these, sorted */
	size_t count, capacity;

	uint64_t bytes; /* of the files to pack */
	char *part; /* the top-level entry that is being counted; they come one after the other */
	uint64_t part_bytes;
	char *largest;
	uint64_t largest_bytes;
};

static void sync_folder_done(struct sync_folder *folder)
{
	text_done(&folder->names);
	free(folder->list);
	free(folder->part);
	free(folder->largest);
}

/* The files to pack. */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static int by_beginning(const void *beginning, const void *name)
{
	return strncmp(beginning, *(const char *const *) name, strlen(beginning));
}

/* In a checkout, whether it is one of the names, or a directory that contains one. */
static bool wants(const char *path, void *data)
{
	const struct sync_folder *folder = data;
	char *below CLEANUP(mem_free_text) = mem_format("%s/", path);

	if (!folder->is_checkout)
		return !text_equals(path, ".git") && !text_ends_with(path, "/.git");
	return folder->count > 0 &&
	       (bsearch(&path, folder->list, folder->count, sizeof(*folder->list), by_name) ||
		bsearch(below, folder->list, folder->count, sizeof(*folder->list), by_beginning));
}

/* Git. */

/* So that git reads this directory's repository and no other, fetches nothing and prompts for
 * nothing. An empty list of protocols overrides the repository's settings for each (git(1)). */
static const char *const variables_of_git[] = {
	"GIT_DIR",
	"GIT_WORK_TREE",
	"GIT_COMMON_DIR",
	"GIT_INDEX_FILE",
	"GIT_OBJECT_DIRECTORY",
	"GIT_ALLOW_PROTOCOL=",
	"GIT_NO_LAZY_FETCH=1",
	"GIT_OPTIONAL_LOCKS=0",
	"GIT_TERMINAL_PROMPT=0",
	NULL,
};

/* A repository may name programs in its settings, and another user may own the directory: the
 * programs that listing files would run are disabled. */
static int ask_git(struct sync_folder *folder, struct err *err)
{
	char *words[] = {
		"git",
		"-C",
		(char *) folder->path,
		"-c",
		"core.fsmonitor=false",
		"-c",
		"core.hooksPath=/dev/null",
		"ls-files",
		"-c",
		"-o",
		"--exclude-standard",
		"-z",
		NULL,
	};
	char **environment CLEANUP(mem_free_any) = own_environment_with(variables_of_git);
	const struct program_question question = {
		.program = "git",
		.arguments = words,
		.environment = environment,
		.limit = GIT_OUTPUT_LIMIT,
		.time_limit = GIT_TIME_LIMIT,
	};
	int rc = program_call_wait(&question, &folder->names, err);

	return rc < 0 ? err_prefix(err, "cannot list the files of '%s'", folder->path) : 0;
}

/* .git is a directory, or a file in a work tree. */
static bool is_in_checkout(const char *path)
{
	char *folder CLEANUP(mem_free_text) = realpath(path, NULL);

	while (folder && *folder) {
		char *git CLEANUP(mem_free_text) = mem_format("%s/.git", folder);

		if (access(git, F_OK) == 0)
			return true;
		*strrchr(folder, '/') = '\0';
	}
	return false;
}

static int list_files(struct sync_folder *folder, struct err *err)
{
	char *ignore CLEANUP(mem_free_text) = mem_format("%s/.gitignore", folder->path);
	int rc;

	folder->is_checkout = is_in_checkout(folder->path);
	if (!folder->is_checkout)
		return access(ignore, F_OK) < 0 ? 0
						: err_set(err, ERR_INVALID,
							  "'%s' has a .gitignore but is not in a "
							  "git repository; run 'git init' there",
							  folder->path);
	rc = ask_git(folder, err);
	const char *name = text_of(&folder->names), *end = name + folder->names.len;

	for (; rc == 0 && name < end; name += strlen(name) + 1) {
		mem_grow(&folder->list, &folder->capacity, folder->count, sizeof(*folder->list));
		folder->list[folder->count++] = name;
	}
	if (folder->count)
		qsort(folder->list, folder->count, sizeof(*folder->list), by_name);
	return rc;
}

/* Size. */

static void count_part(struct sync_folder *folder, const char *path, uint64_t bytes)
{
	char *part = mem_copy_bytes(path, strcspn(path, "/"));

	if (!text_equals(folder->part, part))
		folder->part_bytes = 0;
	free(folder->part);
	folder->part = part;
	folder->bytes += bytes;
	folder->part_bytes += bytes;
	if (folder->part_bytes > folder->largest_bytes) {
		free(folder->largest);
		folder->largest = mem_copy_text(part);
		folder->largest_bytes = folder->part_bytes;
	}
}

static bool count_and_want(const char *path, void *data)
{
	struct sync_folder *folder = data;
	char *whole CLEANUP(mem_free_text) = mem_format("%s/%s", folder->path, path);
	struct stat status;

	if (!wants(path, folder))
		return false;
	if (lstat(whole, &status) == 0 && S_ISREG(status.st_mode))
		count_part(folder, path, (uint64_t) status.st_size);
	return true;
}

static int refuse_size(const struct sync_folder *folder, struct err *err)
{
	char *largest CLEANUP(mem_free_text) = amount_of_bytes(folder->largest_bytes);

	return err_set(err, ERR_LIMIT,
		       "--sync: '%s' is too large (limits: %d MB, %d MB packed); its largest entry "
		       "is '%s' "
		       "(%s): add that to .gitignore, or put it on a volume or into the image",
		       folder->path, (int) (SYNC_FOLDER_LIMIT / 1000000),
		       (int) (SYNC_PACKED_LIMIT / 1000000), folder->largest, largest);
}

/* Packing. */

static int pack_files(const struct archive_functions *archive, struct sync_folder *folder,
		      struct archive_pack *pack, struct text *packed, struct err *err)
{
	const char *bytes;
	size_t len = 1;
	int rc = 0;

	while (rc == 0 && len) {
		rc = archive->pack_next(pack, &bytes, &len, err);
		if (rc == ERR_LIMIT || packed->len > SYNC_PACKED_LIMIT)
			return refuse_size(folder, err);
		if (rc == 0)
			text_add_bytes(packed, bytes, len);
	}
	return rc;
}

int sync_folder_pack(const char *path, const char *script, struct text *packed, struct err *err)
{
	struct sync_folder folder CLEANUP(sync_folder_done) = {.path = path};
	const struct archive_packing packing = {
		.path = path,
		.name = ".",
		.format = ARCHIVE_GNU_GZIP,
		.limits = {FILES_LIMIT, SYNC_FOLDER_LIMIT},
		.wants = count_and_want,
		.data = &folder,
	};
	struct archive_pack *pack = NULL;
	int rc = list_files(&folder, err);

	if (rc == 0 && script && !wants(script, &folder))
		rc = err_set(err, ERR_INVALID,
			     "--sync: '%s' is ignored by git and would not be copied; change "
			     ".gitignore ('git check-ignore -v' names the rule)",
			     script);
	if (rc < 0)
		return rc;
	const struct archive_functions *archive = archive_open(err);

	rc = archive ? archive->pack_new(&packing, &pack, err) : ERR_NOT_FOUND;
	if (rc < 0)
		return rc;
	rc = pack_files(archive, &folder, pack, packed, err);
	archive->pack_free(pack);
	return rc;
}
