/* Starts requests and runs the loop until all are answered. */
#include "kube/wait.h"

struct wait {
	struct loop *loop;
	size_t n_open;
};

struct waiting {
	struct wait *wait;
	struct kube_call *call; /* NULL: it has ended */
	struct kube_answer *answer;
};

static void on_waiting_call_done(const struct kube_result *result, void *data)
{
	struct waiting *waiting = data;

	*waiting->answer = (struct kube_answer){.http_code = result->status->code};
	if (result->err)
		waiting->answer->err = *result->err;
	if (result->object)
		waiting->answer->object = json_ref(result->object);
	if (--waiting->wait->n_open == 0)
		loop_stop(waiting->wait->loop);
}

void kube_wait_all(struct kube_api *api, const struct kube_request *requests, size_t count,
		   struct kube_answer *answers)
{
	struct loop *loop = api->loop;
	struct wait wait = {.loop = loop, .n_open = count};
	struct waiting *waiting CLEANUP(mem_free_any) = mem_new_array(count, sizeof(*waiting));

	for (size_t i = 0; i < count; i++) {
		waiting[i] = (struct waiting){.wait = &wait, .answer = &answers[i]};
		/* Each ends in the callback, and the last one stops the loop. */
		kube_call_start(&waiting[i].call, api, &requests[i], on_waiting_call_done,
				&waiting[i]);
	}
	if (count > 0)
		loop_run(loop);
	for (size_t i = 0; i < count; i++) {
		if (!waiting[i].call)
			continue;
		/* A callback stopped the loop. */
		kube_call_cancel(waiting[i].call);
		answers[i] = (struct kube_answer){0};
		err_set(&answers[i].err, ERR_UNREACHABLE, "canceled a request to the cluster");
	}
}

int kube_answers_error(const struct kube_answer *answers, size_t count, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < count && rc == 0; i++)
		rc = err_copy(err, &answers[i].err);
	return rc;
}

void kube_answers_free(struct kube_answer *answers, size_t count)
{
	for (size_t i = 0; answers && i < count; i++)
		json_free(answers[i].object);
	free(answers);
}

int kube_wait(struct kube_api *api, const struct kube_request *request, struct json **ret_object,
	      struct err *err)
{
	struct kube_answer answer = {0};

	kube_wait_all(api, request, 1, &answer);
	if (answer.err.code == 0 && ret_object)
		*ret_object = TAKE(answer.object);
	json_free(answer.object);
	return kube_answers_error(&answer, 1, err);
}

int kube_wait_deleted(struct kube_api *api, const struct kube_request *deletions, size_t count,
		      struct err *err)
{
	struct kube_answer *answers = mem_new_array(count, sizeof(*answers));

	kube_wait_all(api, deletions, count, answers);
	for (size_t i = 0; i < count; i++) {
		int code = answers[i].err.code;

		if (code == ERR_NOT_FOUND || code == ERR_CONFLICT)
			answers[i].err.code = 0;
	}
	int rc = kube_answers_error(answers, count, err);

	kube_answers_free(answers, count);
	return rc;
}
