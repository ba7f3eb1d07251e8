/* One job on a cluster, seen through from this machine: loop, store, driver, the back end for
 * Kubernetes and a console, put together until the job has ended.
 *
 * What runs, runs on the cluster: when this process is killed, Pods go on, and nothing that fails
 * is started again. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "core/job.h"
#include "core/job_files.h"
#include "io/loop.h"
#include "kube/login.h"

#include <stdbool.h>

/* Makes a new login; called for each connection of its own, with the loop that it is used in. */
typedef int (*supervision_kube_login_fn)(struct loop *loop, struct kube_login **ret_login,
					 struct err *err, void *data);

struct supervision_kube_request {
	struct job *job; /* borrowed; in its namespace. Gets its uid */
	const struct job_file *files; /* that travel with it */
	size_t n_files;
	supervision_kube_login_fn login;
	void *data;
	const char *state_folder; /* logs are kept in there */
	bool replaces_finished; /* a finished job of this name is deleted first */
	bool is_quiet; /* no lines of replicas on the terminal */
	bool prints_json; /* the TFJob on stdout when all is over; lines go to stderr */
	const char *color; /* "auto", "always", "never" */
};

/* Makes the job's objects and sees it through; everything made is deleted at the end, whatever the
 * end is. *ret_exit_code is the job's own. An error means that nothing was started. */
int supervision_kube_run(const struct supervision_kube_request *request, int *ret_exit_code,
			 struct err *err) MUST_USE;
