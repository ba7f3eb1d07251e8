/* The job's ConfigMap as others change it: what the store need not ask for. */
#include "base/mem.h"
#include "engine/store_kube.h"
#include "engine/supervision_kube_parts.h"
#include "kube/objects.h"

/* The job's last status and the end of its ConfigMap may come in one moment, before the next look:
 * followers are told how the job ended, before that is forgotten. */
static void see_gone(struct cluster_supervision *supervision)
{
	if (supervision->phase == PHASE_RUNNING && supervision->role == ROLE_FOLLOWS &&
	    supervision_kube_tell_status(supervision, NULL) < 0)
		return; /* the store asked, and knows by now */
	store_kube_saw_gone(supervision->store, supervision->job->name);
}

static void on_change(enum job_cache_kind kind, const char *name, void *data)
{
	struct cluster_supervision *supervision = data;
	const struct json *owner = job_follower_get(supervision->owner, kind, name);

	if (kind != JOB_CACHE_OWNERS)
		return;
	if (owner)
		store_kube_saw(supervision->store, owner);
	else
		see_gone(supervision);
	supervision_kube_ask_for_pass(supervision);
}

static void on_synced(enum job_cache_kind kind, void *data)
{
	if (kind == JOB_CACHE_OWNERS)
		supervision_kube_ask_for_pass(data);
}

void supervision_kube_watch_owner(struct cluster_supervision *supervision)
{
	const struct job_follower_settings settings = {
		.namespace_name = supervision->job->name_space,
		.job_name = supervision->job->name,
		.on_change = on_change,
		.on_synced = on_synced,
		.data = supervision,
	};

	supervision->owner = job_cache_follow(supervision->cache, &settings);
	job_follower_watch(supervision->owner, JOB_CACHE_OWNERS);
}
