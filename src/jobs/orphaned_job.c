/* Order: first the processes are killed, then the record says so. If the cleaning process is killed
 * in between, the next one cleans up the job. */
#include "jobs/orphaned_job.h"

#include "base/mem.h"
#include "base/text.h"
#include "io/file.h"
#include "io/log.h"
#include "io/loop.h"
#include "io/process.h"
#include "jobs/processes.h"
#include "jobs/record.h"
#include "jobs/state_folder.h"
#include "jobs/supervisor_id.h"
#include "reconcile/reconcile.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>

#define KILL_ROUNDS 100 /* a process that forks faster than we kill is not waited for for ever */
#define DEATH_LIMIT_MS 1000 /* a process in an uninterruptible sleep may take longer */

struct killing {
	struct store *store;
	const struct store_record *record;
	const char *mark;
	int n_killed;
};

/* Another process may have cleaned up and resumed the job: its new processes must not be killed.
 * This check is reliable for a process that existed before the record was read. */
static bool has_new_supervisor(const struct killing *killing)
{
	struct store_record now CLEANUP(store_record_done) = {0};

	return killing->store->functions->get(killing->store, killing->record->name, &now, NULL) ==
		       0 &&
	       text_equals(now.uid, killing->record->uid) &&
	       !text_equals(now.supervisor, killing->record->supervisor);
}

/* The mark is checked again once a pidfd holds the process: its pid may have been reused in
 * between, and no foreign process is ever killed. */
static void kill_marked(pid_t pid, void *data)
{
	struct killing *killing = data;

	if (pid == getpid())
		return;
	int fd CLEANUP(file_close) = (int) syscall(SYS_pidfd_open, pid, 0);

	if (fd >= 0 && process_has_mark(pid, killing->mark) && !has_new_supervisor(killing) &&
	    syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0) == 0) {
		struct pollfd death = {.fd = fd, .events = POLLIN};

		log_info("job '%s': killed process %d, which it left behind", killing->record->name,
			 (int) pid);
		killing->n_killed++;
		poll(&death, 1, DEATH_LIMIT_MS);
	}
}

void orphaned_job_kill_processes(struct store *store, const struct store_record *record)
{
	char *mark CLEANUP(mem_free_text) = mem_format(ENVIRONMENT_JOB_MARK "=%s", record->uid);
	struct killing killing = {.store = store, .record = record, .mark = mark};

	for (int round = 0; round < KILL_ROUNDS; round++) {
		killing.n_killed = 0;
		process_each_marked(mark, kill_marked, &killing);
		if (killing.n_killed == 0)
			return;
	}
}

bool job_is_orphaned(const char *supervisor, bool is_finished)
{
	enum supervisor_fate fate = supervisor_fate(supervisor);

	return fate == SUPERVISOR_KILLED || fate == SUPERVISOR_REBOOTED ||
	       (fate == SUPERVISOR_NONE && !is_finished);
}

/* One try; ERR_CONFLICT when the record changed in between. A finished job only loses its
 * supervisor, which was killed while it stopped remaining processes. The record is then correct in
 * memory, also if it could not be written. */
static int clean_up_record(struct store *store, struct store_record *record, struct err *err)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct job *job CLEANUP(job_cleanup) = NULL;
	struct status status;
	struct plan plan;
	int rc = record_read(record, arena, &job, &status, err);

	if (rc < 0)
		return rc;
	if (!job_is_orphaned(record->supervisor, status_is_finished(&status)))
		return 0; /* another process was faster */
	supervisor_wait(record->supervisor, loop_instant_after(SUPERVISOR_EXIT_LIMIT));
	supervisor_end_group(record->supervisor);
	orphaned_job_kill_processes(store, record);
	enum supervisor_fate fate = supervisor_fate(record->supervisor);
	const char *reason = fate == SUPERVISOR_REBOOTED
				     ? "the machine rebooted while the job was running"
			     : fate == SUPERVISOR_NONE
				     ? "the job had no active supervisor"
				     : "muster itself was killed while it supervised the job, or "
				       "could not save its result";

	reconcile_lost(job, &status, RECONCILE_SUPERVISOR_LOST, reason, loop_now(), arena, &plan);
	record_set_status(record, job, &plan.status, "");
	rc = record_write(store, job, false, record->version, &plan.status, "", &record->version,
			  err);
	if (rc < 0)
		record->version++; /* clients that wait for a change see one */
	return rc;
}

int orphaned_job_clean_up(struct store *store, const char *name, const char *uid, struct err *err)
{
	for (;;) {
		struct store_record record CLEANUP(store_record_done) = {0};
		int rc = store->functions->get(store, name, &record, err);

		/* It was deleted in between, which is fine. */
		if (rc == ERR_NOT_FOUND || (rc == 0 && !text_equals(record.uid, uid)))
			return 0;
		if (rc == 0)
			rc = clean_up_record(store, &record, err);
		if (rc != ERR_CONFLICT)
			return rc;
	}
}

int orphaned_job_get(struct store *store, const char *name, struct store_record *ret_record,
		     struct err *err)
{
	for (;;) {
		struct store_record record CLEANUP(store_record_done) = {0};
		int rc = store->functions->get(store, name, &record, err);

		if (rc < 0)
			return rc;
		if (job_is_orphaned(record.supervisor, record_is_finished(&record)))
			rc = clean_up_record(store, &record, err);
		/* A client that only reads gets the correct status, also if it cannot be written.
		 */
		if (rc == 0 || rc == ERR_SPACE || rc == ERR_IO) {
			*ret_record = record;
			record = (struct store_record){0};
			return 0;
		}
		if (rc != ERR_CONFLICT)
			return rc;
	}
}

int orphaned_job_remove(struct store *store, const char *state_folder, const char *name,
			const char *uid, struct err *err)
{
	/* The record is deleted last: an interrupted deletion can be repeated by its name. */
	int rc = state_folder_remove_job(state_folder, uid, err);

	return rc < 0 ? rc : store->functions->remove(store, name, uid, err);
}
