/* A resolved login at an API server: address and user, whatever their origin, and the HTTP headers
 * that carry it. kube/api.h uses it; a kubeconfig file, a service account or flags fill it. */
#pragma once

#include "base/err.h"
#include "base/instant.h"

struct kube_login;
struct loop;

/* Creates a login for use on this loop. The caller owns it. */
typedef int (*kube_log_in_fn)(struct loop *loop, struct kube_login **ret_login, struct err *err,
			      void *data);

/* Called at the end of a refresh; err is NULL if the credential is fresh. */
typedef void (*kube_refreshed_fn)(const struct err *err, void *data);

/* Renews a credential that expires, for instance from a token's file or a plug-in. Only one renewal
 * runs at a time. It is called before a request when one of the times below has passed, and with
 * was_refused after the server answered 401. It writes the new credential into `login->credential`
 * and sets those times. Then it calls `done` once, before it returns or later from the loop. */
typedef void (*kube_refresh_fn)(struct kube_login *login, bool was_refused, kube_refreshed_fn done,
				void *done_data);

/* Receives a warning of the server (a `Warning` header), in the server's words. */
typedef void (*kube_warning_fn)(const char *sentence, void *data);

/* Each part may be NULL. All of it is secret except the certificate. */
struct kube_credential {
	char *token;
	char *user_name, *password; /* basic authentication, which few servers still accept */
	char *client_certificate, *client_key; /* PEM texts */
};

struct kube_variable {
	const char *name, *value;
};

/* The user to impersonate on the server (Kubernetes' "impersonation"). */
struct kube_impersonation {
	const char *user_name; /* NULL: no impersonation */
	const char *uid; /* NULL: absent */
	const char *const *groups;
	size_t n_groups;
	const struct kube_variable *extras; /* a name with several values occurs several times */
	size_t n_extras;
};

struct kube_login {
	char *server; /* "https://host:port/prefix", without a slash at the end */
	char *namespace_name; /* for objects without a namespace; never NULL */
	char *authority; /* PEM text of the certificates to trust; NULL: the system's */
	char *tls_server_name; /* the name that its certificate must have; NULL: the URL's host */
	bool skips_verify; /* the certificate is not checked; the user asked for that explicitly */
	bool skips_compression;
	char *proxy; /* URL; NULL: from the environment */
	msec timeout; /* for an answer, and of silence on a watch; 0: the defaults */
	struct kube_credential credential;
	struct kube_impersonation impersonation; /* borrowed, from the source */
	kube_warning_fn on_warning; /* called once for each; may be NULL */
	void *on_warning_data;

	/* When the credential must be renewed before use: it expires, or was read long ago. */
	msec expires_at; /* MSEC_NEVER */
	instant refresh_at; /* INSTANT_NEVER */
	kube_refresh_fn refresh; /* NULL: the credential is never renewed */
	void *source; /* the data of `refresh`; owned by the login */
	void (*free_source)(void *source); /* cancels a running refresh without calling `done` */
};

/* Creates a login for the server without a credential, in the namespace "default". The URL is
 * copied without trailing slashes. */
struct kube_login *kube_login_new(const char *server) MUST_USE;
/* Overwrites secrets before it frees their memory. NULL is fine. */
void kube_login_free(struct kube_login *login);
void kube_login_cleanup(struct kube_login **login);

/* Replaces the contents and takes the new ones over. */
void kube_credential_replace(struct kube_credential *credential, struct kube_credential take_new);
/* Overwrites and frees the contents. */
void kube_credential_done(struct kube_credential *credential);

/* Headers of a request. Each is "Name: value"; `lines` ends with NULL, as http/request.h wants it.
 * Zero it to begin. */
struct kube_headers {
	char **lines;
	size_t n_lines, capacity;
};

void kube_headers_add(struct kube_headers *headers, const char *name, const char *value);
/* Adds the credential of the caller, and the impersonated user. */
void kube_headers_add_login(struct kube_headers *headers, const struct kube_login *login);
/* Overwrites and frees the headers. */
void kube_headers_done(struct kube_headers *headers);
