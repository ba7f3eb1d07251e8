/* A mirror of the job's Pods says which logs there are; a mirror of its owner says when it is over.
 */
#include "engine/client_kube_logs.h"

#include "base/mem.h"
#include "base/text.h"
#include "engine/pod_logs.h"
#include "engine/record.h"
#include "engine/store_kube_record.h"
#include "kube/mirror.h"
#include "kube/objects.h"
#include "kube/pod_observed.h"
#include "kube/resources.h"
#include "store/store.h"

#include <stdlib.h>

struct client_logs {
	struct kube_api *api;
	struct job *job;
	bool is_untouched;
	struct client_logs_request request;
	char *folder;
	struct kube_mirror *pods, *owner;
	struct pod_logs *logs;
	struct loop_watch *timer; /* asks whether all is over */
	bool knows_pods, knows_owner;
	bool is_finished; /* the job is, or is gone */
};

static void ask_whether_over(struct client_logs *logs)
{
	loop_timer_arm(logs->timer, loop_now());
}

/* Of a job that goes on more may come, if that is wanted. */
static void check_over(void *data)
{
	struct client_logs *logs = data;
	bool is_last = !logs->request.follows || (logs->knows_owner && logs->is_finished);

	if (is_last && logs->knows_pods && !pod_logs_is_any_open(logs->logs))
		logs->request.on_over(logs->request.data);
}

/* Pods. */

static bool is_wanted(const struct client_logs_request *request,
		      const struct observed_replica *seen)
{
	return (!request->role || text_equals(request->role, seen->role)) &&
	       (request->index < 0 || request->index == seen->index) &&
	       (request->attempt < 0 || request->attempt == seen->attempt);
}

static void *see_pod(const struct json *object, void *before, void *data)
{
	struct client_logs *logs = data;
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct observed_replica seen;

	(void) before;
	if (pod_observed_look(object, logs->job, logs->is_untouched, arena, &seen) &&
	    is_wanted(&logs->request, &seen))
		pod_logs_see(logs->logs, logs->job, object, &seen);
	return logs;
}

static void on_pod(const char *name, void *data)
{
	struct client_logs *logs = data;

	if (!kube_mirror_get(logs->pods, name))
		pod_logs_gone(logs->logs, name);
}

static void on_pods(void *data)
{
	struct client_logs *logs = data;

	logs->knows_pods = true;
	ask_whether_over(logs);
}

static void keep_nothing(void *kept, void *data)
{
	(void) kept, (void) data;
}

/* The owner. */

static void *see_owner(const struct json *object, void *before, void *data)
{
	struct client_logs *logs = data;
	struct store_record record CLEANUP(store_record_done) = {0};

	(void) before;
	if (store_kube_read(object, &record, NULL) == 0)
		logs->is_finished =
			record_is_finished(&record) || !text_equals(record.uid, logs->job->uid);
	return logs;
}

static void on_owner(const char *name, void *data)
{
	struct client_logs *logs = data;

	if (!kube_mirror_get(logs->owner, name))
		logs->is_finished = true;
	ask_whether_over(logs);
}

static void on_owner_known(void *data)
{
	struct client_logs *logs = data;

	logs->knows_owner = true;
	logs->is_finished |= kube_mirror_count(logs->owner) == 0;
	ask_whether_over(logs);
}

/* Putting together. */

static void on_output(void *data)
{
	(void) data; /* readers watch the folder */
}

static void on_complete(void *data)
{
	ask_whether_over(data);
}

static void on_trouble(const char *sentence, void *data)
{
	const struct client_logs *logs = data;

	logs->request.on_trouble(sentence, logs->request.data);
}

static void on_mirror_trouble(const struct err *err, void *data)
{
	on_trouble(err->text, data);
}

static struct kube_mirror *mirror_new(struct client_logs *logs,
				      struct kube_mirror_settings settings)
{
	settings.namespace_name = logs->job->name_space;
	settings.release = keep_nothing;
	settings.on_trouble = on_mirror_trouble;
	settings.data = logs;
	return kube_mirror_new(logs->request.loop, logs->api, &settings);
}

static void make_mirrors(struct client_logs *logs)
{
	char *owner CLEANUP(mem_free_text) = objects_owner_name(logs->job->name);
	char *labels CLEANUP(mem_free_text) = objects_selector(logs->job->name);

	logs->pods = mirror_new(logs, (struct kube_mirror_settings){
					      .resource = &kube_pods,
					      .label_selector = labels,
					      .project = see_pod,
					      .on_change = on_pod,
					      .on_synced = on_pods,
				      });
	if (logs->request.follows)
		logs->owner = mirror_new(logs, (struct kube_mirror_settings){
						       .resource = &kube_config_maps,
						       .object_name = owner,
						       .project = see_owner,
						       .on_change = on_owner,
						       .on_synced = on_owner_known,
					       });
}

struct client_logs *client_kube_logs_new(struct kube_api *take_api, struct job *take_job,
					 bool is_untouched,
					 const struct client_logs_request *request)
{
	struct client_logs *logs = mem_new(sizeof(*logs));

	*logs = (struct client_logs){.api = take_api,
				     .job = take_job,
				     .is_untouched = is_untouched,
				     .request = *request};
	logs->folder = mem_copy_text(request->folder);
	const struct pod_logs_settings settings = {
		.loop = request->loop,
		.api = take_api,
		.namespace_name = take_job->name_space,
		.folder = logs->folder,
		.ends_at_once = !request->follows,
		.since = request->since,
		.tail = request->tail,
		.on_output = on_output,
		.on_complete = on_complete,
		.on_trouble = on_trouble,
		.data = logs,
	};

	logs->logs = pod_logs_new(&settings);
	logs->timer = loop_new_timer(request->loop, check_over, logs);
	make_mirrors(logs);
	return logs;
}

msec client_kube_logs_known_until(const struct client_logs *logs)
{
	return logs->knows_pods ? pod_logs_known_until(logs->logs) : MSEC_UNSET;
}

void client_kube_logs_free(struct client_logs *logs)
{
	if (!logs)
		return;
	kube_mirror_free(logs->pods);
	kube_mirror_free(logs->owner);
	pod_logs_free(logs->logs);
	loop_watch_free(logs->timer);
	kube_api_free(logs->api);
	job_free(logs->job);
	free(logs->folder);
	free(logs);
}
