/* The owner of all other objects of a job has to exist first. */
#include "cluster/registration.h"

#include "cluster/store_record.h"
#include "jobs/reconciler.h"
#include "jobs/record.h"
#include "jobs/registration.h"
#include "kube/objects.h"
#include "kube/rights.h"
#include "kube/tfjob_objects.h"
#include "kube/wait.h"

#define PAUSE (MSEC_PER_SECOND / 2)
#define MOST_TRIES 20

/* The permissions that some jobs need. */
static const struct kube_right secret_rights[] = {{KUBE_CREATE, &kube_secrets}};
static const struct kube_right exec_rights[] = {
	{KUBE_GET, &kube_pods},
	{KUBE_GET, &kube_pods, "exec"},
	{KUBE_CREATE, &kube_pods, "exec"},
};
#define WITHOUT_POLICY "or use --no-network-policy, which needs no rights on networkpolicies"
static const struct kube_right network_policy_rights[] = {
	{KUBE_CREATE, &kube_network_policies, NULL, WITHOUT_POLICY},
	{KUBE_LIST, &kube_network_policies, NULL, WITHOUT_POLICY},
	{KUBE_WATCH, &kube_network_policies, NULL, WITHOUT_POLICY},
};
/* And those that all need. */
static const struct kube_right job_rights[] = {
	{KUBE_CREATE, &kube_config_maps}, {KUBE_GET, &kube_config_maps},
	{KUBE_LIST, &kube_config_maps},   {KUBE_WATCH, &kube_config_maps},
	{KUBE_PATCH, &kube_config_maps},  {KUBE_DELETE, &kube_config_maps},
	{KUBE_CREATE, &kube_services},    {KUBE_LIST, &kube_services},
	{KUBE_WATCH, &kube_services},     {KUBE_CREATE, &kube_pods},
	{KUBE_LIST, &kube_pods},          {KUBE_WATCH, &kube_pods},
	{KUBE_DELETE, &kube_pods},        {KUBE_GET, &kube_pods, "log"},
	{KUBE_CREATE, &kube_leases},      {KUBE_GET, &kube_leases},
	{KUBE_PATCH, &kube_leases},       {KUBE_DELETE, &kube_leases},
};

struct rights {
	struct kube_right list[ARRAY_LEN(secret_rights) + ARRAY_LEN(job_rights) +
			       ARRAY_LEN(network_policy_rights) + ARRAY_LEN(exec_rights)];
	size_t count;
};

static void add_rights(struct rights *rights, const struct kube_right *list, size_t count,
		       bool are_needed)
{
	for (size_t i = 0; i < count && are_needed; i++)
		rights->list[rights->count++] = list[i];
}

/* Its owner was deleted or is an earlier job of this name: it is deleted with that owner. */
static bool is_of_earlier_job(const struct json *service, const struct job *job)
{
	const struct json *metadata = json_get(service, "metadata");
	const struct json *labels = json_get(metadata, "labels");
	const char *manager = json_get_string(labels, OBJECTS_LABEL_MANAGED_BY, NULL);

	return text_equals(manager, OBJECTS_MANAGED_BY) &&
	       text_equals(json_get_string(labels, OBJECTS_LABEL_JOB, NULL), job->name) &&
	       json_count(json_get(metadata, "ownerReferences")) > 0;
}

static int check_service(const struct json *services, const struct job *job, struct err *err)
{
	const struct json *items = json_get(services, "items");

	if (json_count(items) == 0 || is_of_earlier_job(json_at(items, 0), job))
		return 0;
	return err_set(err, ERR_EXISTS,
		       "Service '%s' in namespace '%s' does not belong to job '%s', whose Pods "
		       "need a Service of that name to find each other; choose another --name, or "
		       "delete it if it is not used (kubectl -n %s delete service %s)",
		       job->name, job->name_space, job->name, job->name_space, job->name);
}

int registration_kube_check_before_attach(struct kube_api *api, const char *namespace_name,
					  struct err *err)
{
	return kube_rights_check(api, namespace_name, job_rights, ARRAY_LEN(job_rights), NULL, NULL,
				 err);
}

int registration_kube_check_network_policy(struct kube_api *api, const struct job *job,
					   struct err *err)
{
	return !job->has_network_policy
		       ? 0
		       : kube_rights_check(api, job->name_space, network_policy_rights,
					   ARRAY_LEN(network_policy_rights), NULL, NULL, err);
}

/* A list, because a user who runs jobs may list Services, but may not be permitted to get one. */
int registration_kube_check_before_run(struct kube_api *api, const struct job *job,
				       bool makes_secret, struct err *err)
{
	char *selector CLEANUP(mem_free_text) = mem_format("metadata.name=%s", job->name);
	const struct kube_parameter parameters[] = {{"fieldSelector", selector}, {0}};
	const struct kube_request list = {KUBE_LIST, &kube_services, job->name_space,
					  .parameters = parameters};
	struct json *services CLEANUP(json_cleanup) = NULL;
	struct rights rights = {0};

	add_rights(&rights, secret_rights, ARRAY_LEN(secret_rights), makes_secret);
	add_rights(&rights, job_rights, ARRAY_LEN(job_rights), true);
	add_rights(&rights, network_policy_rights, ARRAY_LEN(network_policy_rights),
		   job->has_network_policy);
	add_rights(&rights, exec_rights, ARRAY_LEN(exec_rights), job->n_fetches > 0);
	int rc = kube_rights_check(api, job->name_space, rights.list, rights.count, &list,
				   &services, err);

	return rc < 0 ? rc : check_service(services, job, err);
}

static int replace_finished(struct store *store, const struct job *job, const char *job_words,
			    bool replaces_finished, const struct observed *observed, msec now,
			    struct err *err)
{
	struct store_record old CLEANUP(store_record_done) = {0};
	int rc = store->functions->get(store, job->name, &old, err);

	if (rc == ERR_INVALID)
		return err_set(err, ERR_EXISTS,
			       "ConfigMap '%s.job' in namespace '%s' does not belong to muster; "
			       "choose another --name",
			       job->name, job->name_space);
	if (rc < 0)
		return rc;
	if (!record_is_finished(&old))
		return err_set(err, ERR_EXISTS,
			       "job '%s' already exists in namespace '%s' and has not ended; "
			       "choose another --name, or stop it: muster stop %s",
			       job->name, job->name_space, job_words);
	if (!replaces_finished)
		return err_set(err, ERR_EXISTS,
			       "job '%s' already exists in namespace '%s' and has ended; use "
			       "--replace to replace it, or choose another --name",
			       job->name, job->name_space);
	return reconciler_create_job(store, job, old.uid, "", observed, now, err);
}

/* The uid that it has before is a mark by which its record is found should the answer be lost. */
int registration_kube_register(struct store *store, struct job *job, const char *job_words,
			       bool replaces_finished, const struct observed *observed, msec now,
			       struct err *err)
{
	struct store_record record CLEANUP(store_record_done) = {0};

	job_uid_set_new(job);
	int rc = reconciler_create_job(store, job, NULL, "", observed, now, err);

	if (rc == ERR_EXISTS)
		rc = replace_finished(store, job, job_words, replaces_finished, observed, now, err);
	if (rc == 0)
		rc = store->functions->get(store, job->name, &record, err);
	if (rc == 0)
		job_set_uid(job, record.uid);
	return rc;
}

int registration_kube_find(struct store *store, const char *name, struct job **ret_job,
			   msec *ret_created, bool *ret_has_started, struct err *err)
{
	struct store_record record CLEANUP(store_record_done) = {0};
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct status status = {0};
	struct job *job = NULL;
	int rc = store->functions->get(store, name, &record, err);

	if (rc == 0)
		rc = record_read(&record, arena, &job, &status, err);
	if (rc < 0)
		return rc;
	*ret_job = job;
	*ret_created = record.created;
	*ret_has_started = status.n_replicas > 0 || status_is_finished(&status);
	return 0;
}

static void on_registration_timer(void *data)
{
	loop_stop(data);
}

static void wait_for(struct loop *loop, msec pause)
{
	struct loop_watch *timer = loop_new_timer(loop, on_registration_timer, loop);

	loop_timer_arm_after(timer, pause);
	loop_run(loop);
	loop_watch_free(timer);
}

int registration_kube_create_secret(struct kube_api *api, const struct job *job,
				    const struct job_secret *secret, struct err *err)
{
	if (!secret->name)
		return 0;
	struct json *object CLEANUP(json_cleanup) = objects_secret_new(job, secret, job->uid);
	const struct kube_request create = {KUBE_CREATE, &kube_secrets, job->name_space,
					    .body = object};

	int rc = kube_wait(api, &create, NULL, err);

	/* An earlier job's Secret is deleted a moment after that job, and no watch reports it: the
	 * permission to create Secrets does not include reading them. */
	for (int i = 0; rc == ERR_EXISTS && i < MOST_TRIES; i++) {
		wait_for(api->loop, PAUSE);
		rc = kube_wait(api, &create, NULL, err);
	}
	return rc;
}

/* One after the other, until the first error. */
static int create_all(struct kube_api *api, const struct job *job, const struct json *list,
		      struct err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < json_count(list); i++) {
		const struct kube_request create = {KUBE_CREATE, kube_resource_of(json_at(list, i)),
						    job->name_space, .body = json_at(list, i)};

		rc = kube_wait(api, &create, NULL, err);
	}
	return rc;
}

int registration_kube_create_files(struct kube_api *api, const struct job *job,
				   const struct job_file *files, size_t n_files, struct err *err)
{
	struct json *list CLEANUP(json_cleanup) = json_new_array();
	int rc = objects_add_files(job, files, n_files, job->uid, list, err);

	return rc < 0 ? rc : create_all(api, job, list, err);
}

/* TFJobs. */

static int check_submission_rights(const struct tfjob_submission *submission, struct err *err)
{
	struct kube_right rights[3] = {{KUBE_CREATE, &kube_tfjobs}};
	size_t count = 1;

	if (submission->n_files)
		rights[count++] = (struct kube_right){KUBE_CREATE, &kube_config_maps};
	if (submission->secret->name)
		rights[count++] = (struct kube_right){KUBE_CREATE, &kube_secrets};
	return kube_rights_check(submission->api, submission->job->name_space, rights, count, NULL,
				 NULL, err);
}

static int call_tfjob(const struct tfjob_submission *submission, enum kube_verb verb,
		      const struct json *body, struct json **ret_object, struct err *err)
{
	const struct kube_request request = {verb, &kube_tfjobs, submission->job->name_space,
					     verb == KUBE_CREATE ? NULL : submission->job->name,
					     .body = body};

	return kube_wait(submission->api, &request, ret_object, err);
}

static int create_submitted_tfjob(const struct tfjob_submission *submission, struct json **ret_made,
				  struct err *err)
{
	int rc = call_tfjob(submission, KUBE_CREATE, submission->job->document, ret_made, err);

	if (rc == ERR_NOT_FOUND)
		return err_set(err, rc,
			       "the cluster has no definition of TFJobs; to add it, and an "
			       "operator: 'muster operator install'");
	return rc;
}

/* Deletes the object of this name, if it is a TFJob that has finished and may be deleted. */
static int delete_finished(const struct tfjob_submission *submission, struct err *err)
{
	const struct job *job = submission->job;
	struct json *object CLEANUP(json_cleanup) = NULL;
	struct store_record record CLEANUP(store_record_done) = {0};
	int rc = call_tfjob(submission, KUBE_GET, NULL, &object, err);

	if (rc == 0)
		rc = store_kube_tfjobs.read(object, &record, err);
	if (rc < 0)
		return rc;
	if (!record_is_finished(&record))
		return err_set(err, ERR_EXISTS,
			       "TFJob '%s' already exists in namespace '%s' and has not finished; "
			       "choose another --name, or delete it: muster delete %s",
			       job->name, job->name_space, submission->job_words);
	if (!submission->replaces_finished)
		return err_set(err, ERR_EXISTS,
			       "TFJob '%s' already exists in namespace '%s' and has finished; "
			       "replace it with --replace, or choose another --name",
			       job->name, job->name_space);
	struct json *options CLEANUP(json_cleanup) = kube_delete_options_new(record.uid);

	rc = call_tfjob(submission, KUBE_DELETE, options, NULL, err);
	return rc == ERR_NOT_FOUND ? 0 : rc;
}

static int make_tfjob(const struct tfjob_submission *submission, struct err *err)
{
	struct json *made CLEANUP(json_cleanup) = NULL;
	int rc = create_submitted_tfjob(submission, &made, err);

	if (rc == ERR_EXISTS) {
		rc = delete_finished(submission, err);
		if (rc == 0)
			rc = create_submitted_tfjob(submission, &made, err);
	}
	if (rc < 0)
		return rc;
	job_set_uid(submission->job,
		    json_as_string(json_get_path(made, "metadata", "uid", NULL), ""));
	return 0;
}

/* The objects of files and variables, as for `run --on kubernetes`, but with another owner. */
static int list_parts(const struct tfjob_submission *submission, struct json *list, struct err *err)
{
	const struct job *job = submission->job;
	int rc = objects_add_files(job, submission->files, submission->n_files, NULL, list, err);

	if (rc == 0 && submission->secret->name)
		json_append(list, objects_secret_new(job, submission->secret, NULL));
	for (size_t i = 0; rc == 0 && i < json_count(list); i++)
		json_set(json_get(json_at(list, i), "metadata"), "ownerReferences",
			 tfjob_owner_references_new(job, job->uid));
	return rc;
}

int tfjob_submit(const struct tfjob_submission *submission, struct err *err)
{
	struct json *list CLEANUP(json_cleanup) = json_new_array();
	int rc = check_submission_rights(submission, err);

	if (rc == 0)
		rc = make_tfjob(submission, err);
	if (rc < 0)
		return rc;
	rc = list_parts(submission, list, err);
	if (rc == 0)
		rc = create_all(submission->api, submission->job, list, err);
	if (rc < 0) {
		struct json *options CLEANUP(json_cleanup) =
			kube_delete_options_new(submission->job->uid);

		(void) !call_tfjob(submission, KUBE_DELETE, options, NULL, NULL);
	}
	return rc;
}

static const struct kube_parameter strictly[] = {
	{"dryRun", "All"},
	{"fieldValidation", "Strict"},
	{NULL, NULL},
};

static bool is_alike(const struct kube_answer *a, const struct kube_answer *b)
{
	return a->err.code == b->err.code &&
	       text_equals(kube_refusal_why(a->err.text), kube_refusal_why(b->err.text));
}

static void add_dry_run_fault(const struct kube_answer *answers, size_t count, size_t place,
			      struct text *faults)
{
	size_t n_more = 0;

	for (size_t i = 0; i < place; i++)
		if (is_alike(&answers[i], &answers[place]))
			return;
	for (size_t i = place + 1; i < count; i++)
		n_more += is_alike(&answers[i], &answers[place]);
	text_add(faults, answers[place].err.text);
	if (n_more > 0)
		text_addf(faults, " (and %zu more)", n_more);
	text_add_char(faults, '\n');
}

static int collect_dry_run_faults(const struct kube_answer *answers, size_t count,
				  struct text *faults, struct err *err)
{
	for (size_t i = 0; i < count; i++)
		if (answers[i].err.code == ERR_UNREACHABLE)
			return err_set(err, ERR_UNREACHABLE, "%s", answers[i].err.text);
	for (size_t i = 0; i < count; i++)
		if (answers[i].err.code)
			add_dry_run_fault(answers, count, i, faults);
	return 0;
}

int server_dry_run(struct kube_api *api, const struct job *job, const struct job_file *files,
		   size_t n_files, const struct job_secret *secret, struct text *faults,
		   struct err *err)
{
	struct json *list CLEANUP(json_cleanup) = json_new_array();
	int rc = objects_add_all(job, files, n_files, secret, list, err);

	if (rc < 0)
		return rc;
	size_t count = json_count(list);
	struct kube_request *requests CLEANUP(mem_free_any) =
		mem_new_array(count, sizeof(*requests));
	struct kube_answer *answers = mem_new_array(count, sizeof(*answers));

	for (size_t i = 0; i < count; i++)
		requests[i] = (struct kube_request){KUBE_CREATE, kube_resource_of(json_at(list, i)),
						    job->name_space, .parameters = strictly,
						    .body = json_at(list, i)};

	kube_wait_all(api, requests, count, answers);
	rc = collect_dry_run_faults(answers, count, faults, err);
	kube_answers_free(answers, count);
	return rc;
}
