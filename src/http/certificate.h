/* Self-signed certificates of our servers, and tokens of their callers. No authority vouches for
 * them: clients know the key by a pin in the form of curl's --pinnedpubkey: "sha256//" and the
 * base64 of the public key's SHA-256. Only programs that link libcrypto have this file. */
#pragma once

#include "base/err.h"

#include <stdbool.h>

/* Creates a key (P-256) and its certificate, valid for ten years, unless both files exist. They are
 * PEM files; only this user may read the key. The key is never replaced: servers that start at the
 * same time, and one that was killed before it wrote the certificate, use the same. Returns
 * ERR_INVALID if there is a certificate without a key, or no key in the file; ERR_IO, ERR_SPACE. */
int certificate_ensure(const char *certificate_file, const char *key_file,
		       struct err *err) MUST_USE;
/* The pin of a file's first certificate. Caller frees. Returns ERR_INVALID or ERR_NOT_FOUND. */
int certificate_pin(const char *certificate_file, char **ret_pin, struct err *err) MUST_USE;

/* The key derived from a secret (Ed25519, from its HMAC). Both sides of a connection that know the
 * secret know the key, and need nothing else to trust each other. The connection shows the public
 * key to any client, so the secret must not be guessable. */
struct certificate {
	struct x509_st *certificate;
	struct evp_pkey_st *key;
};

void certificate_of_secret(const char *secret, struct certificate *ret_certificate);
void certificate_done(struct certificate *certificate);
char *certificate_pin_of_secret(const char *secret) MUST_USE; /* caller frees */

/* Tokens, which authenticate a caller: 256 random bits. A server stores only the SHA-256, which
 * suffices because a token cannot be guessed (docs/design/0032). */
#define TOKEN_HASH_SIZE 32

struct token_hash {
	unsigned char bytes[TOKEN_HASH_SIZE];
};

/* "sha256:" and 64 hexadecimal digits, as stored in files. Caller frees. */
char *token_hash_text(const char *token) MUST_USE;
/* Reads such a text. Returns ERR_INVALID for another. */
int token_hash_read(const char *text, struct token_hash *ret_hash, struct err *err) MUST_USE;
bool token_is_hash(const char *text); /* it begins like one */
/* Whether a text is the token of a hash (struct token_hash). Constant time. */
bool token_is_known(const char *given, const void *hash);

/* TLS for http/server.h, over OpenSSL. Only programs that link libssl have tls.c. */

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
