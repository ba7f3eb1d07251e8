/* A command that asks the rendezvous server of its command line, once or again and again. A server
 * that numbers its answers keeps the next call until there is news; others, and one that cannot be
 * reached, are asked once a second. */
#pragma once

#include "base/json.h"
#include "base/msec.h"
#include "base/own.h"
#include "cli/rendezvous_endpoint.h"
#include "command/options.h"
#include "http/asker.h"

#include <stdbool.h>

/* Zero it, and set these: */
struct rendezvous_asker {
	struct rendezvous_endpoint endpoint;
	void (*ask)(void *data); /* calls rendezvous_asker_request */
	/* An answer, whose body is NULL if it is not JSON: ends the asking, or asks again later. */
	void (*on_answer)(int status, const struct json *answer, void *data);
	void *data;
	msec patience; /* with a server that was there and is gone; 0: for ever */

	/* Its own: */
	struct loop *loop;
	struct http_asker *asker;
	struct loop_watch *timer;
	bool has_answer; /* the server was there: a loss is told, and it asks again */
	msec lost_at; /* monotonic; MSEC_UNSET: the last call was answered */
	int64_t revision; /* of what was read last; 0: none, or a server that has none */
	int exit_code;
};

void rendezvous_asker_done(struct rendezvous_asker *asker);
/* Asks until rendezvous_asker_end, and gives the exit code; if the call has faults, they are said
 * instead. With TLS it may go on as another program (cli/exec_kubernetes.h). */
int rendezvous_asker_run(struct rendezvous_asker *asker, const struct options *options,
			 struct text *faults);

/* POSTs JSON, or GETs without a body (NULL). */
void rendezvous_asker_request(struct rendezvous_asker *asker, const char *path, const void *body,
			      size_t len);
/* GETs a job: at once for the first time, and again when it has changed, or after a second. */
void rendezvous_asker_read(struct rendezvous_asker *asker, const char *job);
void rendezvous_asker_again(struct rendezvous_asker *asker); /* soon */
void rendezvous_asker_end(struct rendezvous_asker *asker, int exit_code);
/* Ends with what an answer of another status than 200 says: the server's own sentence where there
 * is one. */
void rendezvous_asker_refuse(struct rendezvous_asker *asker, int status, const struct json *answer);
