#include "base/backoff.h"
#include "base/mem.h"
#include "io/loop.h"
#include "jobs/record.h"
#include "kube/objects.h"
#include "operator/state.h"
#include "reconcile/expiry.h"
#include "reconcile/reconcile.h"

#include <stdlib.h>

static char *fault_of(const struct job *job)
{
	struct faults faults CLEANUP(faults_done) = {0};

	if (job->n_roles == 0)
		return mem_copy_text(
			"spec.tfReplicaSpecs: Required value: must have at least one role");
	return objects_check_names(job, &faults) ? NULL : mem_copy_text(faults.list[0].sentence);
}

/* Exists while the status is written and its Events are sent; or while the job is deleted. */
struct refusal {
	struct arena *arena;
	struct job *job;
	struct plan plan;
	bool is_removal; /* it was written, and the job's time to live has passed */
};

void operator_refusal_free(struct refusal *refusal)
{
	if (!refusal)
		return;
	arena_free(refusal->arena);
	job_free(refusal->job);
	free(refusal);
}

const struct job *operator_refusal_removes(const struct refusal *refusal)
{
	return refusal && refusal->is_removal ? refusal->job : NULL;
}

static void on_refused(int64_t version, const struct err *err, void *data)
{
	struct managed_job *job = data;
	struct refusal *refusal = TAKE(job->refusal);
	bool is_removed = refusal->is_removal && (!err || err->code == ERR_NOT_FOUND);
	bool has_failed = err && err->code != ERR_CONFLICT && err->code != ERR_NOT_FOUND;

	(void) version;
	if (!err && refusal->is_removal)
		operator_report_removed(job, refusal->job);
	if (err && err->code == ERR_NOT_FOUND)
		err = NULL;
	for (size_t i = 0; i < refusal->plan.n_notes && !err; i++)
		operator_send_event(refusal->job, &refusal->plan.notes[i], job);
	if (has_failed)
		operator_failed(job, refusal->job, err);
	job->n_refusal_failures = has_failed ? job->n_refusal_failures + 1 : 0;
	operator_refusal_free(refusal);
	/* Changes that arrived meanwhile were ignored; after a conflict the new state is known by
	 * now. */
	if (!is_removed)
		operator_enqueue(job, loop_instant_after(backoff_pause(OPERATOR_FIRST_PAUSE,
								       OPERATOR_LONGEST_PAUSE,
								       job->n_refusal_failures)));
}

static void write_refusal(struct managed_job *job, const struct store_record *record,
			  struct status *status, const char *fault)
{
	struct refusal *refusal = job->refusal;
	struct arena *arena = refusal->arena;

	if (status->n_conditions == 0)
		reconcile_begin(refusal->job, loop_now(), arena, status);
	reconcile_lost(refusal->job, status, OPERATOR_REFUSED, arena_copy_text(arena, fault),
		       loop_now(), arena, &refusal->plan);
	const struct store_change change =
		record_change(job->store, refusal->job, &refusal->plan.status, arena);

	store_begin_change(job->store, refusal->job->name, record->version, &change, on_refused,
			   job);
}

static void delete_or_wait(struct managed_job *job, const struct status *status)
{
	msec expires_at = expiry_of_job(job->refusal->job, status);

	if (loop_now() >= expires_at) {
		job->refusal->is_removal = true;
		store_begin_remove(job->store, managed_job_name(job), job->uid, on_refused, job);
		return;
	}
	operator_refusal_free(TAKE(job->refusal));
	operator_enqueue(job, loop_instant_of(expires_at));
}

static void report_unread_job(struct managed_job *job, const struct err *fault)
{
	if (text_keep(&job->trouble, fault->text))
		operator_report_job_error(job, fault);
}

/* Once it is written, the job's time to live applies. */
static void begin_refusal(struct managed_job *job, const struct store_record *record,
			  const char *fault)
{
	struct refusal *refusal = mem_new(sizeof(*refusal));
	struct status status;
	struct err err = {0};

	refusal->arena = arena_new();
	if (record_read_status(record, refusal->arena, &status, &err) < 0) {
		report_unread_job(job, &err);
		operator_refusal_free(refusal);
		return;
	}
	refusal->job = TAKE(job->job);
	job->refusal = refusal;
	if (status_is_finished(&status))
		delete_or_wait(job, &status);
	else
		write_refusal(job, record, &status, fault);
}

bool operator_is_finished(const struct managed_job *job)
{
	struct store_record record CLEANUP(store_record_done) = {0};
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct status status;

	return job->store->functions->get(job->store, managed_job_name(job), &record, NULL) == 0 &&
	       record_read_status(&record, arena, &status, NULL) == 0 &&
	       status_is_finished(&status);
}

bool operator_refuse(struct managed_job *job)
{
	struct store_record record CLEANUP(store_record_done) = {0};
	char *fault CLEANUP(mem_free_text) = fault_of(job->job);

	if (!fault || operator_is_finished(job))
		return false;
	if (!job->refusal &&
	    job->store->functions->get(job->store, job->job->name, &record, NULL) == 0)
		begin_refusal(job, &record, fault);
	return true;
}

/* If no status could be written, it is only reported in the log. */
void operator_refuse_unread(struct managed_job *job, const struct err *fault)
{
	struct store_record record CLEANUP(store_record_done) = {0};

	if (job->refusal)
		return;
	if (job->store->functions->get(job->store, managed_job_name(job), &record, NULL) < 0 ||
	    record_read_bare_job(&record, &job->job, NULL) < 0)
		report_unread_job(job, fault);
	else if (operator_manages(job->job))
		begin_refusal(job, &record, fault->text);
}
