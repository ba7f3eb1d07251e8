/* A certificate that a server made for itself. No authority vouches for it: clients know its key by
 * a pin, as curl's --pinnedpubkey has it: "sha256//", and in base64 the SHA-256 of the public key.
 * Only programs that link libcrypto have it. */
#pragma once

#include "base/err.h"
#include "base/own.h"

/* Makes a key (P-256) and its certificate, of ten years, unless both files are there: PEM, the key
 * for this user alone. ERR_INVALID where only one of them is; ERR_IO, ERR_SPACE. */
int certificate_ensure(const char *certificate_file, const char *key_file,
		       struct err *err) MUST_USE;
/* The pin of the first certificate of a file. Caller frees. ERR_INVALID, ERR_NOT_FOUND. */
int certificate_pin(const char *certificate_file, char **ret_pin, struct err *err) MUST_USE;

/* The key of a secret (Ed25519, from its HMAC): whoever knows the secret knows the key, so that
 * both sides of a connection need nothing else to trust each other. What is sent shows the public
 * key to anybody who connects, so the secret must be one that cannot be guessed (http/token.h). */
struct certificate {
	struct x509_st *certificate;
	struct evp_pkey_st *key;
};

void certificate_of_secret(const char *secret, struct certificate *ret_certificate);
void certificate_done(struct certificate *certificate);
char *certificate_pin_of_secret(const char *secret) MUST_USE; /* caller frees */
