/* TLS for http/server.h, over OpenSSL. Only programs that link libssl have this file. */
#pragma once

#include "base/err.h"
#include "base/own.h"

struct bufferevent;
struct event_base;

struct http_tls {
	/* Creates the stream of a connection that is being accepted; NULL on failure. */
	struct bufferevent *(*new_stream)(const struct http_tls *tls, struct event_base *base);
};

/* Creates it from PEM files: a certificate, followed by those between it and a known authority, and
 * its key. TLS 1.2 and newer. */
int http_tls_new(const char *certificate_file, const char *key_file, struct http_tls **ret_tls,
		 struct err *err) MUST_USE;
/* Uses the key derived from a secret; clients know it by certificate_pin_of_secret. */
struct http_tls *http_tls_of_secret(const char *secret) MUST_USE;
void http_tls_free(struct http_tls *tls); /* NULL is fine */
