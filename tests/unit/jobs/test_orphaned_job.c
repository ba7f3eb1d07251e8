#include "unit.h"

#include "base/mem.h"
#include "fake/store_memory.h"
#include "io/process.h"
#include "jobs/orphaned_job.h"
#include "jobs/processes.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of this process's own, so that two of these tests do not meet. */
static char uid[40];

static void add_job(struct store *store, const char *supervisor)
{
	const struct store_record record = {
		.name = "job",
		.uid = uid,
		.document = "{}",
		.status = "{}",
		.summary = "{}",
		.supervisor = (char *) supervisor,
	};
	int64_t version;

	assert_int_equal(store->functions->create(store, &record, &version, NULL), 0);
}

/* A process that waits, as one of the job. */
static pid_t start_process_of_job(void)
{
	char *arguments[] = {"sleep", "1000", NULL};
	char *mark CLEANUP(mem_free_text) = mem_format(ENVIRONMENT_JOB_MARK "=%s", uid);
	char *environment[] = {mark, NULL};
	pid_t pid;

	assert_int_equal(posix_spawn(&pid, "/bin/sleep", NULL, NULL, arguments, environment), 0);
	while (!process_has_mark(pid, mark)) /* it has our memory at first */
		poll(NULL, 0, 1);
	return pid;
}

static bool has_ended(pid_t pid)
{
	return waitpid(pid, NULL, WNOHANG) == pid;
}

/* Whether a process of the job is ended by a muster that read the record before this change of it.
 */
static bool ends_what_is_left_after(const struct store_change *change)
{
	struct store *store = store_memory_new();
	struct store_record read CLEANUP(store_record_done) = {0};
	int64_t version;

	add_job(store, "one that died");
	assert_int_equal(store->functions->get(store, "job", &read, NULL), 0);
	assert_int_equal(
		store->functions->change(store, "job", read.version, change, &version, NULL), 0);
	pid_t pid = start_process_of_job();
	orphaned_job_kill_processes(store, &read);
	bool is_ended = has_ended(pid);

	if (!is_ended) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	store->functions->free(store);
	return is_ended;
}

TEST(who_settles_late_leaves_the_processes_of_a_job_that_was_resumed)
{
	assert_false(ends_what_is_left_after(&(struct store_change){.supervisor = "another"}));
}

TEST(who_settles_ends_what_is_left_also_where_the_job_was_asked_to_stop)
{
	assert_true(
		ends_what_is_left_after(&(struct store_change){.document = "{\"metadata\": {}}"}));
}

int main(void)
{
	snprintf(uid, sizeof(uid), "7d1f3f0e-2a6b-4b7c-9a39-%012d", (int) getpid());
	return unit_run();
}
