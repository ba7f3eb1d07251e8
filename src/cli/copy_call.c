#include "cli/copy_call.h"

#include "base/mem.h"
#include "cli/cluster.h"
#include "cli/command.h"
#include "cli/copy_progress.h"
#include "cli/output.h"
#include "kube/copy.h"
#include "kube/keeper.h"
#include "kube/objects.h"
#include "kube/resources.h"
#include "kube/wait.h"

#include <signal.h>

#define EXIT_BY_SIGNAL 128

struct copying {
	const struct copy_call *call;
	struct loop *loop;
	struct kube_api *api;
	char *namespace_name;
	char *pod_name;
	struct json *pod;
	const char *container; /* of the Pod, or of the call */
	struct kube_copy *copy;
	struct copy_progress *progress;
	struct loop_watch *signals[3];
	int exit_code;
};

static void copying_done(struct copying *copying)
{
	for (size_t i = 0; i < ARRAY_LEN(copying->signals); i++)
		loop_watch_free(copying->signals[i]);
	copy_progress_free(copying->progress);
	kube_copy_cancel(copying->copy);
	json_free(copying->pod);
	kube_api_free(copying->api);
	loop_free(copying->loop);
	mem_free_text(&copying->pod_name);
	mem_free_text(&copying->namespace_name);
}

/* The Pod. */

static int log_in(struct copying *copying, struct err *err)
{
	struct kube_config *config CLEANUP(kube_config_cleanup) = NULL;
	const struct copy_place *place = copying->call->place;
	int rc = cluster_read_config(copying->call->options, &config, err);

	if (rc == 0)
		rc = loop_new(&copying->loop, err);
	if (rc < 0)
		return rc;
	cluster_warn(config);
	copying->namespace_name = mem_copy_text(place->namespace_name ? place->namespace_name
								      : config->namespace_name);
	return kube_api_connect(copying->loop, cluster_log_in, (void *) copying->call->options,
				&copying->api, err);
}

/* A Pod of that name that is no replica of the job is none of ours. */
static bool is_of_job(const struct json *pod, const struct copy_place *place)
{
	const struct json *labels = json_get_path(pod, "metadata", "labels", NULL);
	const char *job = json_as_string(json_get(labels, OBJECTS_LABEL_JOB), NULL);
	const char *manager = json_as_string(json_get(labels, OBJECTS_LABEL_MANAGED_BY), NULL);

	return text_equals(job, place->job) && text_equals(manager, OBJECTS_MANAGED_BY);
}

static int choose_container(struct copying *copying, struct err *err)
{
	const struct copy_place *place = copying->call->place;
	char *who CLEANUP(mem_free_text) =
		mem_format("%s-%d of job '%s'", place->role, place->index, place->job);

	copying->container = copying->call->container;
	return copying->container
		       ? 0
		       : keeper_choose_container(copying->pod, who, &copying->container, err);
}

static int find_pod(struct copying *copying, struct err *err)
{
	const struct copy_place *place = copying->call->place;

	copying->pod_name = mem_format("%s-%s-%d", place->job, place->role, place->index);
	const struct kube_request request = {
		.verb = KUBE_GET,
		.resource = &kube_pods,
		.namespace_name = copying->namespace_name,
		.name = copying->pod_name,
	};
	int rc = kube_wait(copying->loop, copying->api, &request, &copying->pod, err);

	if (rc == ERR_NOT_FOUND || (rc == 0 && !is_of_job(copying->pod, place)))
		return err_set(err, ERR_NOT_FOUND,
			       "there is no %s-%d of a job '%s' in namespace '%s' of the cluster",
			       place->role, place->index, place->job, copying->namespace_name);
	return rc ? rc : choose_container(copying, err);
}

/* The copy. */

static void say_what_came(const struct copying *copying)
{
	const struct copy_place *place = copying->call->place;
	char *what CLEANUP(mem_free_text) = kube_copy_describe(copying->copy);

	output_say("fetched %s-%d:%s: %s", place->role, place->index, place->path, what);
}

static void on_end(const char *warnings, const struct err *err, void *data)
{
	struct copying *copying = data;

	copy_progress_end(copying->progress);
	if (!err && copying->call->says_what_came)
		say_what_came(copying);
	copying->copy = NULL;
	if (*warnings)
		output_say("%s", warnings);
	if (err)
		copying->exit_code = output_fail(err);
	loop_stop(copying->loop);
}

static uint64_t count_bytes(void *data)
{
	const struct copying *copying = data;

	return copying->copy ? kube_copy_bytes(copying->copy) : 0;
}

static void on_signal(int number, void *data)
{
	struct copying *copying = data;

	copying->exit_code = EXIT_BY_SIGNAL + number;
	copy_progress_end(copying->progress);
	loop_stop(copying->loop);
}

static void watch_signals(struct copying *copying)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		copying->signals[i] =
			loop_watch_signal(copying->loop, numbers[i], on_signal, copying);
}

static int begin(struct copying *copying, struct err *err)
{
	const struct copy_call *call = copying->call;
	const struct kube_copy_request request = {
		.loop = copying->loop,
		.namespace_name = copying->namespace_name,
		.pod = copying->pod_name,
		.container = copying->container,
		.there = call->place->path,
		.here = call->here,
		.on_end = on_end,
		.data = copying,
	};

	return call->is_to_pod ? kube_copy_to(copying->api, &request, &copying->copy, err)
			       : kube_copy_from(copying->api, &request, &copying->copy, err);
}

int copy_call_run(const struct copy_call *call)
{
	struct copying copying CLEANUP(copying_done) = {.call = call};
	struct err err = {0};

	if (log_in(&copying, &err) || find_pod(&copying, &err) || begin(&copying, &err))
		return output_fail(&err);
	watch_signals(&copying);
	copying.progress = copy_progress_new(copying.loop, count_bytes, &copying);
	loop_run(copying.loop);
	return copying.exit_code;
}
