/* What a mirror of objects does next: list, watch, or wait. Pure, so that every order of faults is
 * a test in virtual time. kube/mirror.c does it.
 *
 * The objects come as a stream that goes on as a watch where the server can (WatchList: Kubernetes
 * 1.34 and etcd 3.5.13 or newer), else as pages and a watch from their version. The rules are those
 * of client-go's reflector: back-off from 0.8 s to 30 s, back to its beginning after two minutes
 * without a failure, or when a connection is lost that held for longer than the back-off; a version
 * that is no longer kept (410), or that the server takes for none (400, 422), means to list anew.
 *
 * So does a version that the server has not reached, because its etcd was restored from a backup:
 * a watch from there is neither refused nor told of anything, not even by a bookmark, which servers
 * send about once a minute.
 */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "kube/status.h"

#include <stdbool.h>

#define KUBE_VERSION_SIZE 64 /* of a resourceVersion, as text */

enum reflection_step {
	REFLECTION_STREAM, /* a watch that begins with all objects */
	REFLECTION_LIST, /* pages */
	REFLECTION_WATCH, /* from `version` on */
};

struct reflection {
	enum reflection_step step; /* that is being done, or that begins at wake_at */
	msec wake_at; /* MSEC_NEVER: the step is being done */
	char version[KUBE_VERSION_SIZE]; /* the last that was seen; "" when there is none */
	bool is_synced; /* all objects were seen once since the last list began */
	bool is_without_stream; /* the server cannot stream a list */
	msec began_at; /* of the step */
	bool has_seen; /* anything since the step began */
	msec output_idle; /* of the watches in a row that ended without a word */
	int n_failures; /* in a row */
	msec failed_at; /* the last time; MSEC_UNSET */
	msec too_old_at; /* when its version was no longer kept, the last time; MSEC_UNSET */
};

/* How a step ended. */
struct reflection_end {
	int err_code; /* 0: as a watch ends, when its time is over */
	struct kube_status status; /* code 0: the connection, not the server */
};

void reflection_begin(struct reflection *reflection, msec now);
/* The step begins now. */
void reflection_start(struct reflection *reflection, msec now);
/* All objects have come, as of this version: of the pages, or of the stream. Pages are over with
 * it, and the watch is due at once. */
void reflection_listed(struct reflection *reflection, const char *version, msec now);
/* An event or a bookmark. */
void reflection_observe(struct reflection *reflection, const char *version);
/* Whatever is being done is given up: all objects are wanted anew, from `at` on. */
void reflection_list_again(struct reflection *reflection, msec at);
/* The step has ended; says what is next, and when. `jitter` is a random number from 0 to 1. */
void reflection_ended(struct reflection *reflection, const struct reflection_end *end, msec now,
		      double jitter);
