/* What the back end for Kubernetes knows of its job, and what is due. The lowest of its files:
 *
 *     backend_functions.c  the functions of a back end
 *     observe.c            what the cache shows
 *     pod_calls.c          starts and ends of Pods
 *     plain_objects.c, tfjob_objects.c   the objects of a kind of job
 *     prerequisites.c      what Pods need to run
 *     reasons.c            why Pods wait or failed
 *     backend_events.c     Events of a TFJob
 *     backend_state.c      this
 *
 * Only they include it. */
#pragma once

#include "cluster/backend.h"
#include "cluster/pending.h"
#include "cluster/pod_logs.h"
#include "cluster/pod_tail.h"
#include "kube/job_cache.h"
#include "kube/objects.h"
#include "kube/pod_group.h"
#include "kube/request_limiter.h"
#include "kube/resources.h"
#include "kube/tfjob_objects.h"

/* A server that refuses one call for what it is refuses the others alike: by a quota, by a right,
 * by its own trouble. While that lasts one of them asks, after longer and longer pauses, and the
 * others wait for its answer: else a job of thousands of Pods would be a flood, for ever. */
struct circuit_breaker {
	int n_refusals; /* in a row; 0: it is open */
	msec again_at; /* when one may ask */
	const char *word; /* of the last refusal, */
	char *why; /* and its sentence */
};

struct kube_backend {
	struct backend base;
	struct backend_kube_settings settings;
	const struct kube_kind *kind;
	struct job_follower *seen; /* the job's objects as the cache has them */
	bool knows[JOB_CACHE_KIND_COUNT]; /* they were listed once, or it needs none */
	struct prerequisite **prerequisites;
	size_t n_prerequisites, prerequisites_capacity;
	char *refusal; /* why it can never be made; NULL: it may be */
	struct pending_table pending;
	struct circuit_breaker starts, ends; /* of Pods */
	bool has_made_pods; /* so it has the right to */
	bool is_end_refused; /* that an end was refused was told, and none was answered since */
	bool is_policy_told; /* that a template has a restart policy which does not count */
	struct json *taken_back; /* an object: names of Pods whose address was taken back */
	struct pod_logs *logs; /* NULL: they are not kept; then there is */
	struct pod_tail *tail;
	size_t n_stuck; /* Pods that wait for something of which only Events tell */
	struct startup startup, told_startup; /* as it is, and as it was last told */
	char *last_trouble; /* told already */
	struct loop_watch *timer; /* for what was refused */

	struct job *job; /* as it was observed last; NULL: it was not yet */
	struct objects *objects; /* what is made of `job`; or */
	struct tfjob_objects *tfjob_objects;
};

/* What sets the objects of a TFJob apart from those of `run --on kubernetes`. */
struct kube_kind {
	struct backend_traits traits;
	/* Whether a kind of the cache is needed. */
	bool (*reads)(const struct kube_backend *backend, enum job_cache_kind kind);
	/* Adds the prerequisites that are known from settings.job. */
	void (*begin)(struct kube_backend *backend);
	/* `job` is another one from here on: adds the prerequisites that follow from it. */
	void (*take_job)(struct kube_backend *backend);
	void (*done)(struct kube_backend *backend);
	struct json *(*pod_new)(const struct kube_backend *backend, const struct role *role,
				int index, int attempt);
	bool awaits_rights; /* one that is missing is the operator's, and not its user's: it may be
			       given */
	/* Of a Service that has no body. */
	struct json *(*service_new)(const struct prerequisite *service);
	void (*add_address)(const struct kube_backend *backend, const struct job *job,
			    const struct role *role, int index, struct text *text);
};
extern const struct kube_kind kube_kind_plain, kube_kind_tfjob;

/* Something that all Pods stand on: the Service, a ConfigMap of files, the Secret if we have it. */
struct prerequisite {
	struct kube_backend *backend;
	const struct kube_resource *resource;
	char *name;
	char *uid; /* of the job's own object, as it was shown or made last; NULL: there is none */
	struct json *body; /* what it is made of again; NULL: of the job */
	struct request_slot slot; /* of `call`: one budget for all jobs, so that no status waits
			     behind a thousand Services */
	struct kube_call *call;
	bool is_shown, was_shown; /* by the cache, now or once; of a Secret there is none */
	bool is_made; /* the call was answered; the cache may not show it */
	int64_t made_version; /* its resourceVersion then */
	bool is_refused; /* for now: it is tried again at `again_at` */
	msec again_at;
	int n_refusals; /* in a row */
	bool is_ending; /* `call` is its end */
	bool is_unwanted; /* the replica has no address any more, or the job no Pods */
	bool is_terminating; /* a PodGroup, which stays as long as its Pods do */
	bool is_updated; /* of a PodGroup: that it become as `body` was asked for */
	char *role; /* of a TFJob's Service the replica whose it is; NULL: it is the job's */
	int index;
};

/* A call is under way, or waits for its slot. */
bool prerequisite_is_called(const struct prerequisite *prerequisite);

/* Whether the Pod is of this very job, and not one left by an earlier job of its name. */
bool kube_backend_owns(const struct kube_backend *backend, const struct job_pod *pod);
/* Whether this, which may be NULL, is the job's own Pod of that attempt. */
bool kube_backend_is_attempt(const struct kube_backend *backend, const struct job_pod *pod,
			     int attempt);

/* Something owns the Pod, so that it is deleted with that. One that nothing owns keeps its name
 * from the job until people delete it: the server is asked again and again, and says so. */
bool kube_backend_is_collected(const struct job_pod *pod);

/* "Pod", "Service" …: what people call an object of this kind. */
const char *kube_backend_kind_of(const struct kube_resource *resource);
bool kube_backend_has_looked(const struct kube_backend *backend);
void kube_backend_news(const struct kube_backend *backend);
/* What is said again and again is told once. */
void kube_backend_trouble(struct kube_backend *backend, const struct err *err);
void kube_backend_report_earlier_pods(struct kube_backend *backend);

/* The Pod of that name whose process was told to end, and it runs. */
bool kube_backend_is_live(const struct kube_backend *backend, const struct pending *pending);
/* It is held, and may still end by itself. */
bool kube_backend_is_waited_for(const struct kube_backend *backend, const struct pending *pending);
/* Something is still to be read of this Pod's log before the Pod may go. */
bool kube_backend_is_read(const struct kube_backend *backend, const char *pod_name,
			  const char *uid);
/* The resourceVersion of an object that was made just now; 0: it has none that is a number. */
int64_t kube_backend_version_of(const struct json *object);
/* What was made at this version of the cluster would be shown by now, if it was still there. */
bool kube_backend_would_show(const struct kube_backend *backend, enum job_cache_kind kind,
			     int64_t version);
/* A Pod that was made, and is not in what is as new as it, has been taken away meanwhile, or its
 * labels have been changed so that it is no replica's. */
void kube_backend_drop_lost(struct kube_backend *backend, struct pending *pending);
/* Looks again when something is due. */
void kube_backend_wake(struct kube_backend *backend);
/* Before a call is tried again that was refused so often before; spread, so that many that wait for
 * one quota do not all come back together. */
msec kube_backend_backoff(int n_refusals);
/* Who does not ask for the others may not call now. */
bool circuit_breaker_is_open(const struct circuit_breaker *breaker);
void circuit_breaker_trip(struct circuit_breaker *breaker, const char *word, const char *why);
void circuit_breaker_probe(struct circuit_breaker *breaker); /* one asks now */
void circuit_breaker_reset(struct circuit_breaker *breaker);
/* They are taken again, or may be: all that waited for that may call, at once. */
void kube_backend_admit(struct kube_backend *backend, struct circuit_breaker *breaker);

/* Prerequisites. */
/* NULL: there is none. */
struct prerequisite *kube_prerequisites_find(const struct kube_backend *backend,
					     const struct kube_resource *resource,
					     const char *name);
/* To be made, unless the caller knows better; the caller may give it a body. */
struct prerequisite *kube_prerequisites_add(struct kube_backend *backend,
					    const struct kube_resource *resource, const char *name);
/* The Service of a TFJob or, by its name, of a replica of that; as the cache shows it. It may have
 * been added before. */
struct prerequisite *kube_prerequisites_add_service(struct kube_backend *backend, const char *name);
/* Whether the job owns it. */
bool kube_prerequisites_is_ours(const struct kube_backend *backend,
				const struct job_object *object);
void kube_prerequisites_free(struct kube_backend *backend);
bool kube_prerequisites_exist(const struct kube_backend *backend); /* or on its way */
bool kube_prerequisites_is_any_shown(const struct kube_backend *backend);
bool kube_prerequisites_is_quiet(const struct kube_backend *backend);
/* What of a kind of the cache may be a prerequisite; NULL: it never is. */
const struct kube_resource *kube_prerequisites_resource(const struct kube_backend *backend,
							enum job_cache_kind kind) MUST_USE;
/* What a TFJob's replica stands on is to be there from now on; or its Service goes, and that of a
 * job that is suspended its PodGroup. */
void kube_prerequisites_require(struct kube_backend *backend, const char *pod_name);
void kube_prerequisites_release(struct kube_backend *backend, const char *pod_name);
/* No Pod may be made before the job's PodGroup is there, and lets Pods in. */
bool kube_prerequisites_block_pods(const struct kube_backend *backend);
/* The cache shows something else under this name. */
void kube_prerequisites_observe(struct kube_backend *backend, enum job_cache_kind kind,
				const char *name);
/* What was made and would be shown by now is missing. */
void kube_prerequisites_drop_lost(struct kube_backend *backend);
/* That a Pod has changed, which may wait for something that is gone. */
void kube_prerequisites_observe_pod(struct kube_backend *backend, const struct job_pod *before,
				    struct job_pod *pod);
void kube_prerequisites_create(struct kube_backend *backend); /* what is missing */
/* What was refused, as far as it is due. */
void kube_prerequisites_try_again(struct kube_backend *backend, msec now);

/* Reasons that only Events tell. */
/* Either may be NULL. */
void kube_events_observe_pod(struct kube_backend *backend, const struct job_pod *before,
			     struct job_pod *pod);
void kube_events_request(
	struct kube_backend *backend); /* asks when there is something to be asked */
/* Of the follower. */
bool kube_events_are_wanted(void *data);
void kube_events_accept(const struct json *const *events, size_t count, void *data);

/* Events of a TFJob. Of other jobs none are sent. */
struct told_object {
	const struct kube_resource *resource; /* Pods, Services, or PodGroups */
	const char *name, *role, *uid; /* `role`: NULL: it is the job's */
};
void kube_report_created(const struct kube_backend *backend, const struct told_object *object);
void kube_report_deleted(struct kube_backend *backend, const struct told_object *object);
void kube_report_not_created(const struct kube_backend *backend,
			     const struct kube_resource *resource, const struct err *err);
/* Once, until one is deleted. */
void kube_report_not_deleted(struct kube_backend *backend, const struct kube_resource *resource,
			     const struct err *err);
/* Once for the job, where a template of this role has a policy of its own. */
void kube_report_restart_policy(struct kube_backend *backend, const struct role *role);
/* What has changed with it: its end, or what holds it up. `before` may be NULL. */
void kube_report_pod(const struct kube_backend *backend, const struct job_pod *before,
		     const struct job_pod *pod);
/* A sentence about the job. */
void kube_report(const struct kube_backend *backend, enum note_level level, const char *reason,
		 const char *sentence);

/* Follows the job in the cache. */
void kube_backend_follow(struct kube_backend *backend);

/* Calls: begin, and see to what becomes of them. */
void kube_backend_start(struct kube_backend *backend, struct pending *pending);
/* Of the Pod whose uid is pending->ended_uid. */
void kube_backend_delete_pod(struct kube_backend *backend, struct pending *pending);
/* Of what was started, when nobody wants it any more. */
void kube_backend_cancel_start(struct kube_backend *backend, struct pending *pending);
/* The Events that it was made, and deleted, each once. */
void kube_backend_report_started(struct kube_backend *backend, struct pending *pending,
				 const char *uid);
void kube_backend_report_ended(struct kube_backend *backend, struct pending *pending);
/* Of that Pod too, which is held: tells its process. */
void kube_backend_report_held(struct kube_backend *backend, struct pending *pending);
/* Tries again what was refused and is due. */
void kube_backend_try_again(void *data);
