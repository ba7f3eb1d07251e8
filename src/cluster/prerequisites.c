/* The objects that a job's Pods need: the Service by which they find each other, the NetworkPolicy
 * that isolates them, and the ConfigMaps that they read, of files and of a large cluster; and the
 * Secret of variables, if this process created it: its values are stored nowhere else.
 *
 * They are created with the first Pods. While one is missing later, no replica has its address, and
 * a decision requests publishing; so it is created again after a user deleted it. Its body is then
 * the one that the cache showed, so that any supervisor can do so. */
#include "base/text.h"
#include "cluster/backend_state.h"
#include "io/log.h"
#include "status/failure_words.h"

#include <stdlib.h>

struct prerequisite *kube_prerequisites_find(const struct kube_backend *backend,
					     const struct kube_resource *resource, const char *name)
{
	for (size_t i = 0; i < backend->n_prerequisites; i++)
		if (backend->prerequisites[i]->resource == resource &&
		    text_equals(backend->prerequisites[i]->name, name))
			return backend->prerequisites[i];
	return NULL;
}

struct prerequisite *kube_prerequisites_add(struct kube_backend *backend,
					    const struct kube_resource *resource, const char *name)
{
	struct prerequisite *prerequisite = kube_prerequisites_find(backend, resource, name);

	if (prerequisite)
		return prerequisite;
	prerequisite = mem_new(sizeof(*prerequisite));
	prerequisite->backend = backend;
	prerequisite->resource = resource;
	prerequisite->name = mem_copy_text(name);
	mem_grow(&backend->prerequisites, &backend->prerequisites_capacity,
		 backend->n_prerequisites, sizeof(struct prerequisite *));
	backend->prerequisites[backend->n_prerequisites++] = prerequisite;
	return prerequisite;
}

struct prerequisite *kube_prerequisites_add_service(struct kube_backend *backend, const char *name)
{
	struct prerequisite *service = kube_prerequisites_find(backend, &kube_services, name);
	const char *role;
	size_t role_len;

	if (service)
		return service;
	service = kube_prerequisites_add(backend, &kube_services, name);
	if (objects_read_pod_name(backend->job, name, &role, &role_len, &service->index))
		service->role = mem_copy_bytes(role, role_len);
	if (job_follower_object(backend->seen, JOB_CACHE_SERVICES, name))
		kube_prerequisites_observe(backend, JOB_CACHE_SERVICES, name);
	return service;
}

/* The call is over, or no longer wanted. */
static void end_call(struct prerequisite *prerequisite)
{
	kube_call_cancel(TAKE(prerequisite->call));
	request_slot_release(&prerequisite->slot);
}

void kube_prerequisites_free(struct kube_backend *backend)
{
	for (size_t i = 0; i < backend->n_prerequisites; i++)
		if (!backend->prerequisites[i]->slot.is_taken)
			request_slot_release(&backend->prerequisites[i]->slot);
	for (size_t i = 0; i < backend->n_prerequisites; i++) {
		struct prerequisite *prerequisite = backend->prerequisites[i];

		end_call(prerequisite);
		json_free(prerequisite->body);
		free(prerequisite->name);
		free(prerequisite->uid);
		free(prerequisite->role);
		free(prerequisite);
	}
	free(backend->prerequisites);
}

/* The job may have lost the Service's role or replica since. */
static bool is_of_job(const struct prerequisite *prerequisite)
{
	const struct role *role = prerequisite->role
					  ? job_role(prerequisite->backend->job, prerequisite->role)
					  : NULL;

	return !prerequisite->role || (role && prerequisite->index < role->replicas);
}

/* It is missing, and is to be created now. */
static bool is_due(const struct prerequisite *prerequisite)
{
	return !prerequisite->is_refused && !prerequisite->is_shown &&
	       !prerequisite_is_called(prerequisite) && !prerequisite->is_made &&
	       !prerequisite->is_unwanted && !prerequisite->is_terminating &&
	       is_of_job(prerequisite);
}

/* A requested object counts as existing: Pods may start before their Service. */
bool kube_prerequisites_exist(const struct kube_backend *backend)
{
	for (size_t i = 0; i < backend->n_prerequisites; i++)
		if (is_due(backend->prerequisites[i]))
			return false;
	return true;
}

bool kube_prerequisites_is_any_shown(const struct kube_backend *backend)
{
	for (size_t i = 0; i < backend->n_prerequisites; i++)
		if (backend->prerequisites[i]->is_shown)
			return true;
	return false;
}

/* A deletion that has not succeeded yet is tried again. */
bool kube_prerequisites_is_quiet(const struct kube_backend *backend)
{
	for (size_t i = 0; i < backend->n_prerequisites; i++) {
		const struct prerequisite *prerequisite = backend->prerequisites[i];

		if (prerequisite_is_called(prerequisite) ||
		    (prerequisite->is_unwanted && prerequisite->is_refused))
			return false;
	}
	return true;
}

/* Calls `act` now, or when a slot is free. */
static void acquire_slot_and_call(struct prerequisite *prerequisite, void (*act)(void *data))
{
	const struct kube_backend *backend = prerequisite->backend;

	prerequisite->is_refused = false;
	if (request_slot_acquire(&prerequisite->slot, &backend->settings.api->limiter,
				 REQUEST_CHANGE, backend->job->name_space, act, prerequisite))
		act(prerequisite);
}

static bool is_any_refused(const struct kube_backend *backend)
{
	for (size_t i = 0; i < backend->n_prerequisites; i++)
		if (backend->prerequisites[i]->n_refusals > 0)
			return true;
	return false;
}

/* With growing pauses. */
static void postpone_prerequisite(struct prerequisite *prerequisite)
{
	prerequisite->is_refused = true;
	prerequisite->again_at = kube_backend_next_try(prerequisite->n_refusals++);
	kube_backend_wake(prerequisite->backend);
}

/* Of several that a quota rejects, the first is reported. An object that already exists may be the
 * job's own, from a call whose answer was lost: then it is seen before the next try. */
static void try_later(struct prerequisite *prerequisite, const struct err *err, bool was_end)
{
	struct kube_backend *backend = prerequisite->backend;
	bool is_first = !is_any_refused(backend);

	if (was_end)
		kube_report_not_deleted(backend, prerequisite->resource, err);
	else if (err->code == ERR_EXISTS ? prerequisite->n_refusals == 1 : is_first)
		kube_report_not_created(backend, prerequisite->resource, err);
	if (is_first)
		kube_backend_trouble(backend, err);
	else
		log_info("job '%s': %s", backend->job->name, err->text);
	postpone_prerequisite(prerequisite);
}

static void report_object_deleted(const struct prerequisite *prerequisite)
{
	kube_report_deleted(prerequisite->backend, prerequisite->resource, prerequisite->name,
			    prerequisite->role, prerequisite->uid);
}

/* A conflict means that another object has the name by now. */
static void on_prerequisite_deleted(const struct kube_result *result, void *data)
{
	struct prerequisite *prerequisite = data;
	const struct err *err = result->err;
	struct kube_backend *backend = prerequisite->backend;
	bool is_final =
		err && err->code == ERR_REFUSED && result->status->code; /* 0: we may not act */

	prerequisite->is_ending = false;
	request_slot_release(&prerequisite->slot);
	prerequisite->is_made = false;
	if (!err)
		report_object_deleted(prerequisite);
	if (is_final) { /* it is deleted with its owner */
		kube_report_not_deleted(backend, prerequisite->resource, err);
		kube_backend_trouble(backend, err);
	} else if (err && err->code != ERR_NOT_FOUND && err->code != ERR_CONFLICT) {
		try_later(prerequisite, err, true);
	}
	kube_backend_news(backend);
}

static void on_prerequisite_end_slot(void *data)
{
	struct prerequisite *prerequisite = data;
	struct kube_backend *backend = prerequisite->backend;
	struct json *options CLEANUP(json_cleanup) = kube_delete_options_new(prerequisite->uid);
	const struct kube_request request = {KUBE_DELETE,
					     prerequisite->resource,
					     .namespace_name = backend->job->name_space,
					     .name = prerequisite->name,
					     .body = options,
					     .wants_metadata = true};

	prerequisite->is_ending = true;
	kube_call_start(&prerequisite->call, backend->settings.api, &request,
			on_prerequisite_deleted, prerequisite);
}

/* Deletes that object only: another one of the name may not be the job's. An object from a call
 * whose answer was lost is deleted when it is shown. */
static void begin_end(struct prerequisite *prerequisite)
{
	prerequisite->is_refused = false;
	if (prerequisite->uid)
		acquire_slot_and_call(prerequisite, on_prerequisite_end_slot);
}

/* False: there is none, or it was deleted before. An object that is being created is deleted after
 * that call has ended: the server might create it after an earlier deletion. */
static bool delete_prerequisite(struct prerequisite *prerequisite)
{
	if (!prerequisite || prerequisite->is_unwanted)
		return false;
	prerequisite->is_unwanted = true;
	if (prerequisite->call)
		return true;
	request_slot_release(&prerequisite->slot); /* of its creation */
	begin_end(prerequisite);
	return true;
}

/* It was created, and a newer state of the cache does not show it. */
static bool is_prerequisite_lost(const struct prerequisite *prerequisite)
{
	const struct kube_backend *backend = prerequisite->backend;

	for (int kind = 0; kind < JOB_CACHE_KIND_COUNT; kind++)
		if (kube_prerequisites_resource(backend, kind) == prerequisite->resource)
			return prerequisite->is_made && !prerequisite->is_shown &&
			       kube_backend_would_show(backend, kind, prerequisite->made_version);
	return false;
}

void kube_prerequisites_drop_lost(struct kube_backend *backend)
{
	for (size_t i = 0; i < backend->n_prerequisites; i++) {
		struct prerequisite *prerequisite = backend->prerequisites[i];

		if (!is_prerequisite_lost(prerequisite))
			continue;
		prerequisite->is_made = false;
		prerequisite->was_shown = true; /* a user deleted it */
		kube_backend_news(backend);
	}
}

static void apply_created_object(struct prerequisite *prerequisite, const struct json *object)
{
	/* NULL: it does not exist, or another one does. */
	(void) text_keep(&prerequisite->uid,
			 json_as_string(json_get_path(object, "metadata", "uid", NULL), NULL));
	prerequisite->n_refusals = 0;
	if (prerequisite->resource == &kube_services)
		kube_report_created(prerequisite->backend, &kube_services, prerequisite->name,
				    prerequisite->role, prerequisite->uid);
}

/* An object of that name that is not ours belongs to an earlier job, and is about to be deleted;
 * ours would be in the cache. */
static void on_prerequisite_created(const struct kube_result *result, void *data)
{
	struct prerequisite *prerequisite = data;
	const struct err *err = result->err;
	struct kube_backend *backend = prerequisite->backend;

	request_slot_release(&prerequisite->slot);
	if (!err)
		apply_created_object(prerequisite, result->object);
	if (prerequisite->is_unwanted) {
		begin_end(prerequisite);
		kube_backend_news(backend);
		return;
	}
	if (err && err->code == ERR_EXISTS && prerequisite->resource == &kube_secrets)
		err = NULL; /* another client created it again */
	prerequisite->is_made = !err;
	prerequisite->made_version = kube_backend_version_of(result->object);
	if (err && result->status->refusal == KUBE_REFUSED_FOR_EVER && !backend->refusal)
		backend->refusal = mem_copy_text(err->text);
	if (err)
		try_later(prerequisite, err, false);
	prerequisite->was_shown |= is_prerequisite_lost(prerequisite);
	prerequisite->is_made &= !is_prerequisite_lost(prerequisite);
	kube_backend_news(backend);
}

static void want(struct prerequisite *prerequisite)
{
	if (!prerequisite)
		return;
	if (!prerequisite->call)
		request_slot_release(&prerequisite->slot); /* of its deletion */
	prerequisite->is_unwanted = prerequisite->was_shown = false;
}

/* NULL if no scheduler places the Pods together. */
static struct prerequisite *find_pod_group(const struct kube_backend *backend)
{
	const struct gang *gang = backend->settings.gang;

	return gang ? kube_prerequisites_find(backend, gang_resource(gang),
					      backend->settings.job->name)
		    : NULL;
}

void kube_prerequisites_require(struct kube_backend *backend, const char *pod_name)
{
	want(kube_prerequisites_find(backend, &kube_services, pod_name));
	want(find_pod_group(backend));
}

void kube_prerequisites_release(struct kube_backend *backend, const char *pod_name)
{
	const struct job_object *service =
		job_follower_object(backend->seen, JOB_CACHE_SERVICES, pod_name);

	/* The Service of a replica that the job no longer has is known from here on. */
	delete_prerequisite(kube_prerequisites_is_ours(backend, service)
				    ? kube_prerequisites_add_service(backend, pod_name)
				    : kube_prerequisites_find(backend, &kube_services, pod_name));
	if (backend->job->is_suspended)
		delete_prerequisite(find_pod_group(backend));
}

void backend_kube_end_pod_group(struct backend *base)
{
	struct kube_backend *backend = (struct kube_backend *) base;
	struct prerequisite *group = find_pod_group(backend);

	if (group && (group->is_shown || group->is_made) && delete_prerequisite(group))
		kube_report(backend, NOTE_NORMAL, "JobTerminated",
			    "Job has been terminated. Deleting PodGroup");
}

bool kube_prerequisites_block_pods(const struct kube_backend *backend)
{
	const struct prerequisite *group = find_pod_group(backend);

	if (!group || backend->refusal)
		return false;
	return !(group->is_shown || group->is_made) ||
	       !pod_group_is_admitted(
		       backend->settings.gang,
		       job_follower_get(backend->seen, JOB_CACHE_POD_GROUPS, group->name));
}

static void on_prerequisite_make_slot(void *data)
{
	struct prerequisite *prerequisite = data;
	struct kube_backend *backend = prerequisite->backend;

	/* It may have appeared while the call waited. */
	if (prerequisite->is_shown || !is_of_job(prerequisite)) {
		request_slot_release(&prerequisite->slot);
		return;
	}
	struct json *body CLEANUP(json_cleanup) =
		prerequisite->body ? json_ref(prerequisite->body)
				   : backend->kind->service_new(prerequisite);
	const struct kube_request request = {KUBE_CREATE, prerequisite->resource,
					     backend->job->name_space, .body = body,
					     .wants_metadata = true};

	kube_call_start(&prerequisite->call, backend->settings.api, &request,
			on_prerequisite_created, prerequisite);
}

static void create_prerequisite(struct prerequisite *prerequisite)
{
	const struct kube_backend *backend = prerequisite->backend;
	struct err deleted;

	err_set(&deleted, ERR_NOT_FOUND, "the %s '%s' of the job was deleted; creating it again",
		prerequisite->resource->kind, prerequisite->name);
	if (prerequisite->was_shown && !prerequisite->is_refused)
		kube_backend_trouble(prerequisite->backend, &deleted);
	/* Once for each PodGroup, in the words of training-operator. */
	if (prerequisite == find_pod_group(backend) && !prerequisite->is_refused &&
	    pod_group_has_stranger(backend->settings.gang, backend->job))
		kube_report(backend, NOTE_WARNING, "SetPodTemplateSchedulerName",
			    "Another scheduler is specified when gang-scheduling is enabled and it "
			    "will not be overwritten");
	acquire_slot_and_call(prerequisite, on_prerequisite_make_slot);
}

void kube_prerequisites_create(struct kube_backend *backend)
{
	for (size_t i = 0; i < backend->n_prerequisites; i++) {
		struct prerequisite *prerequisite = backend->prerequisites[i];

		if (is_due(prerequisite))
			create_prerequisite(prerequisite);
	}
}

/* Running jobs does not need the permission to delete Secrets. */
static void on_secret_ended(const struct kube_result *result, void *data)
{
	struct prerequisite *prerequisite = data;
	const struct err *err = result->err;

	if (err && err->code != ERR_NOT_FOUND && err->code != ERR_REFUSED)
		kube_backend_trouble(prerequisite->backend, err);
	kube_backend_news(prerequisite->backend);
}

void backend_kube_end_secret(struct backend *base)
{
	struct kube_backend *backend = (struct kube_backend *) base;
	const struct job *job = backend->settings.job;
	char *name CLEANUP(mem_free_text) = job_secret_name(job->name);
	const struct kube_request request = {KUBE_DELETE, &kube_secrets, job->name_space, name,
					     .wants_metadata = true};

	if (!job_secret_is_named(job))
		return;
	struct prerequisite *prerequisite = kube_prerequisites_add(backend, &kube_secrets, name);

	end_call(prerequisite);
	prerequisite->is_made = true; /* for good */
	kube_call_start(&prerequisite->call, backend->settings.api, &request, on_secret_ended,
			prerequisite);
}

void backend_kube_drop_refused(struct backend *base)
{
	struct kube_backend *backend = (struct kube_backend *) base;

	for (size_t i = 0; i < backend->n_prerequisites; i++)
		backend->prerequisites[i]->is_refused = false;
}

bool kube_prerequisites_is_ours(const struct kube_backend *backend, const struct job_object *object)
{
	return object && text_equals(object->owner_uid, backend->settings.job->uid);
}

/* Fields that the server added belong to the deleted object. */
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

/* The first content seen is what it is created from again, and compared with. "immutable" does not
 * stop a user who may delete the object and create another of its name. That user's program would
 * run with the permissions of the job. */
static void observe_files_config_map(struct kube_backend *backend, const char *name,
				     const struct json *object)
{
	struct prerequisite *prerequisite =
		kube_prerequisites_add(backend, &kube_config_maps, name);

	if (!prerequisite->body)
		prerequisite->body = body_of(object);
	else if (!backend->refusal &&
		 (!json_equals(json_get(prerequisite->body, "data"), json_get(object, "data")) ||
		  !json_equals(json_get(prerequisite->body, "binaryData"),
			       json_get(object, "binaryData"))))
		backend->refusal = mem_format("the ConfigMap '%s' of the job was replaced; muster "
					      "does not run Pods with the new contents",
					      name);
}

const struct kube_resource *kube_prerequisites_resource(const struct kube_backend *backend,
							enum job_cache_kind kind)
{
	bool may_be_one = kind == JOB_CACHE_SERVICES || kind == JOB_CACHE_NETWORK_POLICIES ||
			  kind == JOB_CACHE_FILES || kind == JOB_CACHE_POD_GROUPS;

	return may_be_one ? job_cache_resource(backend->settings.cache, kind) : NULL;
}

static void on_updated(const struct kube_result *result, void *data)
{
	struct prerequisite *prerequisite = data;
	const struct err *err = result->err;

	if (err && err->code != ERR_NOT_FOUND) {
		kube_backend_trouble(prerequisite->backend, err);
		prerequisite->is_updated = false;
		postpone_prerequisite(prerequisite);
	}
	if (prerequisite->is_unwanted)
		begin_end(prerequisite);
	kube_backend_news(prerequisite->backend);
}

/* Once for each wanted state: another client may insist on a different one. */
static void update_pod_group(struct prerequisite *group, const struct json *seen)
{
	struct kube_backend *backend = group->backend;
	struct json *patch CLEANUP(json_cleanup) =
		group->is_updated || group->is_unwanted || group->call
			? NULL
			: pod_group_patch_new(backend->settings.gang, group->body, seen);
	const struct kube_request request = {KUBE_PATCH, group->resource, backend->job->name_space,
					     group->name, .body = patch};

	if (!patch)
		return;
	group->is_updated = true;
	kube_call_start(&group->call, backend->settings.api, &request, on_updated, group);
}

void kube_prerequisites_try_again(struct kube_backend *backend, instant now)
{
	for (size_t i = 0; i < backend->n_prerequisites; i++) {
		struct prerequisite *prerequisite = backend->prerequisites[i];

		if (!prerequisite->is_refused || prerequisite_is_called(prerequisite) ||
		    !instant_has_come(prerequisite->again_at, now))
			continue;
		if (prerequisite->is_unwanted) {
			begin_end(prerequisite);
		} else if (!prerequisite->is_shown) {
			create_prerequisite(prerequisite);
		} else {
			prerequisite->is_refused = false;
			update_pod_group(prerequisite,
					 job_follower_get(backend->seen, JOB_CACHE_POD_GROUPS,
							  prerequisite->name));
		}
	}
}

/* From here on, the cache shows the object. */
void kube_prerequisites_observe(struct kube_backend *backend, enum job_cache_kind kind,
				const char *name)
{
	const struct job_object *object = job_follower_object(backend->seen, kind, name);
	const struct kube_resource *resource = kube_prerequisites_resource(backend, kind);
	bool is_there = kube_prerequisites_is_ours(backend, object);
	bool is_terminating = is_there && kind == JOB_CACHE_POD_GROUPS && object->is_terminating;
	bool is_shown = is_there && !is_terminating;
	struct prerequisite *prerequisite;

	if (!resource)
		return;
	if (is_shown && kind == JOB_CACHE_FILES)
		observe_files_config_map(backend, name, object->json);
	prerequisite = kube_prerequisites_find(backend, resource, name);
	if (prerequisite) {
		/* Its deletion may be seen before the call is answered. */
		if (!is_there && prerequisite->call && prerequisite->is_ending && prerequisite->uid)
			report_object_deleted(prerequisite);
		prerequisite->is_shown = is_shown;
		prerequisite->is_terminating = is_terminating;
		prerequisite->was_shown |= is_shown;
		prerequisite->is_made = false;
		prerequisite->is_refused = false;
		prerequisite->n_refusals = 0;
		(void) text_keep(&prerequisite->uid, is_there ? object->uid : NULL);
	}
	if (prerequisite && is_shown && kind == JOB_CACHE_POD_GROUPS)
		update_pod_group(prerequisite, object->json);
	/* It was to be deleted: the deletion failed, or the creation came after it. */
	if (prerequisite && prerequisite->is_unwanted && is_shown &&
	    !prerequisite_is_called(prerequisite) && !object->is_terminating)
		begin_end(prerequisite);
	kube_backend_news(backend);
}

static bool waits_for_secret(const struct job_pod *pod)
{
	return text_equals(pod->seen.reason, FAILURE_SECRET_MISSING);
}

/* A login that may create Secrets may not be permitted to read them: a Pod that starts to wait
 * shows that the Secret was deleted. */
void kube_prerequisites_observe_pod(struct kube_backend *backend, const struct job_pod *before,
				    struct job_pod *pod)
{
	const struct job_secret *secret = backend->settings.secret;
	struct prerequisite *prerequisite =
		secret ? kube_prerequisites_find(backend, &kube_secrets, secret->name) : NULL;

	if (!prerequisite || !waits_for_secret(pod))
		return;
	if (!before || !text_equals(before->uid, pod->uid) || !waits_for_secret(before))
		prerequisite->is_made = false;
	pod->seen.message =
		arena_format(pod->arena, "'%s' was deleted; creating it again", prerequisite->name);
}
