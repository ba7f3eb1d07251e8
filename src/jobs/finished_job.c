/* A record is copied in its last written state, which may be from before the last Pods exited. */
#include "jobs/finished_job.h"

#include "base/mem.h"
#include "base/text.h"
#include "jobs/orphaned_job.h"
#include "jobs/record.h"
#include "reconcile/status_seen.h"

/* Frees the name; ERR_EXISTS if an active job has it. */
static int remove_finished(struct store *store, const char *state_folder, const char *name,
			   struct err *err)
{
	struct store_record old CLEANUP(store_record_done) = {0};
	int rc = store->functions->get(store, name, &old, err);

	if (rc < 0)
		return rc;
	if (!record_is_finished(&old))
		return err_set(err, ERR_EXISTS, "job '%s' already exists", name);
	return orphaned_job_remove(store, state_folder, name, old.uid, err);
}

/* The record of this uid, under whichever of the two names, becomes `ended`; without a record, a
 * new one is created. Each is one step, so that the record survives a kill at any moment. */
static int store_ended_record(struct store *store, const char *old_name,
			      const struct store_record *ended, struct err *err)
{
	int64_t version;
	int rc = store->functions->replace(store, old_name, ended->uid, ended, &version, err);

	if (rc == ERR_NOT_FOUND) /* an earlier record says that it had finished */
		rc = store->functions->replace(store, ended->name, ended->uid, ended, &version,
					       err);
	return rc == ERR_NOT_FOUND ? store->functions->create(store, ended, &version, err) : rc;
}

int finished_job_save(struct store *store, const char *state_folder, const char *record_name,
		      const struct store_record *ended, struct err *err)
{
	int rc = store_ended_record(store, record_name, ended, err);

	if (rc != ERR_EXISTS)
		return rc;
	rc = remove_finished(store, state_folder, ended->name, err);
	if (rc == 0 || rc == ERR_NOT_FOUND)
		return store_ended_record(store, record_name, ended, err);
	if (rc != ERR_EXISTS)
		return rc;
	struct store_record renamed CLEANUP(store_record_done) =
		store_record_copy(ended, STORE_ALL);

	mem_free_text(&renamed.name);
	renamed.name = mem_copy_text(record_name);
	return store_ended_record(store, record_name, &renamed, err);
}

/* Pods that cleanPodPolicy left running are deleted with the objects of the job. */
static void end_replicas(struct status *status)
{
	for (size_t i = 0; i < status->n_replicas; i++) {
		struct replica_status *replica = &status->replicas[i];

		if (replica->state == REPLICA_STARTING || replica->state == REPLICA_RUNNING ||
		    replica->state == REPLICA_STOPPING)
			replica->state = REPLICA_STOPPED;
	}
}

static const char *node_of(const struct observed *observed, const struct replica_status *replica)
{
	for (size_t i = 0; i < observed->n_replicas; i++) {
		const struct observed_replica *seen = &observed->replicas[i];

		if (seen->index == replica->index && seen->attempt == replica->attempt &&
		    text_equals(seen->role, replica->role))
			return seen->node;
	}
	return NULL;
}

/* Records the Pods and their nodes. */
static void store_replica_pods(const struct job *job, const struct observed *observed,
			       struct arena *arena, struct status *status)
{
	for (size_t i = 0; i < status->n_replicas; i++) {
		struct replica_status *replica = &status->replicas[i];
		const struct role *role = job_role(job, replica->role);
		char *name CLEANUP(mem_free_text) =
			role ? job_pod_name(job, role, replica->index) : NULL;

		replica->pod = arena_copy_text(arena, name);
		replica->node = node_of(observed, replica);
	}
}

static int end_record(const struct store_record *record, const char *place,
		      const struct observed *observed, struct store_record *ret_ended,
		      struct err *err)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct job *job CLEANUP(job_cleanup) = NULL;
	struct status status;
	int rc = record_read(record, arena, &job, &status, err);

	if (rc < 0)
		return rc;
	status_see(job, observed, arena, &status);
	end_replicas(&status);
	store_replica_pods(job, observed, arena, &status);
	*ret_ended = record_new(job, &status, false, place, record->created);
	return 0;
}

int finished_job_record(const char *state_folder, const char *record_name, const char *place,
			const struct store_record *record, const struct observed *observed,
			struct err *err)
{
	struct store_record ended CLEANUP(store_record_done) = {0};
	struct store *store CLEANUP(store_cleanup) = NULL;
	int rc = end_record(record, place, observed, &ended, err);

	if (rc == 0)
		rc = store_sqlite_open(state_folder, &store, err);
	return rc < 0 ? rc : finished_job_save(store, state_folder, record_name, &ended, err);
}
