/* The logs of a job's Pods on their way into files of this machine, where the console and `muster
 * logs` read them as they read those of processes here.
 *
 * Each line comes once, with the time that its node gave it, however often a stream breaks
 * (kube/log_lines.h) and until the container's very last one (kube/log_follow.h):
 * docs/design/0020-logs-of-pods.md. */
#pragma once

#include "base/own.h"
#include "io/loop.h"
#include "kube/api.h"
#include "kube/job_pod.h"
#include "kube/log_follow.h"

#include <stdbool.h>
#include <stddef.h>

struct pod_logs; /* of one job */
struct output_copies; /* logs/output_copies.h */

/* A Pod, which is one attempt of a replica. */
struct pod_log_name {
	const char *pod_name, *uid, *container;
	const char *role;
	int index, attempt;
};

/* Text of a log as it comes, cut anywhere, with its time. */
typedef void (*pod_logs_text_fn)(const struct pod_log_name *name, const char *bytes, size_t len,
				 msec time, void *data);

struct pod_logs_settings {
	struct loop *loop;
	struct kube_api *api;
	const char *namespace_name; /* borrowed, as the folder */
	const char *folder; /* NULL: the text goes to on_text */
	struct output_copies *copies; /* of the logs; NULL: none */
	pod_logs_text_fn on_text; /* NULL: it goes to the folder */
	bool ends_at_once; /* only what is there now is wanted */
	msec since; /* lines of this time or later; MSEC_UNSET: all */
	int64_t tail; /* only so many lines of what is there now; -1: all */
	msec output_idle; /* of a stream, after which it is taken up again; 0: 10 min */
	void (*on_output)(void *data);
	void (*on_complete)(void *data); /* a log has ended */
	void (*on_trouble)(const char *sentence, void *data);
	void *data;
};

struct pod_logs *pod_logs_new(const struct pod_logs_settings *settings) MUST_USE;
void pod_logs_free(struct pod_logs *logs); /* NULL is fine */

/* Follows the log of a Pod whose container has started, and hears what has become of the container
 * since. A Pod of that name with another uid takes the place of the one before it. */
void pod_logs_follow(struct pod_logs *logs, const struct pod_log_name *name,
		     const struct log_container *container);
/* The same of a Pod as the cluster shows it. */
void pod_logs_update(struct pod_logs *logs, const struct job_pod *pod);
/* There is no Pod of this name any more. Of this and the next two, NULL is fine: nothing is
 * followed. */
void pod_logs_gone(struct pod_logs *logs, const char *pod_name);

/* Nothing comes any more, from the middle of a text on if need be, until they are resumed: then it
 * goes on where it stopped. For who cannot take more; from on_text too. */
void pod_logs_pause(struct pod_logs *logs);
void pod_logs_resume(struct pod_logs *logs);

/* Whether the log of this Pod is followed and has not come to its end. */
bool pod_logs_is_open(const struct pod_logs *logs, const char *pod_name, const char *uid);
/* Whether that is so of any container that has ended. */
bool pod_logs_is_any_ended_open(const struct pod_logs *logs);
bool pod_logs_is_any_open(const struct pod_logs *logs);
/* Up to this time every line of the Pods that were seen is in its file; MSEC_UNSET where a log has
 * brought nothing yet, MSEC_NEVER where none is open. */
msec pod_logs_known_until(const struct pod_logs *logs);
