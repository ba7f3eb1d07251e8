/* `muster operator install` and `uninstall`: applies deploy/ to a cluster and removes it again.
 * Each step is reported. Jobs are never touched. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "io/loop.h"
#include "kube/api.h"

extern const char deployment_yaml[]; /* deploy/crd.yaml and deploy/operator.yaml */
extern const size_t deployment_yaml_size;

/* The options. Borrowed. */
struct deployment_choice {
	const char *image; /* NULL: as in the file */
	/* The namespaces to manage, with permissions only there: a Role replaces the ClusterRole.
	 * Ends with NULL; empty: all. */
	const char *const *namespaces;
};

/* On all objects except the definition of TFJobs. */
#define DEPLOYMENT_NAME "muster-operator"
#define DEPLOYMENT_SELECTOR "app.kubernetes.io/name=" DEPLOYMENT_NAME

struct operator_setup_settings {
	kube_log_in_fn log_in;
	void *log_in_data;
	struct deployment_choice choice;
	bool is_dry_run; /* report what would be done, and change nothing */
	bool is_waiting; /* until the Deployment is available, or its Pods are deleted */
	bool takes_definition; /* uninstall: delete the definition of TFJobs too, if unused */
	bool is_forced; /* objects of others may stay in our namespace; upgrade: objects of the old
			   operator's other kinds may lose their operator */
	const char *const *skipped_namespaces; /* upgrade: their Deployments are not the old
						  operator; borrowed */
	size_t n_skipped_namespaces;
	void (*tell)(const char *sentence, void *data); /* reports each step */
	void (*warn)(const char *sentence, void *data);
	void *data;
};

/* Errors as in kube/api.h; ERR_UNREACHABLE also if the Deployment is not available after minutes;
 * ERR_REFUSED if the namespace has objects that are not muster's. */
int operator_install(const struct operator_setup_settings *settings, struct err *err) MUST_USE;
/* Returns ERR_REFUSED if the definition of TFJobs should be deleted, but TFJobs exist. */
int operator_uninstall(const struct operator_setup_settings *settings, struct err *err) MUST_USE;
/* Scales the old operator's Deployment to 0, if it exists, removes TFJobs from its webhook, and
 * installs ours. Returns ERR_REFUSED also if it manages objects of other kinds. */
int operator_upgrade(const struct operator_setup_settings *settings, struct err *err) MUST_USE;

/* State of one install, uninstall or upgrade, shared by their files. */
struct operator_setup {
	const struct operator_setup_settings *settings;
	struct kube_api *api;
};

int operator_setup_begin(struct operator_setup *setup,
			 const struct operator_setup_settings *settings, struct err *err) MUST_USE;
void operator_setup_done(struct operator_setup *setup);
int operator_setup_install(struct operator_setup *setup, struct err *err) MUST_USE;
/* Names the RoleBindings, ServiceAccounts and Pods, and what starts Pods, that are not muster's in
 * the namespace of the operator, if it exists. Nothing else: ERR_REFUSED; forced, or in a dry run:
 * a warning. */
int operator_setup_check_namespace(struct operator_setup *setup, struct err *err) MUST_USE;

void operator_setup_report(const struct operator_setup *setup, const char *format, ...)
	PRINTF_LIKE(2, 3);
/* An objection to going on: a warning if the user forces it, or in a dry run; else ERR_REFUSED with
 * the advice. */
int operator_setup_object_to(const struct operator_setup *setup, const char *sentence,
			     const char *advice, struct err *err) MUST_USE;
/* Makes a request that changes something, and reports the result ("scaled to 0"); a dry run only
 * reports. An object to delete may be missing. */
int operator_setup_change(struct operator_setup *setup, const struct kube_request *request,
			  const char *done, struct err *err) MUST_USE;
/* Counts the objects of a kind in all namespaces, page by page. A kind that the cluster does not
 * know has none. */
int operator_setup_count(struct operator_setup *setup, const struct kube_resource *resource,
			 size_t *ret_count, struct err *err) MUST_USE;
/* Lists them; the caller frees the array. For kinds of which a cluster has few, or with a selector
 * (NULL: none). */
int operator_setup_list(struct operator_setup *setup, const struct kube_resource *resource,
			const char *label_selector, struct json **ret_items,
			struct err *err) MUST_USE;
/* Waits until there are no such Pods; false after minutes. In a dry run they stay, and it returns
 * true. */
bool operator_setup_wait_for_end(struct operator_setup *setup, const char *namespace_name,
				 const char *label_selector);
