/* The logs of a job's Pods on their way into files of this machine, where the console and `muster
 * logs` read them as they read those of processes here. */
#pragma once

#include "base/own.h"
#include "kube/api.h"

#include <stdbool.h>

struct pod_logs; /* of one job */

struct pod_logs_settings {
	struct kube_api *api;
	const char *namespace_name;
	const char *folder;
	void (*on_output)(void *data);
	void (*on_complete)(void *data); /* a log has ended */
	void (*on_trouble)(const char *sentence, void *data);
	void *data;
};

/* The settings' texts outlive it. */
struct pod_logs *pod_logs_new(const struct pod_logs_settings *settings) MUST_USE;
void pod_logs_free(struct pod_logs *logs); /* NULL is fine */

/* One attempt of a replica. */
struct pod_log_name {
	const char *pod_name, *uid, *container;
	const char *role;
	int index, attempt;
};

/* Follows the log of a Pod whose container has begun; once for each Pod. */
void pod_logs_follow(struct pod_logs *logs, const struct pod_log_name *name);
/* Whether its log is followed and has not ended yet. */
bool pod_logs_is_open(const struct pod_logs *logs, const char *uid);
bool pod_logs_is_any_open(const struct pod_logs *logs);
