/* The objects of the two kinds of jobs.
 *
 * `run --on kubernetes`: Pods, one headless Service, the NetworkPolicy, the Secret of variables,
 * and the ConfigMaps of files and of a large cluster. A TFJob, as training-operator 1.9 creates
 * them: Pods, one headless Service for each replica or for the job, and the PodGroup if a scheduler
 * places the Pods together. */
#include "base/text.h"
#include "cluster/backend_state.h"
#include "spec/job_files.h"

static void add_plain_prerequisites(struct kube_backend *backend)
{
	const struct job *job = backend->settings.job;
	const struct job_secret *values = backend->settings.secret;
	char *policy CLEANUP(mem_free_text) = objects_network_policy_name(job->name);

	kube_prerequisites_add(backend, &kube_services, job->name);
	if (job->has_network_policy)
		kube_prerequisites_add(backend, &kube_network_policies, policy)->body =
			objects_network_policy_new(job, job->uid);
	if (!values || !values->name)
		return;
	struct prerequisite *secret = kube_prerequisites_add(backend, &kube_secrets, values->name);

	secret->body = objects_secret_new(job, values, job->uid);
	secret->is_made = true; /* before any Pod was started */
}

/* Whether Pods read ConfigMaps: files, or the cluster. */
static bool reads_config_maps(const struct job *job)
{
	struct objects *objects CLEANUP(objects_cleanup) = objects_new(job, NULL);
	struct json *cluster CLEANUP(json_cleanup) = objects_cluster_new(objects, NULL);
	bool has_files = false;

	for (size_t i = 0; i < job->n_roles; i++)
		has_files |= job_files_are_mounted(job->roles[i].template);
	return cluster || has_files;
}

static bool plain_job_reads_kind(const struct kube_backend *backend, enum job_cache_kind kind)
{
	const struct job *job = backend->settings.job;

	if (kind == JOB_CACHE_NETWORK_POLICIES)
		return job->has_network_policy;
	if (kind == JOB_CACHE_FILES)
		return reads_config_maps(job);
	return kind == JOB_CACHE_PODS || kind == JOB_CACHE_SERVICES;
}

static void rebuild_plain_objects(struct kube_backend *backend)
{
	objects_free(backend->objects);
	backend->objects = objects_new(backend->job, NULL);

	struct json *cluster CLEANUP(json_cleanup) =
		objects_cluster_new(backend->objects, backend->job->uid);
	const char *name = json_as_string(json_get_path(cluster, "metadata", "name", NULL), NULL);

	if (!name || kube_prerequisites_find(backend, &kube_config_maps, name))
		return;
	kube_prerequisites_add(backend, &kube_config_maps, name)->body = json_ref(cluster);
	/* The job may have been small before. */
	job_cache_watch(backend->settings.cache, JOB_CACHE_FILES);
}

static struct json *make_plain_pod(const struct kube_backend *backend, const struct role *role,
				   int index, int attempt)
{
	return objects_pod_new(backend->objects, role, index, attempt, backend->job->uid);
}

static struct json *make_plain_service(const struct prerequisite *service)
{
	return objects_service_new(service->backend->job, service->backend->job->uid);
}

const struct kube_kind kube_kind_plain = {
	.traits = {.kills_after_grace = true},
	.reads = plain_job_reads_kind,
	.begin = add_plain_prerequisites,
	.take_job = rebuild_plain_objects,
	.pod_new = make_plain_pod,
	.service_new = make_plain_service,
};

/* TFJobs: Services. */

static bool has_service(const struct kube_backend *backend, const char *name)
{
	return kube_prerequisites_is_ours(
		backend, job_follower_object(backend->seen, JOB_CACHE_SERVICES, name));
}

static bool has_service_of_replica(const struct kube_backend *backend)
{
	const struct job *job = backend->job;

	for (size_t i = 0; i < job->n_roles; i++)
		for (int index = 0; index < job->roles[i].replicas; index++) {
			char *name CLEANUP(mem_free_text) =
				job_pod_name(job, &job->roles[i], index);

			if (has_service(backend, name))
				return true;
		}
	return false;
}

/* Before its first Pods. A job that has Services keeps their form, whatever is configured now: its
 * Pods got each other's addresses when they were created. */
static void choose_services(struct kube_backend *backend)
{
	const struct job *job = backend->job;
	bool *has_one_service = &backend->settings.manner.has_one_service;

	if (backend->n_prerequisites > 0)
		return;
	if (has_service(backend, job->name))
		*has_one_service = true;
	else if (has_service_of_replica(backend))
		*has_one_service = false;
	else if (job->services != SERVICES_COUNT)
		*has_one_service = job->services == SERVICES_PER_JOB;
}

static struct json *make_tfjob_service(const struct prerequisite *service)
{
	const struct job *job = service->backend->job;
	const struct role *role = service->role ? job_role(job, service->role) : NULL;

	return role ? tfjob_service_new(job, role, service->index, job->uid)
		    : tfjob_job_service_new(job, job->uid);
}

/* TFJobs: PodGroups. */

static void require_pod_group(struct kube_backend *backend)
{
	const struct gang *gang = backend->settings.gang;
	const struct job *job = backend->job;

	if (!gang)
		return;
	struct prerequisite *group =
		kube_prerequisites_add(backend, gang_resource(gang), job->name);
	struct json *body = pod_group_new(gang, job, job->uid);

	group->is_updated &= json_equals(group->body, body);
	json_free(group->body);
	group->body = body;
	if (job_follower_get(backend->seen, JOB_CACHE_POD_GROUPS, job->name))
		kube_prerequisites_observe(backend, JOB_CACHE_POD_GROUPS, job->name);
}

/* It has a node, or has exited, and is not being deleted. */
static bool is_placed(const struct kube_backend *backend, const struct job_pod *pod)
{
	const struct pending *pending = mirror_table_get(&backend->pending, pod->name);
	bool is_ended = pending && text_equals(pending->ended_uid, pod->uid);

	return kube_backend_owns(backend, pod) && pod->seen.node && !is_ended &&
	       !observed_was_asked_to_end(&pod->seen);
}

/* Kubernetes' own scheduler counts only Pods that have not exited. A Pod that is started after
 * others were placed is placed by itself; else a restarted replica would wait for ever for those
 * that have succeeded. */
static bool joins_group(const struct kube_backend *backend)
{
	const struct job_pod *pod;
	const void *place = NULL;

	if (backend->settings.gang->kind != GANG_KUBERNETES)
		return true;
	while ((pod = job_follower_next_pod(backend->seen, &place)))
		if (is_placed(backend, pod))
			return false;
	return true;
}

/* TFJobs: the whole. */

static bool tfjob_reads_kind(const struct kube_backend *backend, enum job_cache_kind kind)
{
	return kind == JOB_CACHE_PODS || kind == JOB_CACHE_SERVICES ||
	       (kind == JOB_CACHE_POD_GROUPS && backend->settings.gang);
}

static void rebuild_tfjob_objects(struct kube_backend *backend)
{
	const struct job *job = backend->job;

	choose_services(backend);
	objects_free(backend->objects);
	backend->objects = objects_new(backend->job, &backend->settings.manner);
	require_pod_group(backend);
	if (backend->settings.manner.has_one_service) {
		kube_prerequisites_add_service(backend, job->name);
		return;
	}
	/* One for each replica, with the name of its Pod. */
	for (size_t i = 0; i < job->n_roles; i++)
		for (int index = 0; index < job->roles[i].replicas; index++) {
			char *name CLEANUP(mem_free_text) =
				job_pod_name(job, &job->roles[i], index);

			kube_prerequisites_add_service(backend, name);
		}
}

static struct json *make_tfjob_pod(const struct kube_backend *backend, const struct role *role,
				   int index, int attempt)
{
	struct json *pod = tfjob_pod_new(backend->objects, role, index, attempt, backend->job->uid);

	if (backend->settings.gang && joins_group(backend))
		pod_group_add_pod(backend->settings.gang, backend->job, role, pod);
	return pod;
}

const struct kube_kind kube_kind_tfjob = {
	.traits = {.kills_after_grace = true,
		   .waits_for_workers = true,
		   .repeats_attempts = true,
		   .gives_whole_grace = true},
	.awaits_rights = true,
	.reads = tfjob_reads_kind,
	.take_job = rebuild_tfjob_objects,
	.pod_new = make_tfjob_pod,
	.service_new = make_tfjob_service,
};
