/* `muster operator install` and `uninstall`: what deploy/ has, applied to a cluster and taken away
 * again. A step at a time, and each is told. Jobs are never touched. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "io/loop.h"
#include "kube/api.h"
#include "kube/mirror.h"
#include "operator/deployment.h"

struct operator_setup_settings {
	kube_log_in_fn log_in;
	void *log_in_data;
	struct deployment_choice choice;
	bool is_dry_run; /* what would be done is told, and nothing changed */
	bool is_waiting; /* until the Deployment is there, or its Pods are gone */
	bool takes_definition; /* uninstall: the definition of TFJobs goes too, if there is none */
	bool leaves_other_kinds; /* upgrade: objects of the old operator's other kinds may be left
				    without one */
	void (*tell)(const char *sentence, void *data); /* of each step */
	void (*warn)(const char *sentence, void *data);
	void *data;
};

/* Errors as kube/api.h; ERR_UNREACHABLE also where the Deployment is not there after minutes. */
int operator_install(const struct operator_setup_settings *settings, struct err *err) MUST_USE;
/* ERR_REFUSED where the definition of TFJobs should go, and there are TFJobs. */
int operator_uninstall(const struct operator_setup_settings *settings, struct err *err) MUST_USE;
/* The old operator's Deployment, if it is there, is scaled to none, what its webhook says of TFJobs
 * is taken away, and ours is installed. ERR_REFUSED where it serves objects of other kinds. */
int operator_upgrade(const struct operator_setup_settings *settings, struct err *err) MUST_USE;

/* One setting up, for the files that do it. */
struct operator_setup {
	const struct operator_setup_settings *settings;
	struct loop *loop;
	struct kube_api *api;
};

int operator_setup_begin(struct operator_setup *setup,
			 const struct operator_setup_settings *settings, struct err *err) MUST_USE;
void operator_setup_done(struct operator_setup *setup);
int operator_setup_install(struct operator_setup *setup, struct err *err) MUST_USE;

void operator_setup_report(const struct operator_setup *setup, const char *format, ...)
	PRINTF_LIKE(2, 3);
/* "deployments 'NAME' of namespace N". Caller frees. */
char *operator_setup_shown(const struct kube_request *request) MUST_USE;
/* Makes a call that changes something, and tells what was done ("scaled to 0"); of a dry run the
 * telling alone. What is to be deleted may be gone. */
int operator_setup_change(struct operator_setup *setup, const struct kube_request *request,
			  const char *done, struct err *err) MUST_USE;
/* The objects of a kind, of all namespaces; the caller frees the answer. A kind that the cluster
 * does not know has none. */
int operator_setup_list(struct operator_setup *setup, const struct kube_resource *resource,
			const char *label_selector, struct json **ret_list,
			struct err *err) MUST_USE;
/* Until what a mirror shows is enough; false after minutes. */
bool operator_setup_wait(struct operator_setup *setup, const struct kube_resource *resource,
			 const char *namespace_name, const char *name, const char *label_selector,
			 bool (*is_enough)(const struct kube_mirror *mirror));
/* Until there are no such Pods; false after minutes. In a dry run they stay, and true is given. */
bool operator_setup_wait_for_end(struct operator_setup *setup, const char *namespace_name,
				 const char *label_selector);
