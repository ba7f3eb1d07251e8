#include "http/certificate.h"

#include "base/mem.h"

#include <event2/bufferevent_ssl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

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

/* The first records of a client. OpenSSL allocates as much as the head of a ClientHello announces,
 * 128 KiB at most, before the rest has arrived: a client that sends no more would cost that much.
 * So OpenSSL gets no ClientHello that does not fill exactly one record, which has at most 16 KiB.
 * No usual client splits it. A client that is asked to try again sends a second one. */

#define RECORD_HEAD 5 /* its type, version and length */
#define HELLO_HEAD 4 /* its type and length */
#define TYPE_HANDSHAKE 22

struct first_records {
	const SSL *ssl;
	unsigned char head[RECORD_HEAD + HELLO_HEAD]; /* of the present one */
	size_t n_read; /* of its bytes */
};

static size_t number_at(const unsigned char *bytes, int n_bytes)
{
	size_t number = 0;

	for (int i = 0; i < n_bytes; i++)
		number = number << 8 | bytes[i];
	return number;
}

/* After the hello of TLS 1.2, the client's handshake has small and then encrypted messages. */
static bool accept_record(const struct first_records *records, size_t len)
{
	const unsigned char *head = records->head;

	if (head[0] != TYPE_HANDSHAKE || SSL_version(records->ssl) < TLS1_3_VERSION)
		return true;
	return len >= HELLO_HEAD && number_at(head + RECORD_HEAD + 1, 3) == len - HELLO_HEAD;
}

static bool accept_bytes(struct first_records *records, const char *bytes, size_t n_bytes)
{
	for (size_t i = 0; i < n_bytes; i++) {
		if (records->n_read < sizeof(records->head))
			records->head[records->n_read] = (unsigned char) bytes[i];
		records->n_read++;
		size_t len = number_at(records->head + 3, 2);

		if (records->n_read < RECORD_HEAD || records->n_read < RECORD_HEAD + len)
			continue;
		if (!accept_record(records, len))
			return false;
		records->n_read = 0;
	}
	return true;
}

/* A BIO_callback_fn_ex: OpenSSL gets its return value. */
static long on_raw_bytes(BIO *bio, int operation, const char *bytes, size_t len, int argi,
			 long argl, int rc, size_t *n_read)
{
	struct first_records *records = (struct first_records *) BIO_get_callback_arg(bio);

	(void) len;
	(void) argi;
	(void) argl;
	if (operation == BIO_CB_FREE)
		free(records);
	else if (operation == (BIO_CB_READ | BIO_CB_RETURN) && rc > 0 &&
		 !accept_bytes(records, bytes, *n_read))
		return -1;
	return rc;
}

/* The stream has its descriptor only when the handshake begins. */
static void on_progress(const SSL *ssl, int where, int value)
{
	BIO *bio = SSL_get_rbio(ssl);
	struct first_records *records = (struct first_records *) BIO_get_callback_arg(bio);

	(void) value;
	if ((where & SSL_CB_HANDSHAKE_START) && !records) {
		records = mem_new(sizeof(*records));
		records->ssl = ssl;
		BIO_set_callback_arg(bio, (char *) records);
		BIO_set_callback_ex(bio, on_raw_bytes);
	} else if (where & SSL_CB_HANDSHAKE_DONE) {
		BIO_set_callback_arg(bio, NULL);
		BIO_set_callback_ex(bio, NULL);
		free(records);
	}
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
	SSL_CTX_set_info_callback(tls->context, on_progress);
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
	if (!refused) {
		*ret_tls = &tls->functions;
		return 0;
	}
	http_tls_free(&tls->functions);
	const char *reason = ERR_reason_error_string(ERR_peek_last_error());

	ERR_clear_error();
	return err_set(err, ERR_INVALID, "cannot use '%s' for TLS: %s", refused,
		       reason ? reason : "OpenSSL rejects it");
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
