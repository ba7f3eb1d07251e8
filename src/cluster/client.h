/* The jobs of one namespace of a cluster, or of all: a client (jobs/client.h) on their
 * ConfigMaps.
 *
 * A change is written there; the supervisor is woken by its own watch. Changes are waited
 * for by watches, which stay open from one wait to the next. What a status says of replicas is
 * laid over with what their Pods say now, since nobody may be there to write it. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "io/loop.h"
#include "jobs/client.h"
#include "kube/login.h"

/* The texts are copied. */
struct client_kube_settings {
	kube_log_in_fn log_in; /* for each connection of its own */
	void *log_in_data;
	const char *namespace_name; /* KUBE_ALL_NAMESPACES: only to be listed */
	const char *choice; /* options that lead to the cluster: spec/job_words.h */
	const char *state_folder; /* where this machine remembers jobs and has their logs */
	/* The cluster does not answer for now, and is asked again and again. May be NULL. */
	void (*on_trouble)(const char *sentence, void *data);
	void *data;
};

/* Errors of the login; nothing is asked yet. */
int client_kube_new(const struct client_kube_settings *settings, struct client **ret_client,
		    struct err *err) MUST_USE;
