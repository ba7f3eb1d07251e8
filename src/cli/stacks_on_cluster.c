#include "cli/cluster_support.h"

#include "base/own.h"
#include "cli/replica_pod.h"
#include "pods/script.h"
#include "status/stacks.h"

#include <stdlib.h>

#define MOST_AT_ONCE 32 /* connections to the API server at the same time */
#define OUTPUT_LIMIT ((size_t) 4 * 1024 * 1024) /* of one Pod */

struct spying;

/* One Pod. */
struct spied {
	struct spying *spying;
	struct kube_script *script; /* NULL: not started, or over */
	struct text output;
};

struct spying {
	const struct stacks_on_cluster_call *call;
	struct kube_api *api;
	struct spied *pods; /* of call->replicas */
	size_t n_begun, n_over, n_failed;
	struct err err; /* of a Pod that failed */
};

static void spying_done(struct spying *spying)
{
	for (size_t i = 0; spying->pods && i < spying->call->n_replicas; i++) {
		kube_script_cancel(spying->pods[i].script);
		text_done(&spying->pods[i].output);
	}
	free(spying->pods);
	kube_api_free(spying->api);
}

static void on_py_spy_output(const char *bytes, size_t len, void *data)
{
	struct spied *pod = data;
	size_t room = OUTPUT_LIMIT - pod->output.len;

	text_add_bytes(&pod->output, bytes, len < room ? len : room);
}

static void on_py_spy_answer(const char *line, const char *bytes, size_t len, void *data)
{
	(void) line; /* no other is sent */
	on_py_spy_output(bytes, len, data);
}

static void begin_next(struct spying *spying);

static void on_py_spy_end(const char *warnings, const struct err *err, void *data)
{
	struct spied *pod = data;
	struct spying *spying = pod->spying;

	(void) warnings;
	pod->script = NULL;
	if (err) {
		text_clear(&pod->output);
		stacks_add_obstacle(&pod->output, err->text);
		spying->err = *err;
		spying->n_failed++;
	} else if (pod->output.len == 0) {
		stacks_add_obstacle(&pod->output, "no Python process in the container");
	}
	spying->n_over++;
	begin_next(spying);
}

static void begin_next(struct spying *spying)
{
	const struct stacks_on_cluster_call *call = spying->call;
	static const char *const no_arguments[] = {NULL};

	if (spying->n_over == call->n_replicas)
		loop_stop(spying->api->loop);
	if (spying->n_begun == call->n_replicas)
		return;
	struct spied *pod = &spying->pods[spying->n_begun];
	const struct replica_status *replica = call->replicas[spying->n_begun++];
	const struct kube_script_request request = {
		.container = {call->namespace_name, replica->pod,
			      job_role(call->job, replica->role)->container.name},
		.text = dump_stacks_script,
		.arguments = no_arguments,
		.on_answer = on_py_spy_answer,
		.on_bytes = on_py_spy_output,
		.on_end = on_py_spy_end,
		.data = pod,
	};

	*pod = (struct spied){.spying = spying};
	pod->script = kube_script_new(spying->api, &request);
}

int stacks_on_cluster(const struct stacks_on_cluster_call *call, struct stacks *stacks,
		      struct err *err)
{
	struct spying spying CLEANUP(spying_done) = {.call = call};
	int rc = cluster_connect(call->options, &spying.api, err);

	if (rc < 0)
		return rc;
	spying.pods = mem_new_array(call->n_replicas + 1, sizeof(*spying.pods));
	for (size_t i = 0; i < MOST_AT_ONCE; i++)
		begin_next(&spying);
	loop_run(spying.api->loop);
	if (spying.n_failed == call->n_replicas)
		return err_copy(err, &spying.err);
	for (size_t i = 0; i < call->n_replicas; i++) {
		const struct replica_status *replica = call->replicas[i];
		struct text text CLEANUP(text_done) = {0};

		spied_stacks_add(&text, text_of(&spying.pods[i].output));
		stacks_read(stacks, text_of(&text), replica->role, replica->index, call->arena);
	}
	return 0;
}
