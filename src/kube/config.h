/* A kubeconfig as kubectl reads it, reduced to one context: a cluster, a user and a namespace.
 *
 * Files are found, merged and validated by client-go's rules (tools/clientcmd: loader.go,
 * client_config.go, validation.go of 1.36). Only kubeconfigs are opened; kube/credential.h handles
 * the files and programs that they name. If no kubeconfig names a server and this process runs in a
 * Pod, the Pod's service account is used. */
#pragma once

#include "base/mem.h"
#include "base/text.h"
#include "kube/login.h"

#define KUBE_CONFIG_FILES_LIMIT 64 /* files that KUBECONFIG may list */

/* Where to search, and the options of the command line. NULL and "" count as absent. */
struct kube_config_search {
	const char *file; /* --kubeconfig: only this file, which must exist */
	const char *list; /* $KUBECONFIG: files separated by ':'; missing ones are skipped */
	const char *home; /* $HOME, for .kube/config if there is no list */
	const char *context; /* --context; default: the current context of the files */
	const char *namespace_name; /* --namespace */
	const char *service_host, *service_port; /* $KUBERNETES_SERVICE_HOST, …_PORT in a Pod */
	const char *service_account; /* directory of a Pod's token, ca.crt and namespace */
	const char *pod_namespace; /* $POD_NAMESPACE */
};

/* When a plug-in may prompt the user at the terminal. */
enum kube_interactive {
	KUBE_INTERACTIVE_NEVER,
	KUBE_INTERACTIVE_IF_AVAILABLE,
	KUBE_INTERACTIVE_ALWAYS,
};

/* A program that prints credentials (an "exec credential plug-in"). */
struct kube_plugin {
	const char *command; /* absolute if it had a slash; else searched in PATH */
	const char *const *arguments; /* the command itself first; ends with NULL */
	const struct kube_variable *variables;
	size_t n_variables;
	const char *api_version; /* "client.authentication.k8s.io/v1" */
	const char *install_hint; /* NULL: none. May hold any bytes */
	enum kube_interactive interactive;
	bool wants_cluster; /* the plug-in gets the cluster's data */
};

/* PEM texts are unchanged from the file; paths are absolute. NULL: absent. */
struct kube_cluster {
	const char *name; /* NULL: from a service account */
	const char *server; /* http:// or https://, without a name and password */
	const char *tls_server_name;
	const char *authority, *authority_file;
	const char *proxy;
	const char *plugin_settings; /* JSON for plug-ins; NULL: none */
	bool skips_verify;
	bool skips_compression;
};

struct kube_user {
	const char *name;
	const char *token, *token_file;
	const char *user_name, *password;
	const char *certificate, *certificate_file;
	const char *key, *key_file;
	struct kube_impersonation as;
	const struct kube_plugin *plugin;
};

struct kube_config {
	struct arena *arena; /* of all texts */
	const char *context; /* NULL: from a service account */
	const char *namespace_name; /* never NULL */
	struct kube_cluster cluster;
	struct kube_user user;
};

/* The search of this process's environment, from which it borrows, without command-line options. */
struct kube_config_search kube_config_search_here(void);

/* Returns ERR_UNREACHABLE if no kubeconfig has content and this is no Pod. Returns ERR_INVALID if a
 * file is unreadable, malformed or unusable, or if the file or context of an option does not exist.
 * The text begins with the first fault. `faults` (may be NULL) gets each fault on a line,
 * "FILE:LINE:COLUMN: field: sentence". No text shows a secret. */
int kube_config_read(const struct kube_config_search *search, struct text *faults,
		     struct kube_config **ret_config, struct err *err) MUST_USE;
/* Overwrites secrets before it frees their memory. NULL is fine. */
void kube_config_free(struct kube_config *config);
void kube_config_cleanup(struct kube_config **config);
