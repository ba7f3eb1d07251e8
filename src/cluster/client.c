#include "cluster/client.h"

#include "cluster/job_view.h"
#include "cluster/store.h"
#include "jobs/cluster_job_record.h"
#include "jobs/orphaned_job.h"
#include "jobs/record.h"
#include "jobs/state_folder.h"
#include "jobs/supervisor_id.h"
#include "kube/mirror_table.h"
#include "kube/objects.h"
#include "kube/pages.h"
#include "kube/wait.h"
#include "logs/folder.h"

struct client_kube {
	struct client base;
	struct client_kube_settings settings; /* its texts are owned */
	struct kube_api *api;
	struct store *store;
	struct mirror_table views; /* of struct job_view, by name: of jobs that were read */
};

static const struct client_functions kube_functions;

static int connect(const struct client_kube *client, struct loop *loop, struct kube_api **ret_api,
		   struct err *err)
{
	return kube_api_connect(loop, client->settings.log_in, client->settings.log_in_data,
				ret_api, err);
}

static struct job_view *add_view(struct client_kube *client, const char *name, bool is_of_tfjobs)
{
	const struct job_view_settings settings = {
		.api = client->api,
		.namespace_name = client->settings.namespace_name,
		.is_of_tfjobs = is_of_tfjobs,
		.on_trouble = client->settings.on_trouble,
		.data = client->settings.data,
	};

	return mirror_table_put(&client->views, name)->kept = job_view_new(&settings, name);
}

/* The name may be that of the view itself. */
static void drop_view(struct client_kube *client, const char *name)
{
	struct job_view *view = mirror_table_get(&client->views, name);

	mirror_table_drop(&client->views, name);
	job_view_free(view);
}

static int sync_view(struct client_kube *client, struct job_view *view, struct job_view **ret_view,
		     struct err *err)
{
	const char *name = view->name;
	int rc = job_view_sync(view, err);

	if (rc == 0 && !view->record)
		rc = err_set(err, ERR_NOT_FOUND, "job '%s' not found", name);
	if (rc < 0)
		drop_view(client, name);
	else
		*ret_view = view;
	return rc;
}

/* The job as it is now, or was last: one of `run --on kubernetes`, or else a TFJob. ERR_NOT_FOUND
 * when the first read did not find it. An error of reading the former is returned if there is no
 * such TFJob either. The view of a deleted job stays until the deletion was reported
 * (wait_for_change). */
static int find_synced_job_view(struct client_kube *client, const char *name,
				struct job_view **ret_view, struct err *err)
{
	struct job_view *known = mirror_table_get(&client->views, name);
	int rc = sync_view(client, known ? known : add_view(client, name, false), ret_view, err);

	if (known || (rc != ERR_NOT_FOUND && rc != ERR_REFUSED))
		return rc;
	return sync_view(client, add_view(client, name, true), ret_view, NULL) < 0 ? rc : 0;
}

/* TFJobs, which an operator manages: muster's (operator/operator.h), or training-operator. Changes
 * are patches of the object, as kubectl makes them; the operator acts on them. */

/* A finished job keeps the Pods that its cleanPodPolicy leaves; they are not waited for. */
static bool may_tfjob_change(const struct job_view *view)
{
	const struct store_record *record = view->record;
	struct job *job CLEANUP(job_cleanup) = NULL;

	if (!record_is_finished(record))
		return true;
	if (record_read_job(record, &job, NULL) < 0)
		return false;
	return (job->clean_policy != CLEAN_NONE || job->stop_reason) &&
	       job_view_pod_count(view, true) > 0;
}

/* Patches this job only, and no later one of its name. Other clients' changes meanwhile stay. */
static int send_tfjob_patch(const struct client_kube *client, const struct job_view *view,
			    const struct json *patch, struct err *err)
{
	struct json *body CLEANUP(json_cleanup) = json_new_copy(patch);
	const struct kube_request request = {KUBE_PATCH, &kube_tfjobs,
					     client->settings.namespace_name, view->name,
					     .body = body};

	json_set_string(json_object_at(body, "metadata"), "uid", view->record->uid);
	return kube_wait(client->api, &request, NULL, err);
}

/* Training-operator knows no stop request. */
static int check_managed_by_muster(const struct client_kube *client, const struct job_view *view,
				   struct err *err)
{
	const struct store_record *record = view->record;
	char *words CLEANUP(mem_free_text) = job_words_new(client->settings.namespace_name,
							   record->name, client->settings.choice);
	const char *operator= job_view_operator(view);

	if (text_equals(operator, CLIENT_OPERATOR_OURS))
		return 0;
	if (!*operator)
		return err_set(err, ERR_REFUSED,
			       "no operator manages job '%s' yet; to delete it: 'muster delete %s'",
			       record->name, words);
	return err_set(
		err, ERR_REFUSED,
		"job '%s' is managed by %s, and only 'muster operator' can stop a job; to stop its "
		"Pods and keep it: 'muster suspend %s'; to delete it: 'muster delete %s'",
		record->name, operator, words, words);
}

static int stop_tfjob(const struct client_kube *client, const struct job_view *view,
		      const char *reason, msec grace, struct err *err)
{
	struct json *patch CLEANUP(json_cleanup) = NULL;
	int rc = check_managed_by_muster(client, view, err);

	if (rc == 0)
		rc = record_stop_patch(view->record, reason, grace, &patch, err);
	return rc < 0 || !patch ? rc : send_tfjob_patch(client, view, patch, err);
}

/* The garbage collector deletes what it owns, Pods with their own grace period. */
static int remove_tfjob(const struct client_kube *client, const struct job_view *view,
			struct err *err)
{
	struct store *store CLEANUP(store_cleanup) =
		store_kube_of_tfjobs(client->api, client->settings.namespace_name);
	int rc = store->functions->remove(store, view->name, view->record->uid, err);

	return rc == ERR_NOT_FOUND ? 0 : rc; /* it was deleted */
}

static int kube_list(struct client *base, struct client_row **ret_rows, size_t *ret_count,
		     struct err *err)
{
	struct client_kube *client = (struct client_kube *) base;

	return client_kube_list(client->api, client->settings.namespace_name, ret_rows, ret_count,
				err);
}

static int kube_get(struct client *base, const char *name, struct json **ret_job, struct err *err)
{
	struct job_view *view;
	int rc = find_synced_job_view((struct client_kube *) base, name, &view, err);

	return rc < 0 ? rc : job_view_read(view, ret_job, err);
}

/* False when it was deleted, or has finished and has no supervisor that cleans up. */
static bool may_viewed_job_change(const struct job_view *view)
{
	if (view->is_gone)
		return false;
	if (view->settings.is_of_tfjobs)
		return may_tfjob_change(view);
	return !(job_view_is_unsupervised(view) && record_is_finished(view->record));
}

/* A waiting command must see how the job finished, although its record is deleted right after that:
 * an unreported record is reported before its deletion. */
static int kube_wait_for_change(struct client *base, const char *name, int64_t version,
				instant until, int64_t *ret_version, bool *ret_is_gone,
				struct err *err)
{
	struct client_kube *client = (struct client_kube *) base;
	struct job_view *view;
	int rc = find_synced_job_view(client, name, &view, err);

	*ret_is_gone = rc == ERR_NOT_FOUND;
	if (*ret_is_gone)
		return 0;
	if (rc == 0 && may_viewed_job_change(view))
		rc = job_view_wait(view, version, until, err);
	if (rc < 0)
		return rc;
	*ret_is_gone = view->is_gone && view->record_change <= version;
	*ret_version = view->is_gone ? view->record_change : view->n_changes;
	if (*ret_is_gone)
		drop_view(client, name);
	return 0;
}

static int kube_log_folder(struct client *base, const char *name, char **ret_folder,
			   struct err *err)
{
	struct client_kube *client = (struct client_kube *) base;
	struct job_view *view;
	int rc = find_synced_job_view(client, name, &view, err);

	if (rc < 0)
		return rc;
	char *folder CLEANUP(mem_free_text) =
		state_folder_job(client->settings.state_folder, view->record->uid);
	if (!log_folder_is_locked(folder))
		return err_set(err, ERR_NOT_FOUND,
			       "the logs of job '%s' are on the machine that supervises it", name);
	*ret_folder = TAKE(folder);
	return 0;
}

static int kube_fetch_logs(struct client *base, const char *name,
			   const struct client_logs_request *request, struct client_logs **ret_logs,
			   struct err *err)
{
	struct client_kube *client = (struct client_kube *) base;
	struct kube_api *api = NULL;
	struct job_view *view;
	struct job *job = NULL;
	int rc = find_synced_job_view(client, name, &view, err);

	if (rc == 0)
		rc = record_read_job(view->record, &job, err);
	if (rc < 0)
		return rc;
	rc = connect(client, request->loop, &api, err);
	if (rc < 0) {
		job_free(job);
		return rc;
	}
	bool is_of_tfjob = view->settings.is_of_tfjobs;
	const struct client_kube_logs_source source = {
		.api = api,
		.gives_api = true,
		.take_job = job,
		.is_of_tfjob = is_of_tfjob,
		.is_untouched = !is_of_tfjob && record_is_untouched(view->record),
	};

	*ret_logs = client_kube_logs_new(&source, request);
	return 0;
}

/* Without a supervisor, no process would read the change. */
static int refuse_unsupervised(const struct client_kube *client, const struct job_view *view,
			       struct err *err)
{
	const char *name = view->name;
	char *words CLEANUP(mem_free_text) =
		job_words_new(client->settings.namespace_name, name, client->settings.choice);

	char *owner CLEANUP(mem_free_text) = objects_owner_name(name);
	const struct kube_request request = {KUBE_GET, &kube_config_maps,
					     client->settings.namespace_name, owner};

	if (!job_view_is_unsupervised(view))
		return 0;
	/* The end of a Lease may be seen before the deletion of its job, which comes first: each
	 * has its own watch. */
	int rc = kube_wait(client->api, &request, NULL, err);

	if (rc == ERR_NOT_FOUND)
		return err_set(err, ERR_NOT_FOUND, "job '%s' not found", name);
	if (rc < 0)
		return rc;
	return err_set(err, ERR_REFUSED,
		       "job '%s' has no active supervisor; take it over with 'muster attach %s', "
		       "or delete it with 'muster delete %s'",
		       name, words, words);
}

static int kube_patch(struct client *base, const char *name, const struct json *patch,
		      struct err *err)
{
	struct client_kube *client = (struct client_kube *) base;
	struct job_view *view;
	int rc = find_synced_job_view(client, name, &view, err);

	if (rc < 0)
		return rc;
	if (view->settings.is_of_tfjobs) {
		rc = record_check_patch(view->record, patch, err);
		return rc < 0 ? rc : send_tfjob_patch(client, view, patch, err);
	}
	rc = refuse_unsupervised(client, view, err);
	return rc < 0 ? rc : record_patch(client->store, name, patch, err);
}

static int kube_stop(struct client *base, const char *name, const char *reason, msec grace,
		     struct err *err)
{
	struct client_kube *client = (struct client_kube *) base;
	struct job_view *view;
	int rc = find_synced_job_view(client, name, &view, err);

	if (rc < 0 || record_is_finished(view->record))
		return rc;
	if (view->settings.is_of_tfjobs)
		return stop_tfjob(client, view, reason, grace, err);
	rc = refuse_unsupervised(client, view, err);
	return rc < 0 ? rc : record_request_stop(client->store, name, reason, grace, err);
}

/* The muster process of this machine that supervises the job, by this machine's record; NULL: none.
 * The caller frees the text. */
static char *find_supervisor_here(const struct client_kube *client, const char *name)
{
	char *record_name CLEANUP(mem_free_text) =
		cluster_job_record_name(client->settings.namespace_name, name);
	struct cluster_job_record known CLEANUP(cluster_job_record_done) = {0};

	if (cluster_job_record_get(client->settings.state_folder, record_name, &known) < 0)
		return NULL;
	return TAKE(known.record.supervisor);
}

/* This machine may have supervised the job, and have a record and logs of it. */
static int remove_here(const struct client_kube *client, const char *name, const char *uid,
		       struct err *err)
{
	const char *folder = client->settings.state_folder;
	char *going_on CLEANUP(mem_free_text) =
		cluster_job_record_name(client->settings.namespace_name, name);
	struct store_record record CLEANUP(store_record_done) = {0};
	struct store *store CLEANUP(store_cleanup) = NULL;
	int rc = store_sqlite_open(folder, &store, err);

	if (rc < 0)
		return rc;
	rc = store->functions->get(store, name, &record, err);
	if (rc == 0 && text_equals(record.uid, uid))
		rc = orphaned_job_remove(store, folder, name, uid, err);
	else if (rc == 0 || rc == ERR_NOT_FOUND)
		rc = orphaned_job_remove(store, folder, going_on, uid, err);
	return rc == ERR_NOT_FOUND ? 0 : rc;
}

/* The supervisor stops and records its job, and deletes it. If the job has no supervisor, the
 * cluster deletes what it owns. */
static int end_in_order(struct client *base, struct job_view *view, struct err *err)
{
	int rc = 0;

	if (!job_view_is_unsupervised(view))
		rc = kube_stop(base, view->name, stop_reason_words[STOP_REQUESTED], -1, err);
	if (rc == ERR_INVALID) /* its supervisor cannot read the record either */
		return 0;
	while (rc == 0 && !view->is_gone && !job_view_is_unsupervised(view))
		rc = job_view_wait(view, view->n_changes, INSTANT_NEVER, err);
	return rc;
}

/* The objects of a job that have no owner: `kubectl apply` of the output of `muster render --as
 * pods` creates objects without owner references, because the uid of the job's ConfigMap is not yet
 * known. They are found by the job's labels. Objects with an owner, ours or another, are excluded:
 * they are deleted with their owner.
 *
 * Secrets are not listed, because that permission would expose all Secrets of the namespace. The
 * Secret of the job's variables is found by its name. */

struct orphans {
	const struct client_kube *client;
	const char *job_name;
	bool has_secret; /* the job's document reads JOB.env */
	struct kube_request *deletions; /* one for each */
	size_t count, capacity;
	const struct kube_resource *listed; /* the kind that is listed now */
	size_t n_of_other_kinds;
	/* Why a kind could not be listed or the Secret not be reached; code 0: all were found. */
	struct err refusal;
};

static void drop_orphans_beyond(struct orphans *orphans, size_t count)
{
	while (orphans->count > count) {
		orphans->count--;
		free((char *) orphans->deletions[orphans->count].name);
		json_free((struct json *) orphans->deletions[orphans->count].body);
	}
}

static void orphans_done(struct orphans *orphans)
{
	drop_orphans_beyond(orphans, 0);
	free(orphans->deletions);
}

static void on_orphan_list_restart(void *data)
{
	struct orphans *orphans = data;

	drop_orphans_beyond(orphans, orphans->n_of_other_kinds);
}

static void on_orphan_candidate(const struct json *item, void *data)
{
	struct orphans *orphans = data;
	char *owner_name CLEANUP(mem_free_text) = objects_owner_name(orphans->job_name);
	const struct json *metadata = json_get(item, "metadata");
	const char *name = json_get_string(metadata, "name", NULL);
	const char *uid = json_get_string(metadata, "uid", NULL);
	bool is_owner = orphans->listed == &kube_config_maps && text_equals(name, owner_name);

	if (!name || !uid || json_count(json_get(metadata, "ownerReferences")) > 0 || is_owner)
		return;
	mem_grow(&orphans->deletions, &orphans->capacity, orphans->count,
		 sizeof(*orphans->deletions));
	orphans->deletions[orphans->count++] = (struct kube_request){
		KUBE_DELETE, orphans->listed, orphans->client->settings.namespace_name,
		mem_copy_text(name), .body = kube_delete_options_new(uid)};
}

/* Finds the Pods, Services, ConfigMaps and Leases, except the job's own ConfigMap. If a kind may
 * not be listed, the others are still found. Errors as in kube_pages_wait. */
static int find_orphans(struct orphans *orphans, struct err *err)
{
	const struct kube_resource *const kinds[] = {&kube_pods, &kube_services,
						     &kube_network_policies, &kube_config_maps,
						     &kube_leases};
	const struct client_kube *client = orphans->client;
	char *selector CLEANUP(mem_free_text) = objects_selector(orphans->job_name);
	const struct kube_parameter labels[] = {{"labelSelector", selector}, {0}};

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		const struct kube_request request = {
			KUBE_LIST, kinds[i], client->settings.namespace_name, .parameters = labels};
		struct err own = {0};

		orphans->listed = kinds[i];
		orphans->n_of_other_kinds = orphans->count;
		int rc = kube_pages_wait(client->api, &request, on_orphan_list_restart,
					 on_orphan_candidate, orphans, &own);

		if (rc < 0 && rc != ERR_REFUSED)
			return err_copy(err, &own);
		if (rc < 0 && !orphans->refusal.code)
			orphans->refusal = own;
	}
	return 0;
}

/* A Secret of another job or with an owner (422) is left unchanged. That, or none, is no error. */
static int adopt_secret(struct orphans *orphans, const char *owner_uid, struct err *err)
{
	char *name CLEANUP(mem_free_text) = job_secret_name(orphans->job_name);
	struct json *steps CLEANUP(json_cleanup) = json_new_array();
	const struct kube_request request = {KUBE_JSON_PATCH, &kube_secrets,
					     orphans->client->settings.namespace_name, name,
					     .body = steps};
	struct err own;

	json_patch_add_step(steps, "test", "/metadata/labels/muster~1job",
			    json_new_string(orphans->job_name));
	json_patch_add_step(steps, "test", "/metadata/ownerReferences", json_new_null());
	json_patch_add_step(steps, "add", "/metadata/ownerReferences",
			    objects_owner_references_new(orphans->job_name, owner_uid));
	int rc = kube_wait(orphans->client->api, &request, NULL, &own);

	if (rc == 0 || rc == ERR_NOT_FOUND || rc == ERR_INVALID)
		return 0;
	if (rc != ERR_REFUSED)
		return err_copy(err, &own);
	if (!orphans->refusal.code)
		orphans->refusal = own;
	return 0;
}

/* The garbage collector deletes what the ConfigMap owned, Pods with their own grace period. The
 * ConfigMap is last, so that failed deletions can be repeated. Others may write it meanwhile. */
static int remove_objects(struct client_kube *client, struct orphans *orphans, const char *uid,
			  struct err *err)
{
	const char *name = orphans->job_name;
	int rc = kube_wait_deleted(client->api, orphans->deletions, orphans->count, err);

	/* The Secret becomes owned by the job's ConfigMap, which is deleted next. */
	if (rc == 0 && orphans->has_secret)
		rc = adopt_secret(orphans, uid, err);
	/* A job's objects are created in the same way: if all that could be read have an owner,
	 * those that may not be read have one too. */
	if (rc == 0 && orphans->count > 0 && orphans->refusal.code)
		rc = err_set(err, ERR_REFUSED, "%s", orphans->refusal.text);
	if (rc < 0) {
		err_prefix(err, "cannot delete everything of job '%s'; its ConfigMap stays", name);
		return rc == ERR_NOT_FOUND ? 0 : rc;
	}
	rc = client->store->functions->remove(client->store, name, uid, err);
	return rc == ERR_NOT_FOUND ? 0 : rc;
}

static int remove_job(struct client *base, struct job_view *view, struct err *err)
{
	struct client_kube *client = (struct client_kube *) base;
	const struct store_record *record = view->record;
	struct orphans orphans CLEANUP(orphans_done) = {client, view->name};
	struct job *job CLEANUP(job_cleanup) = NULL;
	char *uid CLEANUP(mem_free_text) = mem_copy_text(record->uid);

	/* A record that cannot be read does not say whether there is a Secret: assume one. */
	orphans.has_secret = record_read_job(record, &job, NULL) < 0 || job_secret_is_named(job);
	/* First: later, an object of this name may be another job's. */
	int rc = find_orphans(&orphans, err);

	if (rc == 0)
		rc = end_in_order(base, view, err);
	if (rc == 0)
		rc = remove_objects(client, &orphans, uid, err);
	return rc;
}

static int kube_remove(struct client *base, const char *name, struct err *err)
{
	struct client_kube *client = (struct client_kube *) base;
	char *supervisor CLEANUP(mem_free_text) = find_supervisor_here(client, name);
	struct job_view *view;
	int rc = find_synced_job_view(client, name, &view, err);

	if (rc < 0)
		return rc;
	char *uid CLEANUP(mem_free_text) = mem_copy_text(view->record->uid);

	rc = view->settings.is_of_tfjobs ? remove_tfjob(client, view, err)
					 : remove_job(base, view, err);
	if (rc == 0)
		rc = job_view_sync(view, err);
	while (rc == 0 && job_view_pod_count(view, false) > 0)
		rc = job_view_wait(view, view->n_changes, INSTANT_NEVER, err);
	drop_view(client, name);
	if (rc < 0)
		return rc;
	supervisor_wait(supervisor,
			loop_instant_after(SUPERVISOR_EXIT_LIMIT)); /* for its last output */
	return remove_here(client, name, uid, err);
}

static void free_kube_client(struct client *base)
{
	struct client_kube *client = (struct client_kube *) base;
	struct job_view *view;

	if (!client)
		return;
	for (const void *at = NULL; (view = mirror_table_next(&client->views, &at));)
		job_view_free(view);
	mirror_table_done(&client->views);
	if (client->store)
		client->store->functions->free(client->store);
	kube_api_free(client->api);
	free((char *) client->settings.namespace_name);
	free((char *) client->settings.choice);
	free((char *) client->settings.state_folder);
	free(client);
}

int client_kube_new(const struct client_kube_settings *settings, struct client **ret_client,
		    struct err *err)
{
	struct client_kube *client = mem_new(sizeof(*client));

	client->base.functions = &kube_functions;
	client->settings = *settings;
	client->settings.namespace_name = mem_copy_text(settings->namespace_name);
	client->settings.choice = mem_copy_text(settings->choice);
	client->settings.state_folder = mem_copy_text(settings->state_folder);
	int rc = connect(client, NULL, &client->api, err);

	if (rc < 0) {
		free_kube_client(&client->base);
		return rc;
	}
	client->store = store_kube_new(client->api, client->settings.namespace_name);
	*ret_client = &client->base;
	return 0;
}

static const struct client_functions kube_functions = {
	.list = kube_list,
	.get = kube_get,
	.patch = kube_patch,
	.stop = kube_stop,
	.remove = kube_remove,
	.wait_for_change = kube_wait_for_change,
	.log_folder = kube_log_folder,
	.fetch_logs = kube_fetch_logs,
	.logs_known_until = client_kube_logs_known_until,
	.end_logs = client_kube_logs_free,
	.free = free_kube_client,
};
