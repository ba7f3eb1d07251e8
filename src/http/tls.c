#include "http/tls.h"

#include "base/mem.h"
#include "http/certificate.h"

#include <event2/bufferevent_ssl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>

struct tls_context {
	struct http_tls functions;
	SSL_CTX *context;
};

static struct bufferevent *new_stream(const struct http_tls *tls, struct event_base *base)
{
	const struct tls_context *own = (const struct tls_context *) tls;
	SSL *ssl = SSL_new(own->context);

	if (!ssl)
		return NULL;
	struct bufferevent *stream = bufferevent_openssl_socket_new(
		base, -1, ssl, BUFFEREVENT_SSL_ACCEPTING, BEV_OPT_CLOSE_ON_FREE);

	/* Many clients close the connection without close_notify. */
	if (stream)
		bufferevent_openssl_set_allow_dirty_shutdown(stream, 1);
	else
		SSL_free(ssl);
	return stream;
}

static int set_tls_file_error(const char *file, struct err *err)
{
	const char *reason = ERR_reason_error_string(ERR_peek_last_error());

	ERR_clear_error();
	return err_set(err, ERR_INVALID, "cannot use '%s' for TLS: %s", file,
		       reason ? reason : "OpenSSL rejects it");
}

static struct tls_context *context_new(void)
{
	struct tls_context *tls = mem_new(sizeof(*tls));

	tls->functions.new_stream = new_stream;
	tls->context = SSL_CTX_new(TLS_server_method());
	if (!tls->context)
		mem_abort();
	SSL_CTX_set_min_proto_version(tls->context, TLS1_2_VERSION);
	SSL_CTX_set_options(tls->context, SSL_OP_NO_RENEGOTIATION);
	/* Idle connections keep only their state. */
	SSL_CTX_set_mode(tls->context, SSL_MODE_RELEASE_BUFFERS);
	return tls;
}

int http_tls_new(const char *certificate_file, const char *key_file, struct http_tls **ret_tls,
		 struct err *err)
{
	struct tls_context *tls = context_new();
	const char *refused = NULL;

	if (SSL_CTX_use_certificate_chain_file(tls->context, certificate_file) != 1)
		refused = certificate_file;
	else if (SSL_CTX_use_PrivateKey_file(tls->context, key_file, SSL_FILETYPE_PEM) != 1 ||
		 SSL_CTX_check_private_key(tls->context) != 1)
		refused = key_file;
	if (refused) {
		http_tls_free(&tls->functions);
		return set_tls_file_error(refused, err);
	}
	*ret_tls = &tls->functions;
	return 0;
}

struct http_tls *http_tls_of_secret(const char *secret)
{
	struct tls_context *tls = context_new();
	struct certificate certificate CLEANUP(certificate_done) = {0};

	certificate_of_secret(secret, &certificate);
	if (SSL_CTX_use_certificate(tls->context, certificate.certificate) != 1 ||
	    SSL_CTX_use_PrivateKey(tls->context, certificate.key) != 1)
		mem_abort();
	return &tls->functions;
}

void http_tls_free(struct http_tls *tls)
{
	struct tls_context *own = (struct tls_context *) tls;

	if (!own)
		return;
	SSL_CTX_free(own->context);
	free(own);
}
