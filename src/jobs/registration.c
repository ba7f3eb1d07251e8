#include "jobs/registration.h"

#include "io/loop.h"
#include "io/random.h"
#include "jobs/orphaned_job.h"
#include "jobs/reconciler.h"
#include "jobs/record.h"
#include "jobs/supervisor_id.h"
#include "reconcile/reconcile.h"

#include <assert.h>

/* Random numbers in the form of a UUID. */

char *job_uid_new(void)
{
	unsigned char b[16];

	random_bytes(b, sizeof(b));
	b[6] = (b[6] & 0x0f) | 0x40;
	b[8] = (b[8] & 0x3f) | 0x80;
	return mem_format("%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
			  b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11],
			  b[12], b[13], b[14], b[15]);
}

void job_uid_set_new(struct job *job)
{
	char *uid CLEANUP(mem_free_text) = job_uid_new();

	job_set_uid(job, uid);
}

/* New jobs. */

/* A name is free when its job has finished, and no process of it is left. */
static int take_over_name(struct store *store, const struct job *job, const char *supervisor,
			  bool replaces_finished, msec now, char **ret_replaced_uid,
			  struct err *err)
{
	struct store_record old CLEANUP(store_record_done) = {0};
	const char *name = job->name;
	int rc = orphaned_job_get(store, name, &old, err);

	if (rc < 0)
		return rc;
	if (!record_is_finished(&old))
		return err_set(err, ERR_EXISTS,
			       "job '%s' already exists and has not ended; choose another --name, "
			       "or stop it: muster stop %s",
			       name, name);
	if (!replaces_finished)
		return err_set(err, ERR_EXISTS,
			       "job '%s' already exists and has ended; use --replace to replace "
			       "it, or choose another --name",
			       name);
	supervisor_wait(old.supervisor, loop_instant_after(SUPERVISOR_EXIT_LIMIT));
	if (supervisor_fate(old.supervisor) == SUPERVISOR_ALIVE)
		return err_set(err, ERR_EXISTS, "job '%s' already exists and is about to end",
			       name);
	rc = reconciler_create_job(store, job, old.uid, supervisor, NULL, now, err);
	if (rc == 0)
		*ret_replaced_uid = TAKE(old.uid);
	return rc;
}

int registration_register(struct store *store, const struct job *job, bool replaces_finished,
			  msec now, char **ret_replaced_uid, struct err *err)
{
	char *supervisor CLEANUP(mem_free_text) = NULL;
	int rc = supervisor_id_write_own(false, &supervisor, err);

	if (rc < 0)
		return rc;
	rc = reconciler_create_job(store, job, NULL, supervisor, NULL, now, err);
	return rc != ERR_EXISTS ? rc
				: take_over_name(store, job, supervisor, replaces_finished, now,
						 ret_replaced_uid, err);
}

/* Resuming. The last write decides: the record changes from "finished, no supervisor" to "active,
 * our supervisor" in one step, by its version. */

static int check_job_resumable(const struct store_record *record, const struct status *status,
			       struct err *err)
{
	const char *name = record->name;
	enum supervisor_fate fate = supervisor_fate(record->supervisor);

	if (fate == SUPERVISOR_ELSEWHERE)
		return err_set(err, ERR_REFUSED,
			       "job '%s' ran on another machine; run this command there", name);
	if (!status_is_finished(status))
		return err_set(err, ERR_REFUSED, "job '%s' is already running", name);
	if (fate == SUPERVISOR_ON_CLUSTER)
		return err_set(err, ERR_REFUSED,
			       "job '%s' ran on a cluster and its objects are gone; run its "
			       "original command again",
			       name);
	if (status_condition_is_true(status, CONDITION_SUCCEEDED))
		return err_set(err, ERR_REFUSED,
			       "job '%s' has succeeded and cannot be resumed (to run it again: "
			       "muster status -o yaml %s | muster run --replace -f -)",
			       name, name);
	return 0;
}

/* The document without the reason of its end. */
static int read_again(const struct job *ended, const char *uid, struct job **ret_job,
		      struct err *err)
{
	struct json *document CLEANUP(json_cleanup) = json_new_copy(ended->document);
	struct json *annotations = json_get_path(document, "metadata", "annotations", NULL);
	struct faults faults CLEANUP(faults_done) = {0};
	struct job *job = NULL;

	json_remove(annotations, JOB_ANNOTATION_STOP);
	json_remove(annotations, JOB_ANNOTATION_STOP_GRACE);
	if (annotations && json_count(annotations) == 0)
		json_remove(json_get(document, "metadata"), "annotations");
	json_remove(json_get_path(document, "spec", "runPolicy", NULL), "suspend");
	if (job_read(document, NULL, JOB_LENIENT, &faults, &job) < 0)
		return err_set(err, ERR_INVALID, "job '%s' cannot be read: %s: %s", ended->name,
			       faults.list[0].path, faults.list[0].sentence);
	job_set_uid(job, uid);
	*ret_job = job;
	return 0;
}

int resumption_read(struct store *store, const char *name, struct job **ret_job, struct err *err)
{
	struct store_record record CLEANUP(store_record_done) = {0};
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct job *ended CLEANUP(job_cleanup) = NULL;
	struct status status;
	int rc = orphaned_job_get(store, name, &record, err);

	if (rc == 0)
		rc = record_read(&record, arena, &ended, &status, err);
	if (rc < 0)
		return rc;
	assert(ended);
	rc = check_job_resumable(&record, &status, err);
	if (rc == 0 && ended->elastic_id)
		rc = err_set(err, ERR_REFUSED,
			     "job '%s' was this machine's part of the elastic job '%s'; to take "
			     "part again, run the same 'muster launch' command",
			     name, ended->elastic_id);
	return rc < 0 ? rc : read_again(ended, record.uid, ret_job, err);
}

/* One try; ERR_CONFLICT when the record changed in between. */
static int try_resume_record(struct store *store, const struct job *job, const char *supervisor,
			     msec now, struct err *err)
{
	struct store_record record CLEANUP(store_record_done) = {0};
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct status ended, resumed;
	int64_t version;
	int rc = orphaned_job_get(store, job->name, &record, err);

	if (rc == 0 && !text_equals(record.uid, job->uid))
		rc = err_set(err, ERR_NOT_FOUND, "job '%s' was replaced", job->name);
	if (rc == 0)
		rc = record_read_status(&record, arena, &ended, err);
	if (rc == 0)
		rc = check_job_resumable(&record, &ended, err);
	if (rc < 0)
		return rc;
	if (supervisor_fate(record.supervisor) == SUPERVISOR_ALIVE) {
		supervisor_wait(record.supervisor, loop_instant_after(SUPERVISOR_EXIT_LIMIT));
		return supervisor_fate(record.supervisor) == SUPERVISOR_ALIVE
			       ? err_set(err, ERR_REFUSED, "job '%s' is about to end", job->name)
			       : ERR_CONFLICT;
	}
	reconcile_resume(job, &ended, now, arena, &resumed);
	return record_write(store, job, true, record.version, &resumed, supervisor, &version, err);
}

int resumption_register(struct store *store, const struct job *job, msec now, struct err *err)
{
	char *supervisor CLEANUP(mem_free_text) = NULL;
	int rc = supervisor_id_write_own(false, &supervisor, err);

	if (rc < 0)
		return rc;
	do
		rc = try_resume_record(store, job, supervisor, now, err);
	while (rc == ERR_CONFLICT);
	return rc;
}
