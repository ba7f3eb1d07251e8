/* What the Pods of a job stand on: the Service by which they find each other, the NetworkPolicy
 * that keeps others away, and the ConfigMaps that they read: of files, and of the cluster where it
 * is large. And the Secret of variables, where we made it: its values are nowhere else.
 *
 * They are made with the first Pods. As long as one is missing later, no replica has its address,
 * and a decision asks for it to be published: so it is made again when somebody deletes it. What it
 * is made of again is what the cache showed of it, so that any supervisor can do so. */
#include "base/text.h"
#include "core/failure_words.h"
#include "core/job_files.h"
#include "engine/backend_kube_state.h"

#include <stdlib.h>

#define PAUSE MSEC_PER_SECOND

static struct prerequisite *find(const struct kube_backend *backend,
				 const struct kube_resource *resource, const char *name)
{
	for (size_t i = 0; i < backend->n_prerequisites; i++)
		if (backend->prerequisites[i]->resource == resource &&
		    text_equals(backend->prerequisites[i]->name, name))
			return backend->prerequisites[i];
	return NULL;
}

static struct prerequisite *add(struct kube_backend *backend, const struct kube_resource *resource,
				const char *name)
{
	struct prerequisite *prerequisite = mem_new(sizeof(*prerequisite));

	prerequisite->backend = backend;
	prerequisite->resource = resource;
	prerequisite->name = mem_copy_text(name);
	mem_grow(&backend->prerequisites, &backend->prerequisites_capacity,
		 backend->n_prerequisites, sizeof(struct prerequisite *));
	backend->prerequisites[backend->n_prerequisites++] = prerequisite;
	return prerequisite;
}

static void add_network_policy(struct kube_backend *backend)
{
	const struct job *job = backend->settings.job;
	char *name CLEANUP(mem_free_text) = objects_network_policy_name(job->name);

	if (job->has_network_policy)
		add(backend, &kube_network_policies, name)->body =
			objects_network_policy_new(job, job->uid);
}

/* The Secret was made before any Pod was started. */
void kube_prerequisites_begin(struct kube_backend *backend)
{
	const struct backend_kube_settings *settings = &backend->settings;
	struct prerequisite *prerequisite;

	if (settings->is_tfjob)
		return;
	add(backend, &kube_services, settings->job->name);
	add_network_policy(backend);
	if (!settings->secret || !settings->secret->name)
		return;
	prerequisite = add(backend, &kube_secrets, settings->secret->name);
	prerequisite->body =
		objects_secret_new(settings->job, settings->secret, settings->job->uid);
	prerequisite->is_made = true;
}

void kube_prerequisites_free(struct kube_backend *backend)
{
	for (size_t i = 0; i < backend->n_prerequisites; i++) {
		struct prerequisite *prerequisite = backend->prerequisites[i];

		kube_call_cancel(prerequisite->call);
		json_free(prerequisite->body);
		free(prerequisite->name);
		free(prerequisite->role);
		free(prerequisite);
	}
	free(backend->prerequisites);
}

static bool is_missing(const struct prerequisite *prerequisite)
{
	return !prerequisite->is_shown && !prerequisite->call && !prerequisite->is_made &&
	       !prerequisite->is_unwanted;
}

/* Asked for is as good as there: Pods may start before their Service does. */
bool kube_prerequisites_is_there(const struct kube_backend *backend)
{
	for (size_t i = 0; i < backend->n_prerequisites; i++) {
		const struct prerequisite *prerequisite = backend->prerequisites[i];

		if (is_missing(prerequisite) && !prerequisite->is_refused)
			return false;
	}
	return true;
}

bool kube_prerequisites_is_any_shown(const struct kube_backend *backend)
{
	for (size_t i = 0; i < backend->n_prerequisites; i++)
		if (backend->prerequisites[i]->is_shown)
			return true;
	return false;
}

bool kube_prerequisites_is_quiet(const struct kube_backend *backend)
{
	for (size_t i = 0; i < backend->n_prerequisites; i++)
		if (backend->prerequisites[i]->call)
			return false;
	return true;
}

/* Making. */

/* One of that name which is none of ours belongs to an earlier job, and is about to go; ours would
 * be in the cache. */
static void on_made(struct json *object, const struct kube_status *status, const struct err *err,
		    void *data)
{
	struct prerequisite *prerequisite = data;
	struct kube_backend *backend = prerequisite->backend;

	(void) object;
	prerequisite->call = NULL;
	if (err && err->code == ERR_EXISTS && prerequisite->resource == &kube_secrets)
		err = NULL; /* somebody else made it again */
	prerequisite->is_made = !err;
	prerequisite->is_refused = err != NULL;
	if (err && status->refusal == KUBE_REFUSED_FOR_EVER && !backend->refusal)
		backend->refusal = mem_copy_text(err->text);
	if (err) {
		kube_backend_trouble(backend, err->text);
		kube_backend_look_again(backend, loop_now() + PAUSE);
	}
	kube_backend_news(backend);
}

static void on_service_ended(struct json *object, const struct kube_status *status,
			     const struct err *err, void *data)
{
	struct prerequisite *prerequisite = data;

	(void) object, (void) status;
	prerequisite->call = NULL;
	prerequisite->is_made = false;
	if (err && err->code != ERR_NOT_FOUND)
		kube_backend_trouble(prerequisite->backend, err->text);
	kube_backend_news(prerequisite->backend);
}

void kube_prerequisites_end_service(struct kube_backend *backend, const char *name)
{
	struct prerequisite *prerequisite = find(backend, &kube_services, name);
	const struct kube_request request = {
		.verb = KUBE_DELETE,
		.resource = &kube_services,
		.namespace_name = backend->job->name_space,
		.name = name,
	};

	if (!prerequisite || prerequisite->is_unwanted)
		return;
	kube_call_cancel(prerequisite->call);
	prerequisite->is_unwanted = true;
	prerequisite->call =
		kube_call_new(backend->settings.api, &request, on_service_ended, prerequisite);
}

void kube_prerequisites_want_service(struct kube_backend *backend, const char *name)
{
	struct prerequisite *prerequisite = find(backend, &kube_services, name);

	if (prerequisite)
		prerequisite->is_unwanted = prerequisite->was_shown = false;
}

static const char *what_it_is(const struct prerequisite *prerequisite)
{
	if (prerequisite->resource == &kube_config_maps)
		return "ConfigMap";
	return prerequisite->resource == &kube_network_policies ? "NetworkPolicy" : "Service";
}

static struct json *service_new(const struct prerequisite *prerequisite)
{
	const struct job *job = prerequisite->backend->job;
	const struct role *role = prerequisite->role ? job_role(job, prerequisite->role) : NULL;

	return role ? tfjob_service_new(job, role, prerequisite->index, job->uid)
		    : objects_service_new(job, job->uid);
}

static struct json *body_new(const struct prerequisite *prerequisite)
{
	return prerequisite->body ? json_ref(prerequisite->body) : service_new(prerequisite);
}

static void make(struct prerequisite *prerequisite)
{
	struct kube_backend *backend = prerequisite->backend;
	struct json *body CLEANUP(json_cleanup) = body_new(prerequisite);
	const struct kube_request request = {
		.verb = KUBE_CREATE,
		.resource = prerequisite->resource,
		.namespace_name = backend->job->name_space,
		.body = body,
	};

	if (prerequisite->was_shown && !prerequisite->is_refused) {
		char *sentence CLEANUP(mem_free_text) =
			mem_format("somebody deleted the %s '%s' of the job: it is made again",
				   what_it_is(prerequisite), prerequisite->name);

		kube_backend_trouble(backend, sentence);
	}
	prerequisite->is_refused = false;
	prerequisite->call = kube_call_new(backend->settings.api, &request, on_made, prerequisite);
}

void kube_prerequisites_make(struct kube_backend *backend)
{
	for (size_t i = 0; i < backend->n_prerequisites; i++) {
		struct prerequisite *prerequisite = backend->prerequisites[i];

		if (is_missing(prerequisite) && !prerequisite->is_refused)
			make(prerequisite);
	}
}

void kube_prerequisites_try_again(struct kube_backend *backend)
{
	for (size_t i = 0; i < backend->n_prerequisites; i++)
		if (backend->prerequisites[i]->is_refused)
			make(backend->prerequisites[i]);
}

/* The right to delete Secrets is nothing that running jobs takes. */
static void on_secret_ended(struct json *object, const struct kube_status *status,
			    const struct err *err, void *data)
{
	struct prerequisite *prerequisite = data;

	(void) object, (void) status;
	prerequisite->call = NULL;
	if (err && err->code != ERR_NOT_FOUND && err->code != ERR_REFUSED)
		kube_backend_trouble(prerequisite->backend, err->text);
	kube_backend_news(prerequisite->backend);
}

void backend_kube_end_secret(struct backend *base)
{
	struct kube_backend *backend = (struct kube_backend *) base;
	const struct job *job = backend->settings.job;
	char *name CLEANUP(mem_free_text) = job_secret_name(job->name);
	struct prerequisite *prerequisite = find(backend, &kube_secrets, name);
	const struct kube_request request = {
		.verb = KUBE_DELETE,
		.resource = &kube_secrets,
		.namespace_name = job->name_space,
		.name = name,
	};

	if (!job_secret_is_named(job))
		return;
	if (!prerequisite)
		prerequisite = add(backend, &kube_secrets, name);
	kube_call_cancel(prerequisite->call);
	prerequisite->is_made = true; /* for good */
	prerequisite->call =
		kube_call_new(backend->settings.api, &request, on_secret_ended, prerequisite);
}

void backend_kube_drop_refused(struct backend *base)
{
	struct kube_backend *backend = (struct kube_backend *) base;

	for (size_t i = 0; i < backend->n_prerequisites; i++)
		backend->prerequisites[i]->is_refused = false;
}

/* Seeing. */

static bool is_ours(const struct kube_backend *backend, const struct json *object)
{
	const struct json *owners = json_get_path(object, "metadata", "ownerReferences", NULL);
	const char *uid = json_as_string(json_get(json_at(owners, 0), "uid"), NULL);

	return text_equals(uid, backend->settings.job->uid);
}

/* What the server added belongs to the one that is gone. */
static struct json *body_of(const struct json *object)
{
	struct json *body = json_new_copy(object);
	struct json *metadata = json_get(body, "metadata");
	static const char *const of_the_server[] = {
		"uid",           "resourceVersion",   "creationTimestamp",
		"managedFields", "deletionTimestamp", "deletionGracePeriodSeconds"};

	json_set_string(body, "apiVersion", "v1");
	json_set_string(body, "kind", "ConfigMap");
	for (size_t i = 0; i < ARRAY_LEN(of_the_server); i++)
		json_remove(metadata, of_the_server[i]);
	return body;
}

static bool holds_the_same(const struct json *a, const struct json *b)
{
	return json_equals(json_get(a, "data"), json_get(b, "data")) &&
	       json_equals(json_get(a, "binaryData"), json_get(b, "binaryData"));
}

/* "immutable" does not hold a user who may delete it and make another of its name. That user's
 * program would run with the rights of the job. */
static void refuse_replaced(struct kube_backend *backend, const char *name)
{
	if (!backend->refusal)
		backend->refusal = mem_format("somebody replaced the ConfigMap '%s' of the job: no "
					      "Pod may run with what it holds now",
					      name);
}

/* What it is made of again, and what it is held to, is what was there first. */
static void see_files(struct kube_backend *backend, const char *name, const struct json *object)
{
	struct prerequisite *prerequisite = find(backend, &kube_config_maps, name);

	if (!prerequisite)
		prerequisite = add(backend, &kube_config_maps, name);
	if (!prerequisite->body)
		prerequisite->body = body_of(object);
	else if (!holds_the_same(prerequisite->body, object))
		refuse_replaced(backend, name);
}

const struct kube_resource *kube_prerequisites_resource(enum job_cache_kind kind)
{
	switch (kind) {
	case JOB_CACHE_SERVICES:
		return &kube_services;
	case JOB_CACHE_NETWORK_POLICIES:
		return &kube_network_policies;
	case JOB_CACHE_FILES:
		return &kube_config_maps;
	case JOB_CACHE_OWNERS:
	case JOB_CACHE_LEASES:
	case JOB_CACHE_PODS:
	case JOB_CACHE_KIND_COUNT:
		break;
	}
	return NULL;
}

/* From here on the cache knows. */
void kube_prerequisites_see(struct kube_backend *backend, enum job_cache_kind kind,
			    const char *name)
{
	const struct json *object = job_follower_get(backend->seen, kind, name);
	const struct kube_resource *resource = kube_prerequisites_resource(kind);
	bool is_shown = object && is_ours(backend, object);
	struct prerequisite *prerequisite;

	if (!resource)
		return;
	if (is_shown && kind == JOB_CACHE_FILES)
		see_files(backend, name, object);
	prerequisite = find(backend, resource, name);
	if (prerequisite) {
		prerequisite->is_shown = is_shown;
		prerequisite->was_shown |= is_shown;
		prerequisite->is_made = false;
		prerequisite->is_refused = false;
	}
	kube_backend_news(backend);
}

static bool waits_for_secret(const struct job_pod *pod)
{
	return text_equals(pod->seen.reason, FAILURE_SECRET_MISSING);
}

/* Who may make Secrets may not look at them: a Pod that begins to wait tells that it is gone. */
void kube_prerequisites_see_pod(struct kube_backend *backend, const struct job_pod *before,
				struct job_pod *pod)
{
	const struct job_secret *secret = backend->settings.secret;
	struct prerequisite *prerequisite =
		secret ? find(backend, &kube_secrets, secret->name) : NULL;

	if (!prerequisite || !waits_for_secret(pod))
		return;
	if (!before || !text_equals(before->uid, pod->uid) || !waits_for_secret(before))
		prerequisite->is_made = false;
	pod->seen.message = arena_format(pod->arena, "somebody deleted '%s': it is made again",
					 prerequisite->name);
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

void kube_prerequisites_watch(struct kube_backend *backend)
{
	const struct job *job = backend->settings.job;
	bool is_tfjob = backend->settings.is_tfjob;

	backend->knows[JOB_CACHE_NETWORK_POLICIES] = is_tfjob || !job->has_network_policy;
	backend->knows[JOB_CACHE_FILES] = is_tfjob || !reads_config_maps(job);
	job_follower_watch(backend->seen, JOB_CACHE_SERVICES);
	if (!backend->knows[JOB_CACHE_NETWORK_POLICIES])
		job_follower_watch(backend->seen, JOB_CACHE_NETWORK_POLICIES);
	if (!backend->knows[JOB_CACHE_FILES])
		job_follower_watch(backend->seen, JOB_CACHE_FILES);
}

static void add_service(struct kube_backend *backend, const char *name, const struct role *role,
			int index)
{
	struct prerequisite *prerequisite = add(backend, &kube_services, name);

	prerequisite->role = mem_copy_text(role->name);
	prerequisite->index = index;
}

/* One for each replica, of the name of its Pod. */
static void add_services(struct kube_backend *backend)
{
	const struct job *job = backend->job;

	for (size_t i = 0; i < job->n_roles; i++)
		for (int index = 0; index < job->roles[i].replicas; index++) {
			const struct role *role = &job->roles[i];
			char *name CLEANUP(mem_free_text) = objects_pod_name(job, role, index);

			if (find(backend, &kube_services, name))
				continue;
			add_service(backend, name, role, index);
			if (job_follower_get(backend->seen, JOB_CACHE_SERVICES, name))
				kube_prerequisites_see(backend, JOB_CACHE_SERVICES, name);
		}
}

void kube_prerequisites_take_objects(struct kube_backend *backend)
{
	if (backend->settings.is_tfjob) {
		add_services(backend);
		return;
	}

	struct json *cluster CLEANUP(json_cleanup) =
		objects_cluster_new(backend->objects, backend->job->uid);
	const char *name = json_as_string(json_get_path(cluster, "metadata", "name", NULL), NULL);

	if (!name || find(backend, &kube_config_maps, name))
		return;
	add(backend, &kube_config_maps, name)->body = json_ref(cluster);
	/* Of a job that was small before. */
	job_follower_watch(backend->seen, JOB_CACHE_FILES);
}
