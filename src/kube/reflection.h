/* Decides the next step of a mirror of objects: list, watch or wait. kube/mirror.c executes it.
 * Pure, so that tests cover every order of faults in virtual time.
 *
 * The objects come as a stream that continues as a watch if the server can (WatchList: Kubernetes
 * 1.34 and etcd 3.5.13 or newer), else as pages and a watch from their version. The rules are those
 * of client-go's reflector. Back-off grows from 0.8 s to 30 s. It is reset after two minutes
 * without a failure, or when a connection is lost that lasted longer than the back-off. A version
 * that the server no longer has (410) or rejects (400, 422) requires a new list.
 *
 * So does a version from the future, after etcd was restored from a backup. A watch from there is
 * not rejected but gets no events, not even the bookmarks that servers send about once a minute. */
#pragma once

#include "base/err.h"
#include "base/instant.h"
#include "kube/status.h"

#define KUBE_VERSION_SIZE 64 /* of a resourceVersion, as text */

enum reflection_step {
	REFLECTION_STREAM, /* a watch that begins with all objects */
	REFLECTION_LIST, /* pages */
	REFLECTION_WATCH, /* from `version` */
};

struct reflection {
	enum reflection_step step; /* running, or due at wake_at */
	instant wake_at; /* INSTANT_NEVER: the step is running */
	char version[KUBE_VERSION_SIZE]; /* the last known; "": none */
	bool is_synced; /* all objects were seen since the last list began */
	bool is_without_stream; /* the server cannot stream a list */
	instant began_at; /* of the step */
	bool has_seen; /* anything arrived since the step began */
	msec output_idle; /* sum over the watches in a row that brought nothing */
	int n_failures; /* in a row */
	instant failed_at; /* the last time; INSTANT_UNSET */
	instant too_old_at; /* when its version was no longer kept, the last time; INSTANT_UNSET */
};

/* How a step ended. */
struct reflection_end {
	int err_code; /* 0: normal end of a watch */
	struct kube_status status; /* code 0: the connection failed, not the server */
};

void reflection_begin(struct reflection *reflection, instant now);
/* Starts the step. */
void reflection_start(struct reflection *reflection, instant now);
/* All objects have come, as of this version. After pages the watch is due immediately. */
void reflection_listed(struct reflection *reflection, const char *version, instant now);
/* An event or a bookmark arrived. */
void reflection_observe(struct reflection *reflection, const char *version);
/* Abandons the current step: a new list of all objects is due at `at`. */
void reflection_list_again(struct reflection *reflection, instant at);
/* The step has ended; decides the next one and its time. `jitter` is a random number, 0 to 1. */
void reflection_ended(struct reflection *reflection, const struct reflection_end *end, instant now,
		      double jitter);
