/* The endpoint at which the machines of an elastic job meet, and requests to it: each option from
 * the command line, else from PET_NAME in the environment, as torchrun's. */
#pragma once

#include "base/json.h"
#include "command/options.h"
#include "http/asker.h"

struct rendezvous_endpoint {
	char *host; /* without brackets; NULL: not given */
	int port;
	bool is_tls;
	bool has_token_key; /* with TLS: the key is made from the token, as by an agent */
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
bool rendezvous_flag(const struct options *options, const char *name);

#define RENDEZVOUS_TRUST_ROWS                                                                      \
	OPTION("rdzv-token-file", TEXT, "FILE", NULL,                                              \
	       "file with the token of the rendezvous server (default: your own token)"),          \
		FLAG("rdzv-tls",                                                                   \
		     "use TLS with a key made from the token (default unless on loopback)"),       \
		OPTION("rdzv-pin", TEXT, "PIN", NULL,                                              \
		       "key of an https server whose certificate no authority signed"),            \
		FLAG("insecure", "use neither token nor TLS: any client can join and stop jobs")

/* A command that requests from the rendezvous server of its command line, once or repeatedly. A
 * server that numbers its answers holds the next request until there is news; other servers, and
 * unreachable ones, get a request each second. */

/* Zero it, and set these: */
struct rendezvous_asker {
	struct rendezvous_endpoint endpoint;
	void (*ask)(void *data); /* makes a request, by a function below, and each repetition */
	/* An answer (body NULL: no JSON): ends the run, or makes another request. */
	void (*on_answer)(int status, const struct json *answer, void *data);
	void *data;
	msec patience; /* with a server that was reachable and no longer is; 0: for ever */

	/* Private: */
	struct loop *loop;
	struct http_asker *asker;
	struct loop_watch *timer;
	bool has_answer; /* the server has answered once: a loss is reported and retried */
	instant lost_at; /* INSTANT_UNSET: the last request was answered */
	int64_t revision; /* of the last answer; 0: none, or not numbered */
	int exit_code;
};

void rendezvous_asker_done(struct rendezvous_asker *asker);
/* Runs until rendezvous_asker_end, and returns the exit code; if the command line has faults,
 * prints them instead. With TLS it may execute another program (cli/kubernetes_program.h). */
int rendezvous_asker_run(struct rendezvous_asker *asker, const struct options *options,
			 struct text *faults);

/* POSTs JSON, or GETs without a body (NULL). */
void rendezvous_asker_request(struct rendezvous_asker *asker, const char *path, const void *body,
			      size_t len);
/* GETs a job: immediately for the first time, later when it has changed, or after a second. */
void rendezvous_asker_read(struct rendezvous_asker *asker, const char *job);
void rendezvous_asker_again(struct rendezvous_asker *asker); /* soon */
void rendezvous_asker_end(struct rendezvous_asker *asker, int exit_code);
/* Ends with the error of an answer other than 200: the server's own sentence, if it sent one. */
void rendezvous_asker_refuse(struct rendezvous_asker *asker, int status, const struct json *answer);
