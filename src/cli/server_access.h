/* Which clients a server of ours accepts, and how it proves its identity: the options that `serve`
 * and `orchestrator` have in common. Without them a server obeys its own user: it requires the
 * user's token (command/input.h). */
#pragma once

#include "base/err.h"
#include "command/options.h"
#include "http/certificate.h"
#include "http/refusal.h"

#include <stdbool.h>

/* It must stay where it was opened. */
struct server_access {
	struct http_access access; /* of `token`, else `hash`, else of any client */
	char *token; /* NULL: only the hash is known, or none is required */
	struct token_hash hash;
	struct http_tls *tls; /* NULL: none */
	char *pin; /* of its key; NULL: no TLS, or the clients make it from the user's token */
};

/* Whether only muster-kubernetes can do what the options request for a server that listens on this
 * socket: read a hash, or use TLS. */
bool server_access_needs_other_program(const struct options *options, int fd);
/* Reads --token-file and --tls-dir, whose files are created if missing, and --insecure. A socket
 * that other machines reach gets TLS, with the key made from the token unless --tls-dir is given.
 * ERR_INVALID, and the errors of user_token_read. */
int server_access_open(const struct options *options, int fd, struct server_access *ret_access,
		       struct err *err) MUST_USE;
void server_access_done(struct server_access *access);

#define SERVER_ACCESS_ROWS                                                                         \
	OPTION("token-file", TEXT, "FILE", NULL,                                                   \
	       "file with the token that clients need, or its hash (default: your own)",           \
	       .has_variable = true),                                                              \
		OPTION("make-token", TEXT, "FILE", NULL,                                           \
		       "write a new token to FILE and its hash to FILE.hash, and exit"),           \
		OPTION("tls-dir", TEXT, "DIR", NULL,                                               \
		       "serve https with tls.crt and tls.key of this directory (created if "       \
		       "missing)"),                                                                \
		FLAG("insecure", "serve any client, without token and TLS")
