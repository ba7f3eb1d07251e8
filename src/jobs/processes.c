#include "jobs/processes.h"

#include "base/mem.h"
#include "base/text.h"
#include "logs/name.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
