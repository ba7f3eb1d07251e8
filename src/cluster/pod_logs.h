/* Copies the logs of a job's Pods into files of this machine, where the console and `muster logs`
 * read them like those of local processes.
 *
 * Each line is written once, with the time that its node gave it, however often a stream breaks
 * (kube/container_log.h), up to the last line of the container:
 * docs/design/0020-logs-of-pods.md. */
#pragma once

#include "base/own.h"
#include "kube/api.h"
#include "kube/container_log.h"
#include "kube/job_pod.h"

struct pod_logs; /* of one job */
struct output_copies; /* logs/output_copies.h */

/* A Pod, which is one attempt of a replica. */
struct pod_log_name {
	const char *pod_name, *uid, *container;
	const char *role;
	int index, attempt;
};

/* Text of a log as it arrives, cut at any byte, with its time. */
typedef void (*pod_logs_text_fn)(const struct pod_log_name *name, const char *bytes, size_t len,
				 msec time, void *data);

struct pod_logs_settings {
	struct kube_api *api;
	const char *namespace_name; /* borrowed, as is `folder` */
	const char *folder; /* NULL: the text goes to on_text */
	struct output_copies *copies; /* of the logs; NULL: none */
	pod_logs_text_fn on_text; /* NULL: the text goes to `folder` */
	bool ends_at_once; /* read only the present log */
	msec since; /* lines of this time or later; MSEC_UNSET: all */
	int64_t tail; /* only that many lines of the present log; -1: all */
	msec output_idle; /* a stream without output for this long is opened again; 0: 10 min */
	void (*on_output)(void *data); /* may be NULL */
	void (*on_complete)(void *complete_data); /* a log has ended */
	void *complete_data;
	void (*on_trouble)(const char *sentence, void *data);
	void *data;
};

struct pod_logs *pod_logs_new(const struct pod_logs_settings *settings) MUST_USE;
void pod_logs_free(struct pod_logs *logs); /* NULL is fine */

/* Follows the log of a Pod once its container has started; later calls report the state of the
 * container. A Pod of that name with another uid replaces the previous one. */
void pod_logs_update(struct pod_logs *logs, const struct job_pod *pod);
/* The Pod of this name no longer exists. This and the next two accept NULL. */
void pod_logs_gone(struct pod_logs *logs, const char *pod_name);

/* Until resumed, no text is handed on, even in the middle of a chunk; then it continues from there.
 * For a receiver that cannot take more; may be called from inside on_text. */
void pod_logs_pause(struct pod_logs *logs);
void pod_logs_resume(struct pod_logs *logs);

/* Whether the log of this Pod is followed and not complete. */
bool pod_logs_is_open(const struct pod_logs *logs, const char *pod_name, const char *uid);
/* Whether that holds for the log of any container that has exited. */
bool pod_logs_is_any_ended_open(const struct pod_logs *logs);
bool pod_logs_is_any_open(const struct pod_logs *logs);
/* Up to this time, every line of the known Pods is in its file. MSEC_UNSET while a log has brought
 * nothing yet, MSEC_NEVER when no log is open. */
msec pod_logs_known_until(const struct pod_logs *logs);
