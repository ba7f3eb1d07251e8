/* Self-signed certificates of our servers. No authority vouches for them: clients know the key by a
 * pin in the form of curl's --pinnedpubkey: "sha256//" and the base64 of the public key's SHA-256.
 * Only programs that link libcrypto have this file. */
#pragma once

#include "base/err.h"
#include "base/own.h"

/* Creates a key (P-256) and its certificate, valid for ten years, unless both files exist. They are
 * PEM files; only this user may read the key. The key is never replaced: servers that start at the
 * same time, and one that was killed before it wrote the certificate, use the same. Returns
 * ERR_INVALID if there is a certificate without a key, or no key in the file; ERR_IO, ERR_SPACE. */
int certificate_ensure(const char *certificate_file, const char *key_file,
		       struct err *err) MUST_USE;
/* The pin of the first certificate in a file. Caller frees. Returns ERR_INVALID or
 * ERR_NOT_FOUND. */
int certificate_pin(const char *certificate_file, char **ret_pin, struct err *err) MUST_USE;

/* The key derived from a secret (Ed25519, from its HMAC). Both sides of a connection that know the
 * secret know the key, and need nothing else to trust each other. The connection shows the public
 * key to any client, so the secret must not be guessable (http/token.h). */
struct certificate {
	struct x509_st *certificate;
	struct evp_pkey_st *key;
};

void certificate_of_secret(const char *secret, struct certificate *ret_certificate);
void certificate_done(struct certificate *certificate);
char *certificate_pin_of_secret(const char *secret) MUST_USE; /* caller frees */
