/* The endpoint at which the machines of an elastic job meet: each option from the command line,
 * else from PET_NAME in the environment, as torchrun's. */
#pragma once

#include "base/own.h"
#include "base/text.h"
#include "command/options.h"

#include <stdbool.h>

struct rendezvous_endpoint {
	char *host; /* without brackets; NULL: not given */
	int port;
	bool is_tls;
	bool has_token_key; /* with TLS: the key is derived from the token, as when an agent
			       serves */
	char *pin; /* of its key; NULL: a certificate authority has signed it */
	char *token; /* NULL: none */
	char *token_advice; /* for a server with another token or key, a sentence */
};

void rendezvous_endpoint_done(struct rendezvous_endpoint *endpoint);
/* Reads "host", "host:port" or "[::1]:port", with or without "https://". Each error is a line of
 * `faults`, also in the function below. */
void rendezvous_endpoint_read(const char *word, struct rendezvous_endpoint *endpoint,
			      struct text *faults);
/* Reads --insecure, --rdzv-token-file (by default the token of this user, which is created if
 * `creates`), and --rdzv-pin and --rdzv-tls, which imply TLS. A token also implies TLS, with the
 * key made from it, unless the host is localhost or a loopback address. Without a host it only
 * reads what was given. */
void rendezvous_endpoint_read_trust(const struct options *options, bool creates,
				    struct rendezvous_endpoint *endpoint, struct text *faults);

/* The value of an option, or of its variable (PET_RDZV_PIN for "rdzv-pin"); NULL: not given. */
const char *rendezvous_option(const struct options *options, const char *name);
const char *rendezvous_variable(const char *name);
bool rendezvous_flag(const struct options *options, const char *name);

#define RENDEZVOUS_TRUST_ROWS                                                                      \
	OPTION("rdzv-token-file", TEXT, "FILE", NULL,                                              \
	       "file with the token of the rendezvous server (default: your own token)"),          \
		FLAG("rdzv-tls",                                                                   \
		     "use TLS with a key made from the token (default unless on loopback)"),       \
		OPTION("rdzv-pin", TEXT, "PIN", NULL,                                              \
		       "key of an https server whose certificate no authority signed"),            \
		FLAG("insecure", "use neither token nor TLS: any client can join and stop jobs")
