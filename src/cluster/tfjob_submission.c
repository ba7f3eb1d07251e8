#include "cluster/tfjob_submission.h"

#include "base/mem.h"
#include "base/text.h"
#include "cluster/tfjob_record.h"
#include "jobs/record.h"
#include "kube/objects.h"
#include "kube/rights.h"
#include "kube/tfjob_objects.h"
#include "kube/wait.h"

static int check_rights(const struct tfjob_submission *submission, struct err *err)
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

static int send_submission_request(const struct tfjob_submission *submission,
				   struct kube_request request, struct json **ret_object,
				   struct err *err)
{
	request.namespace_name = submission->job->name_space;
	return kube_wait(submission->api, &request, ret_object, err);
}

static int call_tfjob(const struct tfjob_submission *submission, enum kube_verb verb,
		      const struct json *body, struct json **ret_object, struct err *err)
{
	return send_submission_request(
		submission,
		(struct kube_request){
			.verb = verb,
			.resource = &kube_tfjobs,
			.name = verb == KUBE_CREATE ? NULL : submission->job->name,
			.body = body,
		},
		ret_object, err);
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

/* The objects of files and variables, as `run --on kubernetes` creates them, but with another
 * owner. */
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

static int make_parts(const struct tfjob_submission *submission, const struct json *list,
		      struct err *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < json_count(list); i++)
		rc = send_submission_request(submission,
					     (struct kube_request){
						     .verb = KUBE_CREATE,
						     .resource = kube_resource_of(json_at(list, i)),
						     .body = json_at(list, i),
					     },
					     NULL, err);
	return rc;
}

static void delete_submitted_tfjob(const struct tfjob_submission *submission)
{
	struct json *options CLEANUP(json_cleanup) = kube_delete_options_new(submission->job->uid);
	int rc = call_tfjob(submission, KUBE_DELETE, options, NULL, NULL);

	(void) rc; /* there is nothing else to try */
}

int tfjob_submit(const struct tfjob_submission *submission, struct err *err)
{
	struct json *list CLEANUP(json_cleanup) = json_new_array();
	int rc = check_rights(submission, err);

	if (rc == 0)
		rc = make_tfjob(submission, err);
	if (rc < 0)
		return rc;
	rc = list_parts(submission, list, err);
	if (rc == 0)
		rc = make_parts(submission, list, err);
	if (rc < 0)
		delete_submitted_tfjob(submission);
	return rc;
}
