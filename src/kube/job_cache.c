/* A mirror for each kind stores `struct cached_object`; a job's table has pointers to them. */
#include "kube/job_cache.h"

#include "base/names.h"
#include "kube/mirror.h"
#include "kube/mirror_table.h"
#include "kube/objects.h"

/* Of a list of warnings. */
#define PAUSE (10 * MSEC_PER_SECOND)
#define PAUSE_WITHOUT_RIGHT (300 * MSEC_PER_SECOND)
#define MOST_EVENTS "1000"

/* Exists while it has an object or a follower. */
struct cached_job {
	char *key;
	struct mirror_table objects[JOB_CACHE_KIND_COUNT]; /* of struct cached_object, by name */
	LIST_HEAD(, job_follower) followers;
};

struct cached_object {
	struct job_object object; /* first member, so that both pointers are equal */
	struct cached_job *job;
};

struct kind_watch {
	struct job_cache *cache;
	enum job_cache_kind kind;
	struct kube_mirror *mirror; /* NULL: no follower asked for it */
	struct cached_job *changed; /* the job whose object changed, until that is reported */
};

struct job_cache {
	struct job_cache_settings settings;
	char *namespace_name, *job_name;
	struct kind_watch watches[JOB_CACHE_KIND_COUNT];
	struct mirror_table jobs; /* of struct cached_job, by key */
	struct mirror_table listings; /* of struct warnings_listing, by namespace */
	LIST_HEAD(, job_follower) followers; /* of all jobs */
	bool is_ending;
};

/* The list of Warning Events of one namespace. */
struct warnings_listing {
	struct job_cache *cache;
	char *namespace_name;
	struct loop_watch *timer;
	struct kube_call *call;
	bool is_asked;
};

struct job_follower {
	struct job_cache *cache;
	struct cached_job *job;
	LIST_ENTRY(job_follower) link, cache_link;
	char *namespace_name;
	struct job_follower_settings settings; /* without its texts */
};

static const struct kube_resource *const resources[JOB_CACHE_KIND_COUNT] = {
	[JOB_CACHE_OWNERS] = &kube_config_maps,
	[JOB_CACHE_LEASES] = &kube_leases,
	[JOB_CACHE_PODS] = &kube_pods,
	[JOB_CACHE_SERVICES] = &kube_services,
	[JOB_CACHE_NETWORK_POLICIES] = &kube_network_policies,
	[JOB_CACHE_FILES] = &kube_config_maps,
};

/* In a cache of one job, the key needs no name. */
static char *key_of(const struct job_cache *cache, const char *namespace_name, const char *job_name)
{
	return cache->job_name ? mem_copy_text("") : mem_format("%s/%s", namespace_name, job_name);
}

static struct cached_job *job_at(struct job_cache *cache, char *take_key)
{
	struct mirror_entry *entry = mirror_table_put(&cache->jobs, take_key);
	struct cached_job *job = entry->kept;

	if (job) {
		free(take_key);
		return job;
	}
	job = mem_new(sizeof(*job));
	job->key = take_key;
	entry->kept = job;
	return job;
}

static void cached_job_free(struct cached_job *job)
{
	for (int kind = 0; kind < JOB_CACHE_KIND_COUNT; kind++)
		mirror_table_done(&job->objects[kind]);
	free(job->key);
	free(job);
}

static void drop_job_if_idle(struct job_cache *cache, struct cached_job *job)
{
	if (!LIST_EMPTY(&job->followers))
		return;
	for (int kind = 0; kind < JOB_CACHE_KIND_COUNT; kind++)
		if (job->objects[kind].count)
			return;
	mirror_table_drop(&cache->jobs, job->key);
	cached_job_free(job);
}

/* A PodGroup has the name of its job, but no labels. */
static struct cached_job *cached_job_of(struct job_cache *cache, enum job_cache_kind kind,
					const struct json *object)
{
	const struct json *metadata = json_get(object, "metadata");
	const char *job_name = kind == JOB_CACHE_POD_GROUPS
				       ? json_get_string(metadata, "name", NULL)
				       : pod_labels_job(metadata);

	return job_at(cache, key_of(cache, json_get_string(metadata, "namespace", ""),
				    job_name ? job_name : ""));
}

static void notify_pod_followers(const struct cached_job *job, const struct job_pod *before,
				 struct job_pod *now)
{
	struct job_follower *follower;

	LIST_FOREACH (follower, &job->followers, link)
		if (follower->settings.on_pod)
			follower->settings.on_pod(before, now, follower->settings.data);
}

static void on_cached_object_change(const char *name, void *data)
{
	struct kind_watch *watch = data;
	struct cached_job *job = TAKE(watch->changed);
	const char *slash = strchr(name, '/');
	struct job_follower *follower;

	if (!job)
		return;
	LIST_FOREACH (follower, &job->followers, link)
		if (follower->settings.on_change)
			follower->settings.on_change(watch->kind, slash ? slash + 1 : name,
						     follower->settings.data);
	drop_job_if_idle(watch->cache, job);
}

static void on_cached_kind_synced(void *data)
{
	const struct kind_watch *watch = data;
	const struct job_follower *follower;

	LIST_FOREACH (follower, &watch->cache->followers, cache_link)
		if (follower->settings.on_synced)
			follower->settings.on_synced(watch->kind, follower->settings.data);
}

static void on_cached_kind_progress(void *data)
{
	const struct kind_watch *watch = data;
	const struct job_follower *follower;

	LIST_FOREACH (follower, &watch->cache->followers, cache_link)
		if (follower->settings.on_progress)
			follower->settings.on_progress(watch->kind, follower->settings.data);
}

static void on_cached_kind_trouble(const struct err *err, void *data)
{
	const struct kind_watch *watch = data;
	const struct job_cache_settings *settings = &watch->cache->settings;
	const struct job_follower *follower;

	if (settings->on_trouble) {
		settings->on_trouble(err, settings->data);
		return;
	}
	LIST_FOREACH (follower, &watch->cache->followers, cache_link)
		if (follower->settings.on_trouble)
			follower->settings.on_trouble(watch->kind, err, follower->settings.data);
}

/* Whether the follower wants the Events of that namespace. */
static bool wants_warnings(const struct job_follower *follower,
			   const struct warnings_listing *listing)
{
	return follower->settings.wants_warnings &&
	       text_equals(follower->namespace_name, listing->namespace_name) &&
	       follower->settings.wants_warnings(follower->settings.data);
}

struct dated_event {
	msec time;
	const struct json *event;
};

/* When it was last seen; a new Event has eventTime, a repeated one lastTimestamp. */
static msec time_of(const struct json *event)
{
	msec last = json_as_time(json_get(event, "lastTimestamp"));

	return last != MSEC_UNSET ? last : json_as_time(json_get(event, "eventTime"));
}

static int newest_first(const void *a, const void *b)
{
	const struct dated_event *first = a, *second = b;

	return (first->time < second->time) - (first->time > second->time);
}

/* Excludes the scheduler's reasons, which are outdated once the Pod has a node. */
bool job_cache_is_warning(const char *reason)
{
	static const char *const reasons[] = {"FailedMount", "FailedAttachVolume",
					      "FailedMapVolume", "FailedCreatePodSandBox",
					      "NetworkNotReady"};

	return name_find_word(reasons, ARRAY_LEN(reasons), reason) >= 0;
}

static void report_pod_warnings(const struct warnings_listing *listing, const struct json *list)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct dated_event *dated = arena_take_array(arena, json_count(list), sizeof(*dated));
	const struct json **events = arena_take_array(arena, json_count(list), sizeof(*events));
	const struct job_follower *follower;
	size_t count = 0;

	for (size_t i = 0; i < json_count(list); i++) {
		const struct json *event = json_at(list, i);

		if (job_cache_is_warning(json_get_string(event, "reason", "")))
			dated[count++] = (struct dated_event){time_of(event), event};
	}
	if (count > 0)
		qsort(dated, count, sizeof(*dated), newest_first);
	for (size_t i = 0; i < count; i++)
		events[i] = dated[i].event;
	LIST_FOREACH (follower, &listing->cache->followers, cache_link)
		if (wants_warnings(follower, listing))
			follower->settings.on_warnings(events, count, follower->settings.data);
}

static void listing_free(struct warnings_listing *listing)
{
	kube_call_cancel(listing->call);
	loop_watch_free(listing->timer);
	free(listing->namespace_name);
	free(listing);
}

static void delete_warnings_listing(struct warnings_listing *listing)
{
	mirror_table_drop(&listing->cache->listings, listing->namespace_name);
	listing_free(listing);
}

static void on_warnings_listed(const struct kube_result *result, void *data)
{
	struct warnings_listing *listing = data;
	const struct err *err = result->err;

	if (err && err->code == ERR_REFUSED) {
		loop_timer_arm_after(listing->timer, PAUSE_WITHOUT_RIGHT);
		return;
	}
	listing->is_asked = false;
	report_pod_warnings(listing, err ? NULL : json_get(result->object, "items"));
	if (!listing->is_asked)
		delete_warnings_listing(listing);
}

static void list_warnings(void *data)
{
	static const struct kube_parameter warnings_of_pods[] = {
		{"fieldSelector", "involvedObject.kind=Pod,type=Warning"},
		{"limit", MOST_EVENTS},
		{0},
	};
	struct warnings_listing *listing = data;
	const struct kube_request request = {KUBE_LIST, &kube_events, listing->namespace_name,
					     .parameters = warnings_of_pods};
	const struct job_follower *follower;

	LIST_FOREACH (follower, &listing->cache->followers, cache_link)
		if (wants_warnings(follower, listing))
			break;
	if (follower)
		kube_call_start(&listing->call, listing->cache->settings.api, &request,
				on_warnings_listed, listing);
	else
		delete_warnings_listing(listing);
}

void job_follower_ask_warnings(struct job_follower *follower)
{
	struct job_cache *cache = follower->cache;
	struct mirror_entry *entry = mirror_table_put(&cache->listings, follower->namespace_name);
	struct warnings_listing *listing = entry->kept;

	if (!listing) {
		entry->kept = listing = mem_new(sizeof(*listing));
		listing->cache = cache;
		listing->namespace_name = mem_copy_text(follower->namespace_name);
		listing->timer = loop_new_timer(cache->settings.api->loop, list_warnings, listing);
	}
	if (listing->is_asked)
		return;
	listing->is_asked = true;
	loop_timer_arm_after(listing->timer, PAUSE);
}

static struct cached_object *make_cached_object(struct kind_watch *watch, const struct json *json)
{
	struct cached_object *object = mem_new(sizeof(*object));
	const char *name = json_as_string(json_get_path(json, "metadata", "name", NULL), "");

	object->job = cached_job_of(watch->cache, watch->kind, json);
	object->object.name = mem_copy_text(name);
	mirror_table_put(&object->job->objects[watch->kind], name)->kept = object;
	return object;
}

static void job_object_done(struct job_object *object)
{
	free(object->uid);
	free(object->owner_uid);
	json_free(object->json);
}

static void release_cached_object(void *kept, void *data)
{
	struct kind_watch *watch = data;
	struct cached_object *object = kept;
	struct job_pod *pod = object->object.pod;

	mirror_table_drop(&object->job->objects[watch->kind], object->object.name);
	watch->changed = object->job;
	if (pod && !watch->cache->is_ending)
		notify_pod_followers(object->job, pod, NULL);
	job_pod_free(pod);
	job_object_done(&object->object);
	free(object->object.name);
	free(object);
}

static struct json *kept_json_new(const struct kind_watch *watch, const struct json *json)
{
	struct json *kept;

	if (watch->kind == JOB_CACHE_SERVICES && watch->cache->settings.is_of_tfjobs)
		return NULL;
	if (watch->kind != JOB_CACHE_POD_GROUPS)
		return json_new_copy(json);
	kept = json_new_object();
	json_copy_member(kept, json, "spec");
	json_copy_member(kept, json, "status");
	return kept;
}

static void store_cached_object(struct cached_object *object, const struct kind_watch *watch,
				const struct json *json)
{
	const struct json *metadata = json_get(json, "metadata");
	const struct json *owner = objects_owner_of(metadata);

	job_object_done(&object->object);
	object->object = (struct job_object){
		.name = object->object.name,
		.uid = mem_copy_text(json_get_string(metadata, "uid", NULL)),
		.owner_uid = mem_copy_text(json_get_string(owner, "uid", NULL)),
		.is_terminating = json_get(metadata, "deletionTimestamp"),
		.json = kept_json_new(watch, json),
	};
}

static void *project(const struct json *json, void *before, void *data)
{
	struct kind_watch *watch = data;
	struct cached_object *object = before;
	struct job_pod *pod = watch->kind == JOB_CACHE_PODS ? job_pod_read(json) : NULL;

	/* An object whose own data is invalid is reported as deleted. */
	if (watch->kind == JOB_CACHE_PODS && !pod) {
		if (object)
			release_cached_object(object, watch);
		watch->changed = cached_job_of(watch->cache, watch->kind, json);
		return NULL;
	}
	if (!object)
		object = make_cached_object(watch, json);
	watch->changed = object->job;
	if (pod) {
		struct job_pod *replaced = object->object.pod;

		object->object.pod = pod;
		notify_pod_followers(object->job, replaced, pod);
		job_pod_free(replaced);
	} else {
		store_cached_object(object, watch, json);
	}
	return object;
}

static char *selector_of(const struct job_cache *cache, enum job_cache_kind kind)
{
	static const char *const parts[JOB_CACHE_KIND_COUNT] = {
		[JOB_CACHE_OWNERS] = "," OBJECTS_LABEL_PART "!=" OBJECTS_PART_FILES,
		[JOB_CACHE_FILES] = "," OBJECTS_LABEL_PART "=" OBJECTS_PART_FILES,
	};
	char *job CLEANUP(mem_free_text) =
		cache->job_name ? objects_selector(cache->job_name)
				: mem_copy_text(OBJECTS_LABEL_MANAGED_BY "=" OBJECTS_MANAGED_BY);

	if (kind == JOB_CACHE_POD_GROUPS)
		return NULL;
	if (cache->settings.is_of_tfjobs)
		return mem_format(KUBEFLOW_LABEL_OPERATOR "=" KUBEFLOW_OPERATOR "%s%s",
				  cache->job_name ? "," KUBEFLOW_LABEL_JOB "=" : "",
				  cache->job_name ? cache->job_name : "");
	return mem_format("%s%s", job, parts[kind] ? parts[kind] : "");
}

const struct kube_resource *job_cache_resource(const struct job_cache *cache,
					       enum job_cache_kind kind)
{
	if (kind == JOB_CACHE_POD_GROUPS)
		return cache->settings.pod_groups;
	return kind == JOB_CACHE_OWNERS && cache->settings.is_of_tfjobs ? &kube_tfjobs
									: resources[kind];
}

/* The name by which an object is watched in a cache of one job, which needs fewer permissions than
 * a selector; NULL: none. A TFJob object has the name of the job itself. Caller frees. */
static char *name_of_watched(const struct job_cache *cache, enum job_cache_kind kind)
{
	if (!cache->job_name || (kind != JOB_CACHE_OWNERS && kind != JOB_CACHE_LEASES))
		return NULL;
	return cache->settings.is_of_tfjobs ? mem_copy_text(cache->job_name)
					    : objects_owner_name(cache->job_name);
}

void job_cache_watch(struct job_cache *cache, enum job_cache_kind kind)
{
	struct kind_watch *watch = &cache->watches[kind];
	char *name CLEANUP(mem_free_text) = name_of_watched(cache, kind);
	char *selector CLEANUP(mem_free_text) = name ? NULL : selector_of(cache, kind);
	const struct kube_mirror_settings settings = {
		.resource = job_cache_resource(cache, kind),
		.namespace_name = cache->namespace_name,
		.object_name = name,
		.label_selector = selector,
		.project = project,
		.release = release_cached_object,
		.on_change = on_cached_object_change,
		.on_synced = on_cached_kind_synced,
		.on_progress = on_cached_kind_progress,
		.on_trouble = on_cached_kind_trouble,
		.data = watch,
	};

	if (watch->mirror)
		return;
	watch->cache = cache;
	watch->kind = kind;
	watch->mirror = kube_mirror_new(cache->settings.api, &settings);
}

struct job_cache *job_cache_new(const struct job_cache_settings *settings)
{
	struct job_cache *cache = mem_new(sizeof(*cache));

	cache->settings = *settings;
	cache->namespace_name = mem_copy_text(settings->namespace_name);
	cache->job_name = mem_copy_text(settings->job_name);
	return cache;
}

void job_cache_free(struct job_cache *cache)
{
	if (!cache)
		return;
	cache->is_ending = true;
	for (int kind = 0; kind < JOB_CACHE_KIND_COUNT; kind++)
		kube_mirror_free(cache->watches[kind].mirror);
	struct cached_job *job;
	struct warnings_listing *listing;
	const void *place = NULL;

	while ((job = mirror_table_next(&cache->jobs, &place)))
		cached_job_free(job);
	mirror_table_done(&cache->jobs);
	for (place = NULL; (listing = mirror_table_next(&cache->listings, &place));)
		listing_free(listing);
	mirror_table_done(&cache->listings);
	free(cache->namespace_name);
	free(cache->job_name);
	free(cache);
}

const char *job_cache_version(const struct job_cache *cache, enum job_cache_kind kind)
{
	const struct kube_mirror *mirror = cache->watches[kind].mirror;

	return mirror ? mirror->reflection.version : "";
}

void job_cache_list_again(struct job_cache *cache)
{
	for (int kind = 0; kind < JOB_CACHE_KIND_COUNT; kind++)
		if (cache->watches[kind].mirror)
			kube_mirror_list_again(cache->watches[kind].mirror);
}

struct job_follower *job_cache_follow(struct job_cache *cache,
				      const struct job_follower_settings *settings)
{
	struct job_follower *follower = mem_new(sizeof(*follower));

	follower->cache = cache;
	follower->job = job_at(cache, key_of(cache, settings->namespace_name, settings->job_name));
	follower->namespace_name = mem_copy_text(settings->namespace_name);
	follower->settings = *settings;
	LIST_INSERT_HEAD(&follower->job->followers, follower, link);
	LIST_INSERT_HEAD(&cache->followers, follower, cache_link);
	return follower;
}

void job_follower_free(struct job_follower *follower)
{
	if (!follower)
		return;
	LIST_REMOVE(follower, link);
	LIST_REMOVE(follower, cache_link);
	drop_job_if_idle(follower->cache, follower->job);
	free(follower->namespace_name);
	free(follower);
}

bool job_follower_is_synced(const struct job_follower *follower, enum job_cache_kind kind)
{
	const struct kube_mirror *mirror = follower->cache->watches[kind].mirror;

	return mirror && mirror->reflection.is_synced;
}

bool job_follower_is_whole(const struct job_follower *follower, enum job_cache_kind kind)
{
	const struct kube_mirror *mirror = follower->cache->watches[kind].mirror;

	return !mirror || !mirror->is_partial;
}

size_t job_follower_count(const struct job_follower *follower, enum job_cache_kind kind)
{
	return follower->job->objects[kind].count;
}

const struct job_object *job_follower_object(const struct job_follower *follower,
					     enum job_cache_kind kind, const char *name)
{
	return mirror_table_get(&follower->job->objects[kind], name);
}

const struct json *job_follower_get(const struct job_follower *follower, enum job_cache_kind kind,
				    const char *name)
{
	const struct job_object *object = job_follower_object(follower, kind, name);

	return object ? object->json : NULL;
}

struct job_pod *job_follower_pod(const struct job_follower *follower, const char *name)
{
	const struct job_object *object = job_follower_object(follower, JOB_CACHE_PODS, name);

	return object ? object->pod : NULL;
}

const struct job_object *job_follower_next_object(const struct job_follower *follower,
						  enum job_cache_kind kind, const void **place)
{
	return mirror_table_next(&follower->job->objects[kind], place);
}

struct job_pod *job_follower_next_pod(const struct job_follower *follower, const void **place)
{
	const struct job_object *object = job_follower_next_object(follower, JOB_CACHE_PODS, place);

	return object ? object->pod : NULL;
}
