#include "engine/job_processes.h"

#include "base/mem.h"
#include "base/text.h"
#include "engine/process_mark.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct walk {
	void (*fn)(pid_t pid, const char *attempt, void *data);
	void *data;
};

/* The mark is UID/ROLE-INDEX.ATTEMPT. */
static void see_process(pid_t pid, void *data)
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

	process_each_marked(mark, see_process, &walk);
}

char *job_processes_attempt(const char *role, int index, int attempt)
{
	return mem_format("%s-%d.%d", role, index, attempt);
}

struct count {
	const struct status *status;
	struct replica_usage *usage; /* one for each replica */
};

static void count_process(pid_t pid, const char *attempt, void *data)
{
	const struct count *count = data;

	for (size_t i = 0; i < count->status->n_replicas; i++) {
		const struct replica_status *replica = &count->status->replicas[i];
		char *own CLEANUP(mem_free_text) =
			job_processes_attempt(replica->role, replica->index, replica->attempt);

		if (!text_equals(own, attempt))
			continue;
		if (process_usage_add(pid, &count->usage[i].used))
			count->usage[i].n_processes++;
		return;
	}
}

static msec changed_at(const char *path)
{
	struct stat file;

	if (!path || stat(path, &file) < 0 || file.st_size == 0)
		return MSEC_UNSET;
	return file.st_mtim.tv_sec * MSEC_PER_SECOND + file.st_mtim.tv_nsec / 1000000;
}

struct replica_usage *job_processes_usage(const char *uid, const struct status *status)
{
	struct count count = {status, mem_new_array(status->n_replicas + 1, sizeof(*count.usage))};

	for (size_t i = 0; i < status->n_replicas; i++)
		count.usage[i].printed_at = changed_at(status->replicas[i].log);
	job_processes_each(uid, count_process, &count);
	return count.usage;
}
