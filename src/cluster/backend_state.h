/* The state of the back end for Kubernetes: its job, and the calls that are due. Only the files of
 * the back end include it:
 *
 *     backend_functions.c  the functions of a back end; the last lines of a failed Pod
 *     observe.c            what the cache shows, and why Pods wait
 *     pod_calls.c          starts and deletions of Pods
 *     kinds.c              the objects of a kind of job
 *     prerequisites.c      objects that Pods need to run
 *     backend_events.c     Events of a TFJob
 *     backend_state.c      this file, the lowest layer */
#pragma once

#include "cluster/backend.h"
#include "cluster/pending.h"
#include "cluster/pod_logs.h"
#include "kube/job_cache.h"
#include "kube/objects.h"
#include "kube/request_limiter.h"
#include "kube/tfjob_objects.h"

/* A server that rejects one call because of a quota, a missing permission or its own trouble
 * rejects all similar calls. Meanwhile one call probes, after longer and longer pauses, and the
 * others wait for its answer. Otherwise thousands of Pods would flood the server for ever. */
struct circuit_breaker {
	int n_refusals; /* in a row; 0: calls are allowed */
	instant again_at; /* when the next call may probe */
	const char *word; /* reason of the last refusal, */
	char *why; /* and its sentence */
};

/* The last lines of a Pod whose replica failed, requested once from the API server: for a job whose
 * logs are not followed. One Pod at a time: the one that a failure report names. Lines that the
 * server does not send in time are not requested again. */
struct pod_tail {
	struct loop_watch *timer;
	struct kube_call *call;
	char *pod_name, *uid; /* of the last requested Pod; NULL: none */
	int attempt, n_ends_in_place;
	struct text text;
};

struct kube_backend {
	struct backend base;
	struct backend_kube_settings settings;
	const struct kube_kind *kind;
	struct job_follower *seen; /* the job's objects as the cache has them */
	bool knows[JOB_CACHE_KIND_COUNT]; /* they were listed once, or the job needs none */
	struct prerequisite **prerequisites;
	size_t n_prerequisites, prerequisites_capacity;
	char *refusal; /* why a Pod can never be created; NULL: it can */
	struct mirror_table pending; /* of struct pending, by Pod */
	struct circuit_breaker starts, ends; /* creations and deletions of Pods */
	bool has_made_pods; /* so the login has the permission */
	bool is_end_refused; /* a rejected deletion was reported, and none has succeeded since */
	bool is_policy_told; /* reported: a template's restart policy is ignored */
	struct json *taken_back; /* an object: names of Pods whose address was withdrawn */
	struct pod_logs *logs; /* NULL: logs are not stored, and `tail` is used */
	struct pod_tail tail;
	size_t n_stuck; /* Pods that wait for a reason that only Events show */
	struct startup startup, told_startup; /* the current one, and the last reported one */
	char *last_trouble; /* already reported */
	struct loop_watch *timer; /* for calls that were rejected */

	struct job *job; /* as last observed; NULL: not observed yet */
	struct objects *objects; /* made from `job` */
};

/* The differences between the objects of a TFJob and those of `run --on kubernetes`. */
struct kube_kind {
	struct backend_traits traits;
	/* Whether the back end needs this kind of the cache. */
	bool (*reads)(const struct kube_backend *backend, enum job_cache_kind kind);
	/* Adds the prerequisites that are known from settings.job. NULL: there are none. */
	void (*begin)(struct kube_backend *backend);
	/* Called when `job` has changed: adds the prerequisites that follow from it. */
	void (*take_job)(struct kube_backend *backend);
	struct json *(*pod_new)(const struct kube_backend *backend, const struct role *role,
				int index, int attempt);
	bool awaits_rights; /* a missing permission is the operator's: it may be granted later */
	/* Body of a Service that has no stored body. */
	struct json *(*service_new)(const struct prerequisite *service);
};
extern const struct kube_kind kube_kind_plain, kube_kind_tfjob;

/* An object that all Pods need: the Service, a ConfigMap of files, the Secret if we have it. */
struct prerequisite {
	struct kube_backend *backend;
	const struct kube_resource *resource;
	char *name;
	char *uid; /* of the job's own object, as last shown or created; NULL: there is none */
	struct json *body; /* to create it again from; NULL: it is made from the job */
	struct request_slot slot; /* of `call`: all jobs share one budget, so that no status waits
				     for a thousand Services */
	struct kube_call *call;
	bool is_shown, was_shown; /* by the cache, now or once; never for a Secret */
	bool is_made; /* the call was answered; the cache may not show the object yet */
	int64_t made_version; /* its resourceVersion then */
	bool is_refused; /* until `again_at`, when it is tried again */
	instant again_at;
	int n_refusals; /* in a row */
	bool is_ending; /* `call` is its deletion */
	bool is_unwanted; /* the replica has no address any longer, or the job has no Pods */
	bool is_terminating; /* a PodGroup, which stays until its Pods are deleted */
	bool is_updated; /* a PodGroup: the update to `body` was requested */
	char *role; /* of a TFJob's Service: its replica's role; NULL: it is the job's */
	int index;
};

/* Whether a call is in progress or waits for its slot. */
bool prerequisite_is_called(const struct prerequisite *prerequisite);

/* Whether the Pod is of this job, and not left by an earlier job of its name. */
bool kube_backend_owns(const struct kube_backend *backend, const struct job_pod *pod);
/* Whether the Pod, which may be NULL, is the job's own Pod of that attempt. */
bool kube_backend_is_attempt(const struct kube_backend *backend, const struct job_pod *pod,
			     int attempt);

/* Whether the Pod has an owner, so that it is deleted with the owner. A Pod without an owner blocks
 * its name until a user deletes it; the server is asked again, and each refusal is reported. */
bool kube_backend_is_collected(const struct job_pod *pod);

bool kube_backend_has_observed(const struct kube_backend *backend);
void kube_backend_news(const struct kube_backend *backend);
/* Reports an error, unless it is the one reported last. */
void kube_backend_trouble(struct kube_backend *backend, const struct err *err);
void kube_backend_report_earlier_pods(struct kube_backend *backend);

/* Whether the Pod of that name, whose process was asked to exit, is still running. */
bool kube_backend_is_live(const struct kube_backend *backend, const struct pending *pending);
/* Whether the Pod is kept for a fetch, and its process may still exit by itself. */
bool kube_backend_is_waited_for(const struct kube_backend *backend, const struct pending *pending);
/* Whether the log of this Pod is still being read, so that the Pod must stay. */
bool kube_backend_is_read(const struct kube_backend *backend, const char *pod_name,
			  const char *uid);
/* The resourceVersion of an object that was just created; 0: it is not a number. */
int64_t kube_backend_version_of(const struct json *object);
/* Whether the cache is as new as this version, so that it shows all that still exists. */
bool kube_backend_would_show(const struct kube_backend *backend, enum job_cache_kind kind,
			     int64_t version);
/* Drops the start of a Pod that was created but is missing in a newer state of the cache: it was
 * deleted, or its labels no longer match a replica. */
void kube_backend_drop_lost(struct kube_backend *backend, struct pending *pending);
/* Sets the timer to the moment when the next call is due. */
void kube_backend_wake(struct kube_backend *backend);
/* When to try again after so many earlier refusals; random, so that calls that wait for one quota
 * are not all repeated at the same time. */
instant kube_backend_next_try(int n_refusals);
/* While it is open, only the probing call may be made. */
bool circuit_breaker_is_open(const struct circuit_breaker *breaker);
void circuit_breaker_reset(struct circuit_breaker *breaker);
/* The server accepts calls again, or may: closes the breaker, and all calls that waited are due. */
void kube_backend_admit(struct kube_backend *backend, struct circuit_breaker *breaker);

/* Prerequisites. */
/* NULL: not found. */
struct prerequisite *kube_prerequisites_find(const struct kube_backend *backend,
					     const struct kube_resource *resource,
					     const char *name);
/* Finds or adds it: to be created, unless the caller changes that, perhaps from a body it sets. */
struct prerequisite *kube_prerequisites_add(struct kube_backend *backend,
					    const struct kube_resource *resource, const char *name);
/* The Service of a TFJob, or of the replica with this name, as the cache shows it. */
struct prerequisite *kube_prerequisites_add_service(struct kube_backend *backend, const char *name);
/* Whether the job owns it. */
bool kube_prerequisites_is_ours(const struct kube_backend *backend,
				const struct job_object *object);
void kube_prerequisites_free(struct kube_backend *backend);
bool kube_prerequisites_exist(const struct kube_backend *backend); /* or are being created */
bool kube_prerequisites_is_any_shown(const struct kube_backend *backend);
bool kube_prerequisites_is_quiet(const struct kube_backend *backend);
/* The resource of this kind of the cache that may be a prerequisite; NULL: it never is. */
const struct kube_resource *kube_prerequisites_resource(const struct kube_backend *backend,
							enum job_cache_kind kind) MUST_USE;
/* From now on the objects that a TFJob's replica needs have to exist; or its Service is deleted,
 * and the PodGroup if the job is suspended. */
void kube_prerequisites_require(struct kube_backend *backend, const char *pod_name);
void kube_prerequisites_release(struct kube_backend *backend, const char *pod_name);
/* Whether Pods must wait, because the job's PodGroup does not exist yet or does not accept Pods. */
bool kube_prerequisites_block_pods(const struct kube_backend *backend);
/* The cache shows a changed object, or none, under this name. */
void kube_prerequisites_observe(struct kube_backend *backend, enum job_cache_kind kind,
				const char *name);
/* Finds the objects that were created and should be shown by now, but are missing. */
void kube_prerequisites_drop_lost(struct kube_backend *backend);
/* A Pod has changed; it may wait for a missing object. */
void kube_prerequisites_observe_pod(struct kube_backend *backend, const struct job_pod *before,
				    struct job_pod *pod);
void kube_prerequisites_create(struct kube_backend *backend); /* the missing ones */
/* Tries the rejected ones that are due. */
void kube_prerequisites_try_again(struct kube_backend *backend, instant now);

/* Events of a TFJob. Other jobs send none. An object is a Pod, Service or PodGroup of this role
 * (NULL: the job's); without a uid nothing is sent. */
void kube_report_created(const struct kube_backend *backend, const struct kube_resource *resource,
			 const char *name, const char *role, const char *uid);
void kube_report_deleted(struct kube_backend *backend, const struct kube_resource *resource,
			 const char *name, const char *role, const char *uid);
void kube_report_not_created(const struct kube_backend *backend,
			     const struct kube_resource *resource, const struct err *err);
/* Sends it once, until a deletion succeeds. */
void kube_report_not_deleted(struct kube_backend *backend, const struct kube_resource *resource,
			     const struct err *err);
/* Sends it once for the job, if a template of this role has its own restart policy. */
void kube_report_restart_policy(struct kube_backend *backend, const struct role *role);
/* Reports what has changed: its exit, or what blocks it. `before` may be NULL. */
void kube_report_pod(const struct kube_backend *backend, const struct job_pod *before,
		     const struct job_pod *pod);
/* Sends a sentence about the job. */
void kube_report(const struct kube_backend *backend, enum note_level level, const char *reason,
		 const char *sentence);

/* Whether the lines of this Pod (NULL: of any) were requested and have not arrived. */
static inline bool pod_tail_is_open(const struct pod_tail *tail, const char *uid)
{
	return tail->call && (!uid || text_equals(tail->uid, uid));
}
/* The log of a Pod is complete, or its last lines have arrived: the Pod may be deleted. */
void kube_backend_on_log_complete(void *data);

/* Follows the job in the cache. */
void kube_backend_follow(struct kube_backend *backend);

/* Calls: these start them, and handle their answers. */
void kube_backend_start(struct kube_backend *backend, struct pending *pending);
/* Deletes the Pod whose uid is pending->ended_uid. */
void kube_backend_delete_pod(struct kube_backend *backend, struct pending *pending);
/* Cancels a start that is no longer wanted. */
void kube_backend_cancel_start(struct kube_backend *backend, struct pending *pending);
/* Sends the Event of the creation, and of the deletion, each once. */
void kube_backend_report_started(struct kube_backend *backend, struct pending *pending,
				 const char *uid);
void kube_backend_report_ended(struct kube_backend *backend, struct pending *pending);
/* Signals the process of a Pod whose deletion waits. */
void kube_backend_send_term(struct kube_backend *backend, struct pending *pending);
/* Tries the rejected calls that are due. */
void kube_backend_try_again(void *data);
