/* The objects of `run --on kubernetes`: its Pods, one headless Service, the NetworkPolicy, the
 * Secret of variables, and the ConfigMaps of files and of a large cluster. */
#include "cluster/backend_state.h"
#include "spec/job_files.h"

static void add_network_policy(struct kube_backend *backend)
{
	const struct job *job = backend->settings.job;
	char *name CLEANUP(mem_free_text) = objects_network_policy_name(job->name);

	if (job->has_network_policy)
		kube_prerequisites_add(backend, &kube_network_policies, name)->body =
			objects_network_policy_new(job, job->uid);
}

/* It was created before any Pod was started. */
static void add_secret_prerequisite(struct kube_backend *backend)
{
	const struct backend_kube_settings *settings = &backend->settings;
	struct prerequisite *secret;

	if (!settings->secret || !settings->secret->name)
		return;
	secret = kube_prerequisites_add(backend, &kube_secrets, settings->secret->name);
	secret->body = objects_secret_new(settings->job, settings->secret, settings->job->uid);
	secret->is_made = true;
}

static void add_plain_prerequisites(struct kube_backend *backend)
{
	kube_prerequisites_add(backend, &kube_services, backend->settings.job->name);
	add_network_policy(backend);
	add_secret_prerequisite(backend);
}

static bool has_files(const struct job *job)
{
	for (size_t i = 0; i < job->n_roles; i++)
		if (job_files_are_mounted(job->roles[i].template))
			return true;
	return false;
}

static bool reads_config_maps(const struct job *job)
{
	struct objects *objects CLEANUP(objects_cleanup) = objects_new(job);
	struct json *cluster CLEANUP(json_cleanup) = objects_cluster_new(objects, NULL);

	return cluster || has_files(job);
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
	backend->objects = objects_new(backend->job);

	struct json *cluster CLEANUP(json_cleanup) =
		objects_cluster_new(backend->objects, backend->job->uid);
	const char *name = json_as_string(json_get_path(cluster, "metadata", "name", NULL), NULL);

	if (!name || kube_prerequisites_find(backend, &kube_config_maps, name))
		return;
	kube_prerequisites_add(backend, &kube_config_maps, name)->body = json_ref(cluster);
	/* The job may have been small before. */
	job_follower_watch(backend->seen, JOB_CACHE_FILES);
}

static void release_plain_objects(struct kube_backend *backend)
{
	objects_free(backend->objects);
}

static struct json *pod_new(const struct kube_backend *backend, const struct role *role, int index,
			    int attempt)
{
	return objects_pod_new(backend->objects, role, index, attempt, backend->job->uid);
}

static struct json *make_plain_service(const struct prerequisite *service)
{
	return objects_service_new(service->backend->job, service->backend->job->uid);
}

static void add_plain_pod_address(const struct kube_backend *backend, const struct job *job,
				  const struct role *role, int index, struct text *text)
{
	(void) backend;
	objects_add_address(job, role, index, text);
}

const struct kube_kind kube_kind_plain = {
	.traits = {.kills_after_grace = true},
	.reads = plain_job_reads_kind,
	.begin = add_plain_prerequisites,
	.take_job = rebuild_plain_objects,
	.done = release_plain_objects,
	.pod_new = pod_new,
	.service_new = make_plain_service,
	.add_address = add_plain_pod_address,
};
