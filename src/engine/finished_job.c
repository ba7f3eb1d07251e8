/* A record comes over as it was written last, which may be before the last Pods were ended. */
#include "engine/finished_job.h"

#include "base/mem.h"
#include "base/text.h"
#include "engine/record.h"
#include "engine/state_folder.h"

static int replace(struct store *store, const char *state_folder, const struct store_record *record,
		   struct err *err)
{
	struct store_record old CLEANUP(store_record_done) = {0};
	int64_t version;
	int rc = store->functions->get(store, record->name, &old, err);

	if (rc < 0 || !record_is_finished(&old) || text_equals(old.uid, record->uid))
		return rc;
	rc = store->functions->replace(store, old.uid, record, &version, err);
	return rc < 0 ? rc : state_folder_remove_job(state_folder, old.uid, err);
}

/* What cleanPodPolicy left running goes with the objects of the job. */
static void end_replicas(struct status *status)
{
	for (size_t i = 0; i < status->n_replicas; i++) {
		struct replica_status *replica = &status->replicas[i];

		if (replica->state == REPLICA_STARTING || replica->state == REPLICA_RUNNING ||
		    replica->state == REPLICA_STOPPING)
			replica->state = REPLICA_STOPPED;
	}
}

static int end_record(const struct store_record *record, struct store_record *ret_ended,
		      struct err *err)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct job *job CLEANUP(job_cleanup) = NULL;
	struct status status;
	int rc = record_read(record, arena, &job, &status, err);

	if (rc < 0)
		return rc;
	end_replicas(&status);
	*ret_ended = record_new(job, &status, record->supervisor, record->created);
	return 0;
}

int finished_job_remember(const char *state_folder, const struct store_record *record,
			  struct err *err)
{
	struct store_record ended CLEANUP(store_record_done) = {0};
	struct store *store = NULL;
	int64_t version;
	int rc = end_record(record, &ended, err);

	if (rc == 0)
		rc = store_sqlite_open(state_folder, &store, err);
	if (rc < 0)
		return rc;
	rc = store->functions->create(store, &ended, &version, err);
	if (rc == ERR_EXISTS)
		rc = replace(store, state_folder, &ended, err);
	store->functions->free(store);
	return rc;
}
