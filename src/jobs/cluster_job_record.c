#include "jobs/cluster_job_record.h"

#include "base/mem.h"
#include "base/text.h"
#include "io/loop.h"
#include "jobs/finished_job.h"
#include "jobs/record.h"
#include "jobs/supervisor_id.h"
#include "reconcile/reconcile.h"

#include <string.h>

/* Places. */

char *cluster_job_place_write(const struct cluster_job_place *place)
{
	struct json *json CLEANUP(json_cleanup) = json_new_object();
	struct json *cluster = json_object_at(json, "cluster");

	json_set_string(cluster, "server", place->server);
	json_set_string(cluster, "context", place->context);
	json_set_string(cluster, "kubeconfig", place->kubeconfig);
	json_set_string(cluster, "namespace", place->namespace_name);
	return json_compact_text(json);
}

static bool read_known_place(const char *text, struct json **ret_json,
			     struct cluster_job_place *ret_place)
{
	struct json *json CLEANUP(json_cleanup) = NULL;

	if (!text || json_read(text, strlen(text), &json, NULL) < 0)
		return false;
	const struct json *cluster = json_get(json, "cluster");
	const struct cluster_job_place place = {
		.server = json_as_string(json_get(cluster, "server"), NULL),
		.context = json_as_string(json_get(cluster, "context"), NULL),
		.kubeconfig = json_as_string(json_get(cluster, "kubeconfig"), NULL),
		.namespace_name = json_as_string(json_get(cluster, "namespace"), NULL),
	};

	if (!place.server || !place.namespace_name)
		return false;
	*ret_place = place;
	*ret_json = TAKE(json);
	return true;
}

/* Takes the record over when it is that of a job on a cluster. */
static bool claim_cluster_job_record(struct store_record *record,
				     struct cluster_job_record *ret_job)
{
	struct cluster_job_record job = {0};

	if (!read_known_place(record->supervisor, &job.place, &job.at))
		return false;
	job.record = *record;
	*record = (struct store_record){0};
	*ret_job = job;
	return true;
}

void cluster_job_record_done(struct cluster_job_record *job)
{
	store_record_done(&job->record);
	json_free(job->place);
	*job = (struct cluster_job_record){0};
}

/* Saving. */

char *cluster_job_record_name(const char *namespace_name, const char *name)
{
	return mem_format("kubernetes/%s/%s", namespace_name, name);
}

static int renew(struct store *store, const struct store_record *record, struct err *err)
{
	struct store_record old CLEANUP(store_record_done) = {0};
	int64_t version;
	int rc = store->functions->get(store, record->name, &old, err);

	if (rc < 0)
		return rc;
	if (text_equals(old.uid, record->uid))
		return record_rewrite(store, record, old.version, err);
	return store->functions->replace(store, old.name, old.uid, record, &version, err);
}

int cluster_job_record_save(const char *state_folder, const struct store_record *record,
			    const char *place, struct err *err)
{
	struct store_record kept CLEANUP(store_record_done) = store_record_copy(record, STORE_ALL);
	struct json *json CLEANUP(json_cleanup) = NULL;
	struct cluster_job_place at = {0};
	struct store *store CLEANUP(store_cleanup) = NULL;
	int64_t version;

	if (!read_known_place(place, &json, &at))
		return err_set(err, ERR_INVALID, "'%s' does not name the place of a job", place);
	mem_free_text(&kept.name);
	mem_free_text(&kept.supervisor);
	kept.name = cluster_job_record_name(at.namespace_name, record->name);
	/* After its cluster has deleted the job, the process that supervised it is waited for. */
	supervisor_id_add_own(json);
	kept.supervisor = json_compact_text(json);
	int rc = store_sqlite_open(state_folder, &store, err);

	if (rc == 0)
		rc = store->functions->create(store, &kept, &version, err);
	if (rc == ERR_EXISTS)
		rc = renew(store, &kept, err);
	if (rc == ERR_NOT_FOUND) /* its record says that it has finished, and it is active */
		rc = store->functions->replace(store, record->name, kept.uid, &kept, &version, err);
	return rc;
}

/* Finding. */

static bool is_record_named(const char *record_name, const char *name)
{
	const char *slash = strrchr(record_name, '/');

	return slash && text_equals(slash + 1, name);
}

static int find_listed(struct store *store, const char *name, struct cluster_job_record *ret_job,
		       struct err *err)
{
	struct store_list list = {0};
	bool is_found = false;
	int rc = store->functions->list(store, STORE_SUMMARY, &list, err);

	if (rc < 0)
		return rc;
	for (size_t i = list.count; i-- > 0 && !is_found;)
		is_found = is_record_named(list.records[i].name, name) &&
			   !record_is_finished(&list.records[i]) &&
			   claim_cluster_job_record(&list.records[i], ret_job);
	store_list_done(&list);
	return is_found ? 0 : err_set(err, ERR_NOT_FOUND, "job '%s' not found", name);
}

int cluster_job_record_find(const char *state_folder, const char *name,
			    struct cluster_job_record *ret_job, struct err *err)
{
	struct store_record own CLEANUP(store_record_done) = {0};
	struct store *store CLEANUP(store_cleanup) = NULL;
	int rc = store_sqlite_open(state_folder, &store, err);

	if (rc < 0)
		return rc;
	if (store->functions->get(store, name, &own, NULL) == 0 && !record_is_finished(&own))
		return err_set(err, ERR_NOT_FOUND, "job '%s' is a job on this machine", name);
	return find_listed(store, name, ret_job, err);
}

int cluster_job_record_get(const char *state_folder, const char *record_name,
			   struct cluster_job_record *ret_job, struct err *err)
{
	struct store_record record CLEANUP(store_record_done) = {0};
	struct store *store CLEANUP(store_cleanup) = NULL;
	int rc = store_sqlite_open(state_folder, &store, err);

	if (rc == 0)
		rc = store->functions->get(store, record_name, &record, err);
	if (rc == 0 && !claim_cluster_job_record(&record, ret_job))
		rc = err_set(err, ERR_NOT_FOUND, "job '%s' is not a job on a cluster", record_name);
	return rc;
}

static bool is_at(const struct cluster_job_place *one, const struct cluster_job_place *other)
{
	return text_equals(one->server, other->server) &&
	       text_equals(one->namespace_name, other->namespace_name);
}

static bool find_record_at(struct store *store, const char *record_name,
			   const struct cluster_job_place *place,
			   struct cluster_job_record *ret_job)
{
	struct store_record record CLEANUP(store_record_done) = {0};

	if (store->functions->get(store, record_name, &record, NULL) < 0 ||
	    !claim_cluster_job_record(&record, ret_job))
		return false;
	if (is_at(&ret_job->at, place))
		return true;
	cluster_job_record_done(ret_job);
	return false;
}

int cluster_job_record_find_at(const char *state_folder, const struct cluster_job_place *place,
			       const char *name, struct cluster_job_record *ret_job,
			       struct err *err)
{
	char *record_name CLEANUP(mem_free_text) =
		cluster_job_record_name(place->namespace_name, name);
	struct store *store CLEANUP(store_cleanup) = NULL;
	int rc = store_sqlite_open(state_folder, &store, err);

	if (rc == 0 && !find_record_at(store, record_name, place, ret_job) &&
	    !find_record_at(store, name, place, ret_job))
		rc = err_set(err, ERR_NOT_FOUND, "job '%s' not found", name);
	return rc;
}

int cluster_job_record_read(const char *state_folder, const char *place, const char *name,
			    const char *uid, struct job **ret_job, struct err *err)
{
	struct json *json CLEANUP(json_cleanup) = NULL;
	struct cluster_job_record known CLEANUP(cluster_job_record_done) = {0};
	struct cluster_job_place at = {0};

	if (!read_known_place(place, &json, &at))
		return err_set(err, ERR_INVALID, "'%s' does not name the place of a job", place);
	int rc = cluster_job_record_find_at(state_folder, &at, name, &known, err);

	if (rc == 0 && !text_equals(known.record.uid, uid))
		rc = err_set(err, ERR_NOT_FOUND, "job '%s' is a different job", name);
	return rc < 0 ? rc : record_read_job(&known.record, ret_job, err);
}

/* Cleaning up. */

static int clean_up_record(struct store *store, const char *state_folder,
			   const struct store_record *record, const char *reason, const char *why,
			   struct err *err)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct job *job CLEANUP(job_cleanup) = NULL;
	struct status status;
	struct plan plan;
	int rc = record_read(record, arena, &job, &status, err);

	if (rc < 0)
		return rc;
	reconcile_lost(job, &status, reason, why, loop_now(), arena, &plan);
	struct store_record ended CLEANUP(store_record_done) =
		record_new(job, &plan.status, false, record->supervisor, record->created);
	return finished_job_save(store, state_folder, record->name, &ended, err);
}

int cluster_job_record_finish(const char *state_folder, const char *record_name, const char *reason,
			      const char *why, struct err *err)
{
	struct store_record record CLEANUP(store_record_done) = {0};
	struct store *store CLEANUP(store_cleanup) = NULL;
	int rc = store_sqlite_open(state_folder, &store, err);

	if (rc == 0)
		rc = store->functions->get(store, record_name, &record, err);
	if (rc == 0 && !record_is_finished(&record))
		rc = clean_up_record(store, state_folder, &record, reason, why, err);
	return rc == ERR_NOT_FOUND ? 0 : rc;
}
