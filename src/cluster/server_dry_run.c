#include "cluster/server_dry_run.h"

#include "base/mem.h"
#include "kube/objects.h"
#include "kube/wait.h"

static const struct kube_parameter strictly[] = {
	{"dryRun", "All"},
	{"fieldValidation", "Strict"},
	{NULL, NULL},
};

static struct kube_request *requests_new(const struct job *job, const struct json *list)
{
	struct kube_request *requests = mem_new_array(json_count(list), sizeof(*requests));

	for (size_t i = 0; i < json_count(list); i++)
		requests[i] = (struct kube_request){
			.verb = KUBE_CREATE,
			.resource = kube_resource_of(json_at(list, i)),
			.namespace_name = job->name_space,
			.parameters = strictly,
			.body = json_at(list, i),
		};
	return requests;
}

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
	struct kube_request *requests CLEANUP(mem_free_any) = requests_new(job, list);
	struct kube_answer *answers = mem_new_array(count, sizeof(*answers));

	kube_wait_all(api, requests, count, answers);
	rc = collect_dry_run_faults(answers, count, faults, err);
	kube_answers_free(answers, count);
	return rc;
}
