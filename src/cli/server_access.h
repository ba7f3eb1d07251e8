/* Which clients a server of ours accepts, and how it proves its identity: the options of `serve`
 * and `orchestrator` that need libcrypto. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "command/options.h"
#include "http/routes.h"
#include "http/tls.h"
#include "http/token.h"

struct server_access {
	http_secret_fn is_known; /* checks the token; NULL: any client is answered */
	struct token_hash token;
	struct http_tls *tls; /* NULL: none */
	char *pin; /* of its key */
};

/* Reads --token-file, and --tls-dir, whose files are created if missing. */
int server_access_open(const struct options *options, struct server_access *ret_access,
		       struct err *err) MUST_USE;
void server_access_done(struct server_access *access);
/* --make-token: writes a new token to a file, and its hash to FILE.hash; both are new files for
 * this user alone. A path that ends in .hash names the second file. Returns the exit code. */
int server_access_create_token(const char *path);

#define SERVER_ACCESS_ROWS                                                                         \
	{.name = "token-file",                                                                     \
	 .kind = OPTION_TEXT,                                                                      \
	 .value_name = "FILE",                                                                     \
	 .has_variable = true,                                                                     \
	 .one_line = "file with the bearer token that clients need, or with its hash"},            \
		{.name = "make-token",                                                             \
		 .kind = OPTION_TEXT,                                                              \
		 .value_name = "FILE",                                                             \
		 .one_line = "write a new token to FILE and its hash to FILE.hash, and exit"},     \
	{                                                                                          \
		.name = "tls-dir", .kind = OPTION_TEXT, .value_name = "DIR",                       \
		.one_line = "serve https with tls.crt and tls.key of this directory (created if "  \
			    "missing)"                                                             \
	}
