/* A kubeconfig as kubectl reads it, down to one context: which cluster, which user, which
 * namespace.
 *
 * Files are looked for, merged and judged by client-go's rules (tools/clientcmd: loader.go,
 * client_config.go, validation.go of 1.36). Only kubeconfigs are opened; files that they name, and
 * programs, are kube/credential.h's. Where no kubeconfig names a server and this is a Pod, its
 * service account is taken. */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

#define KUBE_CONFIG_FILES_LIMIT 64 /* files that KUBECONFIG may list */

/* Where to look, and what a call says besides. NULL and "" count as not said. */
struct kube_config_search {
	const char *file; /* --kubeconfig: this one alone, and it has to be there */
	const char *list; /* $KUBECONFIG: files with ':' between; those that are missing are passed
			     over */
	const char *home; /* $HOME, for .kube/config where there is no list */
	const char *context; /* --context; else the current one of the files */
	const char *namespace_name; /* --namespace */
	const char *service_host, *service_port; /* $KUBERNETES_SERVICE_HOST, …_PORT: of a Pod */
	const char *service_account; /* folder of a Pod's token, ca.crt and namespace */
	const char *pod_namespace; /* $POD_NAMESPACE */
};

/* When a plug-in may ask the person at the terminal. */
enum kube_interactive {
	KUBE_INTERACTIVE_NEVER,
	KUBE_INTERACTIVE_IF_AVAILABLE,
	KUBE_INTERACTIVE_ALWAYS,
};

struct kube_variable {
	const char *name, *value;
};

/* A program that prints credentials (an "exec credential plug-in"). */
struct kube_plugin {
	const char *command; /* absolute where a slash was in it; else looked up in PATH */
	const char *const *arguments; /* ends with NULL; without the command */
	const struct kube_variable *variables;
	size_t n_variables;
	const char *api_version; /* "client.authentication.k8s.io/v1" */
	const char *install_hint; /* NULL: none. May hold anything */
	enum kube_interactive interactive;
	bool wants_cluster; /* it is told which cluster */
};

/* PEM texts are as the file has them; paths are absolute. NULL: not said. */
struct kube_cluster {
	const char *name; /* NULL: of a service account */
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
	const char *as_user, *as_uid;
	const char *const *as_groups;
	size_t n_as_groups;
	const struct kube_variable *as_extras; /* a key with several values stands several times */
	size_t n_as_extras;
	const struct kube_plugin *plugin;
};

struct kube_config {
	struct arena *arena; /* of all texts */
	const char *context; /* NULL: a service account's */
	const char *namespace_name; /* never NULL */
	struct kube_cluster cluster;
	struct kube_user user;
};

/* This process's environment, and nothing said by a call. Borrows from the environment. */
struct kube_config_search kube_config_search_here(void);

/* ERR_UNREACHABLE: no kubeconfig says anything, and this is no Pod. ERR_INVALID: a file cannot be
 * read, is malformed or of no use, or the file or context that a call names is not there; the text
 * begins with the first fault, and `faults` (may be NULL) gets each on a line,
 * "FILE:LINE:COLUMN: field: sentence". No text shows a secret. */
int kube_config_read(const struct kube_config_search *search, struct text *faults,
		     struct kube_config **ret_config, struct err *err) MUST_USE;
/* Secrets are overwritten before their memory is given back. NULL is fine. */
void kube_config_free(struct kube_config *config);
void kube_config_cleanup(struct kube_config **config);
