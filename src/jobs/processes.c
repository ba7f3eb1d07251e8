#include "jobs/processes.h"

#include "io/file.h"
#include "io/folder.h"
#include "jobs/state_folder.h"
#include "logs/folder.h"
#include "spec/limits.h"

#include <signal.h>

struct walk {
	void (*fn)(pid_t pid, const char *attempt, void *data);
	void *data;
};

/* The mark is UID/ROLE-INDEX.ATTEMPT. */
static void call_if_job_process(pid_t pid, void *data)
{
	const struct walk *walk = data;
	char *mark CLEANUP(mem_free_text) = NULL;

	if (!process_read_variable(pid, ENVIRONMENT_ATTEMPT_MARK, &mark) || !mark)
		return;
	const char *slash = strchr(mark, '/');

	if (slash)
		walk->fn(pid, slash + 1, walk->data);
}

void job_processes_each(const char *uid, void (*fn)(pid_t pid, const char *attempt, void *data),
			void *data)
{
	char *mark CLEANUP(mem_free_text) = mem_format(ENVIRONMENT_JOB_MARK "=%s", uid);
	struct walk walk = {fn, data};

	process_each_marked(mark, call_if_job_process, &walk);
}

struct signalling {
	int number;
	size_t count;
};

static void signal_process(pid_t pid, const char *attempt, void *data)
{
	struct signalling *signalling = data;

	(void) attempt;
	if (process_catches(pid, signalling->number) && kill(pid, signalling->number) == 0)
		signalling->count++;
}

size_t job_processes_signal(const char *uid, int number)
{
	struct signalling signalling = {.number = number};

	job_processes_each(uid, signal_process, &signalling);
	return signalling.count;
}

char *job_processes_attempt(const char *role, int index, int attempt)
{
	return mem_format("%s-%d.%d", role, index, attempt);
}

/* One of each for each replica. */
struct count {
	size_t n_replicas;
	char **attempts;
	struct replica_usage *usage;
};

static void count_process(pid_t pid, const char *attempt, void *data)
{
	const struct count *count = data;

	for (size_t i = 0; i < count->n_replicas; i++)
		if (text_equals(count->attempts[i], attempt) &&
		    process_usage_add(pid, &count->usage[i].used))
			count->usage[i].n_processes++;
}

static msec changed_at(const char *path)
{
	struct stat file;

	if (!path || stat(path, &file) < 0 || file.st_size == 0)
		return MSEC_UNSET;
	return file.st_mtim.tv_sec * MSEC_PER_SECOND + file.st_mtim.tv_nsec / 1000000;
}

/* By either stream. */
static msec printed_at(const char *log)
{
	char *stderr_log CLEANUP(mem_free_text) = log ? log_name_stderr_path(log) : NULL;

	return msec_max(changed_at(log), changed_at(stderr_log));
}

struct replica_usage *job_processes_usage(const char *uid, const struct status *status)
{
	size_t n = status->n_replicas;
	struct count count = {n, mem_new_array(n + 1, sizeof(*count.attempts)),
			      mem_new_array(n + 1, sizeof(*count.usage))};

	for (size_t i = 0; i < n; i++) {
		const struct replica_status *replica = &status->replicas[i];

		count.attempts[i] =
			job_processes_attempt(replica->role, replica->index, replica->attempt);
		count.usage[i].printed_at = printed_at(replica->log);
	}
	job_processes_each(uid, count_process, &count);
	for (size_t i = 0; i < n; i++)
		free(count.attempts[i]);
	free(count.attempts);
	return count.usage;
}

/* faulthandler writes up to 100 threads of 100 frames. */
#define READ_LIMIT ((size_t) 4 * 1024 * 1024)

char *job_attempt_file(const char *job_folder, const char *role, int index, int attempt,
		       const char *ending)
{
	return mem_format("%s/%s-%d.%d%s", job_folder, role, index, attempt, ending);
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
