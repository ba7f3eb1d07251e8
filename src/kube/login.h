/* A resolved login at an API server: where it is and which user calls, and nothing about where that
 * was read. kube/api.h makes calls with it; a kubeconfig file, a service account or flags fill it.
 */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>

struct kube_login;
struct loop;

/* Makes a new login, which the caller owns, for what runs on this loop. */
typedef int (*kube_log_in_fn)(struct loop *loop, struct kube_login **ret_login, struct err *err,
			      void *data);

/* What a refresh ends with: err is NULL when the credential is fresh. */
typedef void (*kube_refreshed_fn)(const struct err *err, void *data);

/* How a credential that ends is renewed: a token's file, a program that prints it. Called for one
 * renewal at a time: before a call when `refresh_at` has come, and with was_refused after the
 * server answered 401 to the credential that is there. Writes the new one into `login->credential`
 * and the next `refresh_at`, then calls `done` once, at once or later from the loop. */
typedef void (*kube_refresh_fn)(struct kube_login *login, bool was_refused, kube_refreshed_fn done,
				void *done_data);

/* Each part may be NULL. All of it is secret but the certificate. */
struct kube_credential {
	char *token;
	char *user_name, *password; /* basic authentication, which few servers still take */
	char *client_certificate, *client_key; /* PEM texts */
};

struct kube_extra {
	char *key, *value;
};

/* The user whom the server is asked to take the caller for (Kubernetes' "impersonation"). */
struct kube_impersonation {
	char *user_name; /* NULL: nobody else */
	char *uid; /* NULL: not said */
	char **groups;
	size_t n_groups;
	struct kube_extra *extras; /* a key with several values stands several times */
	size_t n_extras;
};

struct kube_login {
	char *server; /* "https://host:port/prefix", without a slash at the end */
	char *namespace_name; /* for objects whose namespace nobody says; never NULL */
	char *authority; /* PEM text of the certificates to trust; NULL: the system's */
	char *tls_server_name; /* whom the server's certificate must name; NULL: the URL's host */
	bool skips_verify; /* the certificate is not checked; the owner has said so aloud */
	bool skips_compression;
	char *proxy; /* URL; NULL: what the environment says */
	msec timeout; /* for an answer, and without a word on a watch; 0: what is usual */
	struct kube_credential credential;
	struct kube_impersonation impersonation;
	/* Is told what the server adds to its answers (kube/warnings.h), each once. May be NULL. */
	void (*on_warning)(const char *sentence, void *data);
	void *on_warning_data;

	msec refresh_at; /* when the credential is to be renewed before use; MSEC_NEVER */
	kube_refresh_fn refresh; /* NULL: the credential is all there will ever be */
	void *source; /* what `refresh` works with; it belongs to the login */
	void (*free_source)(void *source); /* ends a refresh under way, without calling `done` */
};

/* A login at the server (the URL is copied, slashes at its end dropped) without credential, in the
 * namespace "default". */
struct kube_login *kube_login_new(const char *server) MUST_USE;
/* Secrets are overwritten before their memory is given back. NULL is fine. */
void kube_login_free(struct kube_login *login);
void kube_login_cleanup(struct kube_login **login);

/* Takes the contents over, in the place of those that were there. */
void kube_credential_replace(struct kube_credential *credential, struct kube_credential take_new);
/* Overwrites and frees what is in it. */
void kube_credential_done(struct kube_credential *credential);
