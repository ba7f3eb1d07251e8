/* TLS for http/server.h, over OpenSSL. Only programs that link libssl have it. */
#pragma once

#include "base/err.h"
#include "base/own.h"

struct bufferevent;
struct event_base;

struct http_tls {
	/* Of a connection that is being accepted; NULL: it cannot be made. */
	struct bufferevent *(*new_stream)(const struct http_tls *tls, struct event_base *base);
};

/* Of a certificate (and behind it those between it and a known authority) and its key, in PEM. TLS
 * 1.2 and newer. */
int http_tls_new(const char *certificate_file, const char *key_file, struct http_tls **ret_tls,
		 struct err *err) MUST_USE;
/* With the key that a secret stands for; clients know it by certificate_pin_of_secret. */
struct http_tls *http_tls_of_secret(const char *secret) MUST_USE;
void http_tls_free(struct http_tls *tls); /* NULL is fine */
