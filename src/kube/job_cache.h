/* What a cluster shows of jobs, for all that look at them: one watch for each kind of object,
 * however many jobs there are and however many look, and for each job its own objects, found
 * without going through those of others.
 *
 * Of Pods a struct is kept (kube/job_pod.h), and of the Services of TFJobs whose they are; of the
 * few other objects of a job the object. What changes is told to those that follow the job; they
 * read here how it is now. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/own.h"
#include "io/loop.h"
#include "kube/api.h"
#include "kube/job_pod.h"

#include <stdbool.h>
#include <stddef.h>

enum job_cache_kind {
	JOB_CACHE_OWNERS, /* the ConfigMap that a job is, JOB.job; in a cache of TFJobs of one job
			     the TFJob, and else none */
	JOB_CACHE_LEASES, /* of TFJobs there are none */
	JOB_CACHE_PODS,
	JOB_CACHE_SERVICES,
	JOB_CACHE_NETWORK_POLICIES,
	JOB_CACHE_FILES, /* ConfigMaps that Pods read */
	JOB_CACHE_POD_GROUPS, /* of TFJobs */
	JOB_CACHE_KIND_COUNT,
};

struct job_cache;
struct job_follower; /* of one job */

/* Of an object that is no Pod. */
struct job_object {
	char *uid, *owner_uid; /* and of what it goes with; NULL: it has none */
	bool is_terminating; /* somebody deletes it */
	struct json *json; /* the object; of a PodGroup its spec and status; of a Service of TFJobs,
			      of which there is one for each Pod, NULL */
};

struct job_cache_settings {
	struct loop *loop;
	struct kube_api *api;
	const char *namespace_name; /* NULL: the login's; KUBE_ALL_NAMESPACES */
	const char *job_name; /* only this one, which takes fewer rights; NULL: all */
	bool is_of_tfjobs; /* jobs are TFJob objects, else those of `run --on kubernetes` */
	const struct kube_resource *pod_groups; /* of TFJobs; NULL: there are none */
	/* In place of the followers', of which there may be many. NULL: each of them is told. */
	void (*on_trouble)(const struct err *err, void *data);
	void *data;
};

struct job_cache *job_cache_new(const struct job_cache_settings *settings) MUST_USE;
/* Ends all watches, without telling. Followers go first. NULL is fine. */
void job_cache_free(struct job_cache *cache);
/* The resourceVersion up to which objects of a kind are known; "" before the first list. */
const char *job_cache_version(const struct job_cache *cache, enum job_cache_kind kind);

/* Lists all that is watched anew (kube/mirror.h). */
void job_cache_list_again(struct job_cache *cache);
/* Begins to watch a kind, which is to be known before anybody follows a job. */
void job_cache_watch(struct job_cache *cache, enum job_cache_kind kind);

/* Any callback may be NULL. None of them may free the cache or end following. */
struct job_follower_settings {
	const char *namespace_name, *job_name;
	/* A Pod has come (`before` is NULL), has changed, or is gone (`now` is NULL); both live
	 * until this returns. Told before on_change. */
	void (*on_pod)(const struct job_pod *before, struct job_pod *now, void *data);
	/* An object of this name has come, has changed or is gone. Told also before all have come.
	 */
	void (*on_change)(enum job_cache_kind kind, const char *name, void *data);
	/* All objects of this kind are there, or are there again. */
	void (*on_synced)(enum job_cache_kind kind, void *data);
	/* They are known up to a later version (job_cache_version), and none has changed. */
	void (*on_progress)(enum job_cache_kind kind, void *data);
	/* Whether Events that warn of Pods are wanted; then those of the job's namespace come, the
	 * newest first (kube/pod_warnings.h). */
	bool (*wants_warnings)(void *data);
	void (*on_warnings)(const struct json *const *events, size_t count, void *data);
	/* A kind is not up to date for now; its watch goes on trying. */
	void (*on_trouble)(enum job_cache_kind kind, const struct err *err, void *data);
	void *data;
};

/* Follows a job, which need not be there. The texts are copied. */
struct job_follower *job_cache_follow(struct job_cache *cache,
				      const struct job_follower_settings *settings) MUST_USE;
void job_follower_free(struct job_follower *follower); /* NULL is fine */
/* Begins to watch a kind, in the next turn of the loop, unless it is watched already. */
void job_follower_watch(struct job_follower *follower, enum job_cache_kind kind);

/* Asks once for Events that warn of Pods (kube/pod_warnings.h). */
void job_follower_ask_warnings(struct job_follower *follower);

/* All objects of this kind are there, as of the last event. */
bool job_follower_is_synced(const struct job_follower *follower, enum job_cache_kind kind);
/* They are as of one moment, or not watched; not while they are listed anew (kube/mirror.h). */
bool job_follower_is_whole(const struct job_follower *follower, enum job_cache_kind kind);
size_t job_follower_count(const struct job_follower *follower, enum job_cache_kind kind);
/* An object of the job, which is of any kind but Pods; NULL: there is none. Borrowed until the loop
 * runs. */
const struct job_object *job_follower_object(const struct job_follower *follower,
					     enum job_cache_kind kind, const char *name);
/* Its json. */
const struct json *job_follower_get(const struct job_follower *follower, enum job_cache_kind kind,
				    const char *name);
/* A Pod of the job, the same. */
struct job_pod *job_follower_pod(const struct job_follower *follower, const char *name);
/* Walks the Pods in no order: for (i = 0; (pod = job_follower_next_pod(follower, &i));). */
struct job_pod *job_follower_next_pod(const struct job_follower *follower, size_t *place);
/* Walks the objects of another kind, the same; `ret_name` is borrowed as they are. */
const struct job_object *job_follower_next_object(const struct job_follower *follower,
						  enum job_cache_kind kind, size_t *place,
						  const char **ret_name);
