#include "engine/tfjob_events.h"

#include "base/mem.h"
#include "base/text.h"
#include "io/log.h"
#include "io/loop.h"
#include "kube/resources.h"

#define COMPONENT "tfjob-controller"

static struct json *involved_new(const struct job *job)
{
	struct json *object = json_new_object();

	json_set_string(object, "apiVersion", "kubeflow.org/v1");
	json_set_string(object, "kind", "TFJob");
	json_set_string(object, "namespace", job->name_space);
	json_set_string(object, "name", job->name);
	json_set_string(object, "uid", job->uid);
	return object;
}

static struct json *event_new(const struct job *job, const struct note *note)
{
	struct json *event = json_new_object();
	struct json *metadata;
	struct text now CLEANUP(text_done) = {0};
	char *prefix CLEANUP(mem_free_text) = mem_format("%s.", job->name);

	text_add_time(&now, loop_now() / MSEC_PER_SECOND * MSEC_PER_SECOND);
	json_set_string(event, "apiVersion", "v1");
	json_set_string(event, "kind", "Event");
	metadata = json_object_at(event, "metadata");
	json_set_string(metadata, "generateName", prefix);
	json_set_string(metadata, "namespace", job->name_space);
	json_set(event, "involvedObject", involved_new(job));
	json_set_string(event, "reason", note->reason);
	json_set_string(event, "message", note->sentence);
	json_set_string(event, "type", note->level == NOTE_WARNING ? "Warning" : "Normal");
	json_set_string(json_object_at(event, "source"), "component", COMPONENT);
	json_set_string(event, "firstTimestamp", text_of(&now));
	json_set_string(event, "lastTimestamp", text_of(&now));
	json_set_integer(event, "count", 1);
	return event;
}

static void on_sent(struct json *object, const struct kube_status *status, const struct err *err,
		    void *data)
{
	(void) object, (void) status, (void) data;
	if (err)
		log_debug("an Event was not taken: %s", err->text);
}

void tfjob_event_send(struct kube_api *api, const struct job *job, const struct note *note)
{
	struct json *event CLEANUP(json_cleanup) = event_new(job, note);
	const struct kube_request request = {
		.verb = KUBE_CREATE,
		.resource = &kube_events,
		.namespace_name = job->name_space,
		.body = event,
		.wants_metadata = true,
	};
	struct kube_call *call = kube_call_new(api, &request, on_sent, NULL);

	(void) call; /* it ends with its answer, or with the API */
}
