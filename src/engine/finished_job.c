/* A record comes over as it is: texts, which both stores keep. */
#include "engine/finished_job.h"

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

int finished_job_remember(const char *state_folder, const struct store_record *record,
			  struct err *err)
{
	struct store *store;
	int64_t version;
	int rc = store_sqlite_open(state_folder, &store, err);

	if (rc < 0)
		return rc;
	rc = store->functions->create(store, record, &version, err);
	if (rc == ERR_EXISTS)
		rc = replace(store, state_folder, record, err);
	store->functions->free(store);
	return rc;
}
