/* The job's ConfigMap as others change it: what the store need not ask for. */
#include "base/mem.h"
#include "engine/store_kube.h"
#include "engine/supervision_kube_parts.h"
#include "kube/objects.h"
#include "kube/resources.h"

static void *see_owner(const struct json *object, void *before, void *data)
{
	struct cluster_supervision *supervision = data;

	(void) before;
	store_kube_saw(supervision->store, object);
	return supervision;
}

static void release_owner(void *kept, void *data)
{
	(void) kept, (void) data;
}

/* The job's last status and the end of its ConfigMap may come in one moment, before the next look:
 * followers are told how the job ended, before that is forgotten. */
static void see_gone(struct cluster_supervision *supervision)
{
	if (supervision->phase == PHASE_RUNNING && supervision->role == ROLE_FOLLOWS &&
	    supervision_kube_tell_status(supervision, NULL) < 0)
		return; /* the store asked, and knows by now */
	store_kube_saw_gone(supervision->store, supervision->job->name);
}

static void on_owner(const char *name, void *data)
{
	struct cluster_supervision *supervision = data;

	if (!kube_mirror_get(supervision->owner, name))
		see_gone(supervision);
	supervision_kube_ask_for_pass(supervision);
}

static void on_owner_synced(void *data)
{
	supervision_kube_ask_for_pass(data);
}

void supervision_kube_watch_owner(struct cluster_supervision *supervision)
{
	char *name CLEANUP(mem_free_text) = objects_owner_name(supervision->job->name);
	const struct kube_mirror_settings settings = {
		.resource = &kube_config_maps,
		.namespace_name = supervision->job->name_space,
		.object_name = name,
		.project = see_owner,
		.release = release_owner,
		.on_change = on_owner,
		.on_synced = on_owner_synced,
		.data = supervision,
	};

	supervision->owner = kube_mirror_new(supervision->loop, supervision->api, &settings);
}
