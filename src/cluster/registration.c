#include "cluster/registration.h"

#include "cluster/store_record.h"
#include "jobs/record.h"
#include "kube/objects.h"
#include "kube/rights.h"
#include "kube/tfjob_objects.h"
#include "kube/wait.h"

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

/* TFJobs: the owner of all other objects of a job has to exist first. */

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
	for (size_t i = 0; i < count && rc == 0; i++)
		if (answers[i].err.code == ERR_UNREACHABLE)
			rc = err_set(err, ERR_UNREACHABLE, "%s", answers[i].err.text);
	for (size_t i = 0; i < count && rc == 0; i++)
		if (answers[i].err.code)
			add_dry_run_fault(answers, count, i, faults);
	kube_answers_free(answers, count);
	return rc;
}
