#include "jobs/cluster_job_record.h"

#include "io/loop.h"
#include "jobs/orphaned_job.h"
#include "jobs/record.h"
#include "jobs/supervisor_id.h"
#include "reconcile/reconcile.h"
#include "reconcile/status_seen.h"

/* Places. */

char *cluster_job_place_write(const struct cluster_job_place *place)
{
	struct json *json CLEANUP(json_cleanup) = json_new_object();

	json_set(json, "cluster",
		 json_new_texts("server", place->server, "context", place->context, "kubeconfig",
				place->kubeconfig, "namespace", place->namespace_name, NULL));
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
		.server = json_get_string(cluster, "server", NULL),
		.context = json_get_string(cluster, "context", NULL),
		.kubeconfig = json_get_string(cluster, "kubeconfig", NULL),
		.namespace_name = json_get_string(cluster, "namespace", NULL),
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
	const struct store_change change = {
		.document = record->document,
		.status = record->status,
		.summary = record->summary,
		.supervisor = record->supervisor,
	};
	int64_t version;
	int rc = store->functions->get(store, record->name, &old, err);

	if (rc < 0)
		return rc;
	if (text_equals(old.uid, record->uid))
		return store->functions->change(store, record->name, old.version, &change, &version,
						err);
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

static int find_listed(struct store *store, const char *name, struct cluster_job_record *ret_job)
{
	struct store_list list CLEANUP(store_list_done) = {0};
	int rc = store->functions->list(store, STORE_SUMMARY, &list, NULL);

	for (size_t i = list.count; rc == 0 && i-- > 0;) {
		struct store_record *record = &list.records[i];
		const char *slash = strrchr(record->name, '/');

		if (slash && text_equals(slash + 1, name) && !record_is_finished(record) &&
		    claim_cluster_job_record(record, ret_job))
			return 0;
	}
	return rc < 0 ? rc : ERR_NOT_FOUND;
}

int cluster_job_record_find(const char *state_folder, const char *name,
			    struct cluster_job_record *ret_job)
{
	struct store_record own CLEANUP(store_record_done) = {0};
	struct store *store CLEANUP(store_cleanup) = NULL;
	int rc = store_sqlite_open(state_folder, &store, NULL);

	if (rc < 0)
		return rc;
	if (store->functions->get(store, name, &own, NULL) == 0 && !record_is_finished(&own))
		return ERR_NOT_FOUND; /* it is a job on this machine */
	return find_listed(store, name, ret_job);
}

int cluster_job_record_get(const char *state_folder, const char *record_name,
			   struct cluster_job_record *ret_job)
{
	struct store_record record CLEANUP(store_record_done) = {0};
	struct store *store CLEANUP(store_cleanup) = NULL;
	int rc = store_sqlite_open(state_folder, &store, NULL);

	if (rc == 0)
		rc = store->functions->get(store, record_name, &record, NULL);
	return rc == 0 && !claim_cluster_job_record(&record, ret_job) ? ERR_NOT_FOUND : rc;
}

static bool find_record_at(struct store *store, const char *record_name,
			   const struct cluster_job_place *place,
			   struct cluster_job_record *ret_job)
{
	struct store_record record CLEANUP(store_record_done) = {0};

	if (store->functions->get(store, record_name, &record, NULL) < 0 ||
	    !claim_cluster_job_record(&record, ret_job))
		return false;
	if (text_equals(ret_job->at.server, place->server) &&
	    text_equals(ret_job->at.namespace_name, place->namespace_name))
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

/* Finished jobs. A record is copied as last written, maybe before the last Pods exited. */

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

static int save_ended(struct store *store, const char *state_folder, const char *record_name,
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
		replica->node = NULL;
		for (size_t j = 0; j < observed->n_replicas && !replica->node; j++) {
			const struct observed_replica *seen = &observed->replicas[j];

			if (seen->index == replica->index && seen->attempt == replica->attempt &&
			    text_equals(seen->role, replica->role))
				replica->node = seen->node;
		}
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

int cluster_job_record_save_finished(const char *state_folder, const char *record_name,
				     const char *place, const struct store_record *record,
				     const struct observed *observed, struct err *err)
{
	struct store_record ended CLEANUP(store_record_done) = {0};
	struct store *store CLEANUP(store_cleanup) = NULL;
	int rc = end_record(record, place, observed, &ended, err);

	if (rc == 0)
		rc = store_sqlite_open(state_folder, &store, err);
	return rc < 0 ? rc : save_ended(store, state_folder, record_name, &ended, err);
}

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
	return save_ended(store, state_folder, record->name, &ended, err);
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
