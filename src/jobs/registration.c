/* Finds the job that has the name already, and replaces it if permitted. */
#include "jobs/registration.h"

#include "base/mem.h"
#include "io/loop.h"
#include "jobs/orphaned_job.h"
#include "jobs/reconciler.h"
#include "jobs/record.h"
#include "jobs/supervisor_id.h"

/* How long the supervisor of a finished job may take to exit. */
#define LAST_CHECK_LIMIT (10 * MSEC_PER_SECOND)

static int refuse_running(const char *name, struct err *err)
{
	return err_set(err, ERR_EXISTS,
		       "job '%s' already exists and has not ended; choose another --name, or stop "
		       "it: muster stop %s",
		       name, name);
}

static int refuse_taken_name(struct store *store, const char *name, struct err *err)
{
	struct store_record old CLEANUP(store_record_done) = {0};
	int rc = orphaned_job_get(store, name, &old, err);

	if (rc < 0)
		return rc;
	if (!record_is_finished(&old))
		return refuse_running(name, err);
	return err_set(err, ERR_EXISTS,
		       "job '%s' already exists and has ended; use --replace to replace it, or "
		       "choose another --name",
		       name);
}

/* A name is free when its job has finished, and no process of it is left. */
static int replace_finished(struct store *store, const struct job *job, const char *supervisor,
			    msec now, char **ret_replaced_uid, struct err *err)
{
	struct store_record old CLEANUP(store_record_done) = {0};
	int rc = orphaned_job_get(store, job->name, &old, err);

	if (rc < 0)
		return rc;
	if (!record_is_finished(&old))
		return refuse_running(job->name, err);
	supervisor_wait(old.supervisor, loop_instant_after(LAST_CHECK_LIMIT));
	if (supervisor_fate(old.supervisor) == SUPERVISOR_ALIVE)
		return err_set(err, ERR_EXISTS, "job '%s' already exists and is about to end",
			       job->name);
	rc = reconciler_replace_job(store, job, old.uid, supervisor, NULL, now, err);
	if (rc == 0)
		*ret_replaced_uid = TAKE(old.uid);
	return rc;
}

int registration_register(struct store *store, const struct job *job, bool replaces_finished,
			  msec now, char **ret_replaced_uid, struct err *err)
{
	char *supervisor CLEANUP(mem_free_text) = NULL;
	int rc = supervisor_id_write_own(&supervisor, err);

	if (rc < 0)
		return rc;
	rc = reconciler_create_job(store, job, supervisor, NULL, now, err);
	if (rc != ERR_EXISTS)
		return rc;
	return replaces_finished
		       ? replace_finished(store, job, supervisor, now, ret_replaced_uid, err)
		       : refuse_taken_name(store, job->name, err);
}
