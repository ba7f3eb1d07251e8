/* What a cluster shows of jobs, for all followers: one watch for each kind of object, however many
 * jobs and followers there are. Each job's own objects are found without a scan of the others.
 *
 * A Pod is stored as a struct (kube/job_pod.h), a Service of a TFJob only as its owner, any other
 * object as JSON. Changes are reported to the job's followers, which read the state from here. */
#pragma once

#include "base/json.h"
#include "kube/api.h"
#include "kube/job_pod.h"

enum job_cache_kind {
	JOB_CACHE_OWNERS, /* JOB.job, the ConfigMap; in a cache of one TFJob the TFJob; else none */
	JOB_CACHE_LEASES, /* none for TFJobs */
	JOB_CACHE_PODS,
	JOB_CACHE_SERVICES,
	JOB_CACHE_NETWORK_POLICIES,
	JOB_CACHE_FILES, /* ConfigMaps that Pods read */
	JOB_CACHE_POD_GROUPS, /* for TFJobs */
	JOB_CACHE_KIND_COUNT,
};

struct job_cache;
struct job_follower; /* follows one job */

/* An object: a Pod, or one that has the fields after it. */
struct job_object {
	char *name;
	struct job_pod *pod; /* NULL: it is no Pod */
	char *uid, *owner_uid; /* owner_uid: of its owner; NULL: none */
	bool is_terminating; /* its deletion has begun */
	struct json *json; /* the object; of a PodGroup only spec and status; NULL for Services of
			      TFJobs, of which each Pod has one */
};

struct job_cache_settings {
	struct kube_api *api;
	const char *namespace_name; /* NULL: the login's; or KUBE_ALL_NAMESPACES */
	const char *job_name; /* only this job, which needs fewer permissions; NULL: all */
	bool is_of_tfjobs; /* jobs are TFJob objects; else jobs of `run --on kubernetes` */
	const struct kube_resource *pod_groups; /* for TFJobs; NULL: there are none */
	/* Called instead of the followers' on_trouble, of which there may be many. NULL: each
	 * follower is told. */
	void (*on_trouble)(const struct err *err, void *data);
	void *data;
};

struct job_cache *job_cache_new(const struct job_cache_settings *settings) MUST_USE;
/* Ends all watches without callbacks. Free the followers first. NULL is fine. */
void job_cache_free(struct job_cache *cache);
/* The resource of a kind of objects; NULL: there is none. */
const struct kube_resource *job_cache_resource(const struct job_cache *cache,
					       enum job_cache_kind kind);
/* The resourceVersion up to which objects of a kind are known; "" before the first list. */
const char *job_cache_version(const struct job_cache *cache, enum job_cache_kind kind);

/* Lists all watched kinds again (kube/mirror.h). */
void job_cache_list_again(struct job_cache *cache);
/* Starts to watch a kind, in the next turn of the loop, unless it is already watched. Call it
 * before the first follower if the kind must be known by then. */
void job_cache_watch(struct job_cache *cache, enum job_cache_kind kind);

/* Any callback may be NULL. No callback may free the cache or a follower. */
struct job_follower_settings {
	const char *namespace_name, *job_name;
	/* A Pod was added (`before` is NULL), changed, or deleted (`now` is NULL). Both live until
	 * this returns. Called before on_change. */
	void (*on_pod)(const struct job_pod *before, struct job_pod *now, void *data);
	/* An object of this name was added, changed or deleted, perhaps before on_synced. */
	void (*on_change)(enum job_cache_kind kind, const char *name, void *data);
	/* All objects of this kind are known, for the first time or again. */
	void (*on_synced)(enum job_cache_kind kind, void *data);
	/* The objects are known up to a later version (job_cache_version) and none has changed. */
	void (*on_progress)(enum job_cache_kind kind, void *data);
	/* Whether Warning Events of Pods are wanted. If so, on_warnings gets the Events of the
	 * job's namespace, the newest first, all borrowed; none if the request failed. It may ask
	 * again. */
	bool (*wants_warnings)(void *data);
	void (*on_warnings)(const struct json *const *events, size_t count, void *data);
	/* A kind is not up to date at present; its watch keeps retrying. */
	void (*on_trouble)(enum job_cache_kind kind, const struct err *err, void *data);
	void *data;
};

/* Follows a job, which need not exist. The texts are copied. */
struct job_follower *job_cache_follow(struct job_cache *cache,
				      const struct job_follower_settings *settings) MUST_USE;
void job_follower_free(struct job_follower *follower); /* NULL is fine */

/* Requests the Events that tell why Pods are not set up on their nodes (volumes, network), ten
 * seconds from now. For such a list the server reads all Events of the namespace: requests for one
 * namespace share a list. If permission is missing, the next list is minutes later. */
void job_follower_ask_warnings(struct job_follower *follower);
/* Whether this is the reason of such an Event. */
bool job_cache_is_warning(const char *reason);

/* Whether all objects of this kind are known, as of the last event. */
bool job_follower_is_synced(const struct job_follower *follower, enum job_cache_kind kind);
/* Whether they show one moment, or are not watched; false while they are listed again. */
bool job_follower_is_whole(const struct job_follower *follower, enum job_cache_kind kind);
size_t job_follower_count(const struct job_follower *follower, enum job_cache_kind kind);
/* An object of the job; NULL: none. Borrowed until the loop runs. */
const struct job_object *job_follower_object(const struct job_follower *follower,
					     enum job_cache_kind kind, const char *name);
/* The json of that object. */
const struct json *job_follower_get(const struct job_follower *follower, enum job_cache_kind kind,
				    const char *name);
/* A Pod of the job; NULL and lifetime as above. */
struct job_pod *job_follower_pod(const struct job_follower *follower, const char *name);
/* Walks the Pods: for (at = NULL; (pod = job_follower_next_pod(follower, &at));). */
struct job_pod *job_follower_next_pod(const struct job_follower *follower, const void **place);
/* Walks the objects of any kind likewise. */
const struct job_object *job_follower_next_object(const struct job_follower *follower,
						  enum job_cache_kind kind, const void **place);
