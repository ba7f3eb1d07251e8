#include "jobs/state_folder.h"

#include "base/mem.h"
#include "base/names.h"
#include "io/file.h"
#include "io/folder.h"
#include "io/own_process.h"

#include <limits.h>

#define START_LINK "start"

/* A few pages of the database; a change writes each of them whole into the write-ahead log. */
#define RESERVE (128 * 1024)

/* It exists, or folder_create would create it. */
static bool can_be_made(const char *folder)
{
	char *part CLEANUP(mem_free_text) = mem_copy_text(folder);
	struct stat state;

	if (stat(part, &state) == 0)
		return true;
	for (char *slash; errno == ENOENT && (slash = strrchr(part, '/')) && slash > part;) {
		*slash = '\0';
		if (stat(part, &state) == 0)
			return access(part, W_OK | X_OK) == 0;
	}
	return errno == ENOENT && access("/", W_OK) == 0;
}

char *state_folder_default(char **ret_why)
{
	char *usual CLEANUP(mem_free_text) = home_folder("XDG_STATE_HOME", ".local/state");
	const char *temporary = getenv("TMPDIR");

	*ret_why = NULL;
	if (usual && can_be_made(usual))
		return TAKE(usual);
	char *folder = mem_format("%s/muster-%u",
				  temporary && temporary[0] == '/' ? temporary : "/tmp", geteuid());

	*ret_why =
		mem_format("jobs and logs are in '%s', because %s%s%s; to choose another "
			   "directory, set MUSTER_STATE_DIR",
			   folder, usual ? "'" : "", usual ? usual : "there is no home directory",
			   usual ? "' cannot be created" : "");
	return folder;
}

char *state_folder_jobs(const char *state_folder)
{
	return mem_format("%s/jobs", state_folder);
}

char *state_folder_programs(const char *state_folder)
{
	return mem_format("%s/programs", state_folder);
}

char *state_folder_elastic(const char *state_folder, int port)
{
	return mem_format("%s/elastic/%d", state_folder, port);
}

char *state_folder_job(const char *state_folder, const char *uid)
{
	return mem_format("%s/jobs/%s", state_folder, uid);
}

/* If the whole state directory is read-only, the error names it, not some file in it. */
static int name_folder(const char *state_folder, int rc, struct err *err)
{
	if (rc < 0 && access(state_folder, W_OK) < 0)
		return err_prefix(
			err,
			"'%s' cannot be written (set MUSTER_STATE_DIR to a writable directory)",
			state_folder);
	return rc;
}

int state_folder_create_job(const char *state_folder, const char *uid, struct err *err)
{
	char *folder CLEANUP(mem_free_text) = state_folder_job(state_folder, uid);

	return name_folder(state_folder, folder_create(folder, err), err);
}

void state_folder_keep_start(const char *job_folder)
{
	char *path CLEANUP(mem_free_text) = mem_format("%s/" START_LINK, job_folder);
	char start[PATH_MAX];

	/* Without it the job is resumed in the working directory of that command. */
	if (getcwd(start, sizeof(start)))
		(void) !symlink(start, path);
}

char *state_folder_start(const char *job_folder)
{
	char *path CLEANUP(mem_free_text) = mem_format("%s/" START_LINK, job_folder);
	char start[PATH_MAX];
	ssize_t len = readlink(path, start, sizeof(start));

	return len > 0 ? mem_copy_bytes(start, (size_t) len) : NULL;
}

int state_folder_return_to_start(const char *job_folder, const char *job_name, struct err *err)
{
	char *start CLEANUP(mem_free_text) = state_folder_start(job_folder);

	return !start || chdir(start) == 0
		       ? 0
		       : err_set_errno(
				 err, errno,
				 "cannot change to directory '%s', where job '%s' was started",
				 start, job_name);
}

static char *reserve_path(const char *job_folder)
{
	return mem_format("%s/reserve", job_folder);
}

void state_folder_reserve(const char *job_folder)
{
	char *path CLEANUP(mem_free_text) = reserve_path(job_folder);
	int fd CLEANUP(file_close) = file_open_regular(path, O_WRONLY | O_CREAT);

	if (fd >= 0 && fallocate(fd, 0, 0, RESERVE) != 0)
		unlink(path);
}

void state_folder_give_back(const char *job_folder)
{
	char *path CLEANUP(mem_free_text) = reserve_path(job_folder);

	unlink(path);
}

int state_folder_remove_job(const char *state_folder, const char *uid, struct err *err)
{
	if (!name_is_uid(uid))
		return err_set(err, ERR_INVALID, "'%s' is not the uid of a job", uid);
	char *jobs CLEANUP(mem_free_text) = state_folder_jobs(state_folder);
	int fd CLEANUP(file_close) = open(jobs, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT
			       ? 0
			       : err_set_errno(err, errno, "cannot open directory '%s'", jobs);
	return name_folder(state_folder, folder_remove(fd, uid, err), err);
}
