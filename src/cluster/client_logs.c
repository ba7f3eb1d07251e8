/* The job's Pods show which logs there are; its ConfigMap, or TFJob, shows when it has finished. */
#include "cluster/client.h"

#include "base/mem.h"
#include "base/text.h"
#include "cluster/pod_logs.h"
#include "cluster/store_record.h"
#include "jobs/record.h"
#include "kube/job_cache.h"
#include "store/store.h"

struct client_logs {
	struct client_kube_logs_source source;
	struct job *job; /* the source's */
	struct client_logs_request request;
	char *folder;
	struct job_cache *cache;
	struct job_follower *seen;
	struct pod_logs *logs;
	struct loop_watch *timer; /* reports how far the logs are known, or complete */
	bool knows_pods, knows_owner;
	bool is_finished; /* the job has finished or was deleted */
};

static void schedule_logs_callback(void *data)
{
	const struct client_logs *logs = data;

	loop_timer_arm_after(logs->timer, 0);
}

/* An active job may print more, if more is wanted. */
static void on_client_logs_timer(void *data)
{
	struct client_logs *logs = data;
	bool is_last = !logs->request.follows || (logs->knows_owner && logs->is_finished);

	if (logs->request.on_known)
		logs->request.on_known(logs->request.data);
	if (is_last && logs->knows_pods && !pod_logs_is_any_open(logs->logs))
		logs->request.on_over(logs->request.data);
}

static void on_logged_pod_change(const struct job_pod *before, struct job_pod *pod, void *data)
{
	struct client_logs *logs = data;
	const struct client_logs_request *request = &logs->request;
	const struct observed_replica *seen = pod ? &pod->seen : NULL;

	if (!pod)
		pod_logs_gone(logs->logs, before->name);
	else if (job_pod_is_of(pod, logs->job->uid, logs->source.is_untouched) &&
		 (!request->role || text_equals(request->role, seen->role)) &&
		 (request->index < 0 || request->index == seen->index) &&
		 (request->attempt < 0 || request->attempt == seen->attempt))
		pod_logs_update(logs->logs, pod);
}

static bool is_logged_job_over(const struct client_logs *logs, const struct json *owner)
{
	const struct store_kube_form *form =
		logs->source.is_of_tfjob ? &store_kube_tfjobs : &store_kube_config_maps;
	struct store_record record CLEANUP(store_record_done) = {0};

	if (!owner)
		return true;
	if (form->read(owner, &record, NULL) < 0)
		return logs->is_finished;
	return record_is_finished(&record) || !text_equals(record.uid, logs->job->uid);
}

static void on_logged_object_change(enum job_cache_kind kind, const char *name, void *data)
{
	struct client_logs *logs = data;

	if (kind == JOB_CACHE_OWNERS)
		logs->is_finished =
			is_logged_job_over(logs, job_follower_get(logs->seen, kind, name));
	schedule_logs_callback(logs);
}

static void on_logged_objects_synced(enum job_cache_kind kind, void *data)
{
	struct client_logs *logs = data;

	logs->knows_pods |= kind == JOB_CACHE_PODS;
	if (kind == JOB_CACHE_OWNERS) {
		logs->knows_owner = true;
		logs->is_finished |= job_follower_count(logs->seen, kind) == 0;
	}
	schedule_logs_callback(logs);
}

static void on_cache_trouble(enum job_cache_kind kind, const struct err *err, void *data)
{
	const struct client_logs *logs = data;

	(void) kind;
	logs->request.on_trouble(err->text, logs->request.data);
}

static void watch_logged_job(struct client_logs *logs)
{
	const struct job_cache_settings cache = {
		.api = logs->source.api,
		.namespace_name = logs->job->name_space,
		.job_name = logs->job->name,
		.is_of_tfjobs = logs->source.is_of_tfjob,
	};
	const struct job_follower_settings follower = {
		.namespace_name = logs->job->name_space,
		.job_name = logs->job->name,
		.on_pod = on_logged_pod_change,
		.on_change = on_logged_object_change,
		.on_synced = on_logged_objects_synced,
		.on_trouble = on_cache_trouble,
		.data = logs,
	};

	logs->cache = job_cache_new(&cache);
	logs->seen = job_cache_follow(logs->cache, &follower);
	job_cache_watch(logs->cache, JOB_CACHE_PODS);
	if (logs->request.follows)
		job_cache_watch(logs->cache, JOB_CACHE_OWNERS);
}

struct client_logs *client_kube_logs_new(const struct client_kube_logs_source *source,
					 const struct client_logs_request *request)
{
	struct client_logs *logs = mem_new(sizeof(*logs));

	*logs = (struct client_logs){
		.source = *source, .job = source->take_job, .request = *request};
	logs->folder = mem_copy_text(request->folder);
	const struct pod_logs_settings settings = {
		.api = source->api,
		.namespace_name = logs->job->name_space,
		.folder = logs->folder,
		.on_text = source->on_text,
		.ends_at_once = !request->follows,
		.since = request->since,
		.tail = request->tail,
		.on_output = source->on_output,
		.on_complete = schedule_logs_callback,
		.complete_data = logs,
		.on_trouble = request->on_trouble,
		.data = request->data,
	};

	logs->logs = pod_logs_new(&settings);
	logs->timer = loop_new_timer(request->loop, on_client_logs_timer, logs);
	watch_logged_job(logs);
	return logs;
}

msec client_kube_logs_known_until(const struct client_logs *logs)
{
	return logs->knows_pods ? pod_logs_known_until(logs->logs) : MSEC_UNSET;
}

void client_kube_logs_pause(struct client_logs *logs)
{
	pod_logs_pause(logs->logs);
}

void client_kube_logs_resume(struct client_logs *logs)
{
	pod_logs_resume(logs->logs);
}

void client_kube_logs_free(struct client_logs *logs)
{
	if (!logs)
		return;
	job_follower_free(logs->seen);
	job_cache_free(logs->cache);
	pod_logs_free(logs->logs);
	loop_watch_free(logs->timer);
	if (logs->source.gives_api)
		kube_api_free(logs->source.api);
	job_free(logs->job);
	free(logs->folder);
	free(logs);
}
