/* What the files of the back end for Kubernetes share. Only they include this. */
#pragma once

#include "engine/backend_kube.h"
#include "engine/backend_kube_pending.h"
#include "engine/pod_logs.h"
#include "kube/mirror.h"
#include "kube/objects.h"
#include "kube/resources.h"

struct kube_backend {
	struct backend base;
	struct backend_kube_settings settings;
	struct kube_mirror *pods; /* of struct pod */
	/* Only whether it is our own. Files are the ConfigMaps that Pods read; NULL: there are
	 * none. */
	struct kube_mirror *services, *files;
	bool knows_pods, knows_services, knows_files; /* they were listed once */
	struct prerequisite **prerequisites;
	size_t n_prerequisites, prerequisites_capacity;
	char *refusal; /* why it can never be made; NULL: it may be */
	struct pending_table pending;
	msec again_at; /* look again then: a call was refused */
	bool has_made_pods; /* so it has the right to */
	struct json *taken_back; /* an object: names of Pods whose address was taken back */
	struct pod_logs *logs;
	struct loop_watch *events_timer; /* NULL: it was never needed */
	struct kube_call *events_call;
	bool is_asking_events; /* or will, when the timer says so */
	struct startup startup; /* as it was last told */
	char *last_trouble; /* told already */
	struct loop_watch *timer; /* for what was refused */

	struct json *document; /* of `job`, which `objects` is made of */
	struct job *job;
	struct objects *objects;
};

/* Something that all Pods stand on: the Service, a ConfigMap of files, the Secret if we have it. */
struct prerequisite {
	struct kube_backend *backend;
	const struct kube_resource *resource;
	char *name;
	struct json *body; /* what it is made of again; NULL: of the job */
	struct kube_call *call;
	bool is_shown, was_shown; /* by the mirror, now or once; of a Secret there is none */
	bool is_made; /* the call was answered; the mirror may not show it */
	bool is_refused; /* for now: it is tried again */
};

/* What is kept of a Pod. */
struct pod {
	struct arena *arena; /* of `seen` */
	char *uid;
	int64_t version;
	bool is_ours; /* else one left by an earlier job of this name */
	struct observed_replica seen;
};

/* Whether this, which may be NULL, is the Pod of that attempt. */
bool kube_backend_is_attempt(const struct pod *pod, int attempt);

/* Begins to watch. */
void kube_backend_make_mirrors(struct kube_backend *backend);
/* A mirror of the job's objects; `more` is added to the label selector. */
struct kube_mirror *kube_backend_mirror_new(struct kube_backend *backend, const char *more,
					    struct kube_mirror_settings settings);

void kube_prerequisites_begin(struct kube_backend *backend);
/* The Pods are made of something else from here on (backend->objects). */
void kube_prerequisites_take_objects(struct kube_backend *backend);
void kube_prerequisites_watch(struct kube_backend *backend);
void kube_prerequisites_free(struct kube_backend *backend);
bool kube_prerequisites_is_there(const struct kube_backend *backend); /* or on its way */
bool kube_prerequisites_is_quiet(const struct kube_backend *backend);
/* That a Pod has changed, which may wait for something that is gone. */
void kube_prerequisites_see_pod(struct kube_backend *backend, const struct pod *before,
				struct pod *pod);
void kube_prerequisites_make(struct kube_backend *backend); /* what is missing */
void kube_prerequisites_try_again(struct kube_backend *backend); /* what was refused */

/* Reasons that only Events tell. */
void kube_events_see(struct kube_backend *backend); /* that Pods have changed */
void kube_events_keep(const struct pod *before, struct pod *pod); /* what is known of a Pod */
void kube_events_free(struct kube_backend *backend);

/* Calls: begin, and see to what becomes of them. */
void kube_backend_start(struct kube_backend *backend, struct pending *pending);
/* How many calls that start a Pod are under way, without those whose Pod was seen already. */
size_t kube_backend_starts(const struct kube_backend *backend);
/* Starts those whose turn, or name, has come. */
void kube_backend_start_waiting(struct kube_backend *backend);
/* Of the Pod whose uid is pending->ended_uid. */
void kube_backend_end(struct kube_backend *backend, struct pending *pending);
/* Of what was started, when nobody wants it any more. */
void kube_backend_end_start(struct kube_backend *backend, struct pending *pending);
/* Of that Pod too, which is held: tells its process. */
void kube_backend_tell_held(struct kube_backend *backend, struct pending *pending);
/* When the next of those has had its grace time; MSEC_NEVER: none is waited for. */
msec kube_backend_held_until(const struct kube_backend *backend);
/* A process that cannot be told from inside ends with its Pod, as all others. */
void kube_backend_end_deaf(struct kube_backend *backend);
/* Looks again when something is due. */
void kube_backend_wake(struct kube_backend *backend);
/* Not later than `at`. */
void kube_backend_look_again(struct kube_backend *backend, msec at);
/* Tries again what was refused and is due. */
void kube_backend_try_again(void *data);

void kube_backend_news(const struct kube_backend *backend);
/* What is said again and again is told once. */
void kube_backend_trouble(struct kube_backend *backend, const char *sentence);
void kube_backend_tell_earlier_pods(struct kube_backend *backend);
