#include "cluster/tfjob_changes.h"

#include "base/mem.h"
#include "base/text.h"
#include "jobs/client.h"
#include "jobs/record.h"
#include "kube/wait.h"
#include "spec/job.h"

bool tfjob_may_change(const struct job_view *view)
{
	const struct store_record *record = job_view_record(view);
	struct job *job CLEANUP(job_cleanup) = NULL;

	if (!record_is_finished(record))
		return true;
	if (record_read_job(record, &job, NULL) < 0)
		return false;
	return (job->clean_policy != CLEAN_NONE || job->stop_reason) &&
	       job_view_live_pod_count(view) > 0;
}

static struct kube_request tfjob_request_of(const struct tfjob_place *place,
					    const struct job_view *view, enum kube_verb verb,
					    const struct json *body)
{
	return (struct kube_request){
		.verb = verb,
		.resource = &kube_tfjobs,
		.namespace_name = place->namespace_name,
		.name = job_view_name(view),
		.body = body,
	};
}

/* Patches this job only, and no later one of its name. Other clients' changes meanwhile stay. */
static int send_patch(const struct tfjob_place *place, const struct job_view *view,
		      const struct json *patch, struct err *err)
{
	struct json *body CLEANUP(json_cleanup) = json_new_copy(patch);

	json_set_string(json_object_at(body, "metadata"), "uid", job_view_record(view)->uid);
	const struct kube_request request = tfjob_request_of(place, view, KUBE_PATCH, body);

	return kube_wait(place->api, &request, NULL, err);
}

int tfjob_patch(const struct tfjob_place *place, const struct job_view *view,
		const struct json *patch, struct err *err)
{
	int rc = record_check_patch(job_view_record(view), patch, err);

	return rc < 0 ? rc : send_patch(place, view, patch, err);
}

/* Training-operator knows no stop request. */
static int check_managed_by_muster(const struct tfjob_place *place, const struct job_view *view,
				   struct err *err)
{
	const struct store_record *record = job_view_record(view);
	char *words CLEANUP(mem_free_text) =
		job_words_new(place->namespace_name, record->name, place->choice);
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

int tfjob_stop(const struct tfjob_place *place, const struct job_view *view, const char *reason,
	       msec grace, struct err *err)
{
	struct json *patch CLEANUP(json_cleanup) = NULL;
	int rc = check_managed_by_muster(place, view, err);

	if (rc == 0)
		rc = record_stop_patch(job_view_record(view), reason, grace, &patch, err);
	return rc < 0 || !patch ? rc : send_patch(place, view, patch, err);
}

/* The garbage collector deletes what it owns, Pods with their own grace period. */
int tfjob_remove(const struct tfjob_place *place, const struct job_view *view, struct err *err)
{
	struct json *options CLEANUP(json_cleanup) =
		kube_delete_options_new(job_view_record(view)->uid);

	json_set_string(options, "propagationPolicy", "Background");
	const struct kube_request request = tfjob_request_of(place, view, KUBE_DELETE, options);
	int rc = kube_wait(place->api, &request, NULL, err);

	return rc == ERR_NOT_FOUND || rc == ERR_CONFLICT ? 0 : rc; /* it was deleted */
}
