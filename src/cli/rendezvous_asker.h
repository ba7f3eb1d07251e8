/* A command that requests from the rendezvous server of its command line, once or repeatedly. A
 * server that numbers its answers holds the next request until there is news; other servers, and
 * unreachable ones, get a request each second. */
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
	void (*ask)(void *data); /* makes a request, by a function below; called at the start and
				    for each repetition */
	/* An answer; its body is NULL if it is not JSON. Either ends the run, or makes another
	 * request. */
	void (*on_answer)(int status, const struct json *answer, void *data);
	void *data;
	msec patience; /* with a server that was reachable and no longer is; 0: for ever */

	/* Private: */
	struct loop *loop;
	struct http_asker *asker;
	struct loop_watch *timer;
	bool has_answer; /* the server has answered once: a loss is reported, and requests are
			    repeated */
	instant lost_at; /* INSTANT_UNSET: the last request was answered */
	int64_t revision; /* of the last answer; 0: none, or the server does not number its
			     answers */
	int exit_code;
};

void rendezvous_asker_done(struct rendezvous_asker *asker);
/* Runs until rendezvous_asker_end, and returns the exit code; if the command line has faults,
 * prints them instead. With TLS it may execute another program (cli/exec_kubernetes.h). */
int rendezvous_asker_run(struct rendezvous_asker *asker, const struct options *options,
			 struct text *faults);

/* POSTs JSON, or GETs without a body (NULL). */
void rendezvous_asker_request(struct rendezvous_asker *asker, const char *path, const void *body,
			      size_t len);
/* GETs a job: immediately for the first time, later when it has changed, or after a second. */
void rendezvous_asker_read(struct rendezvous_asker *asker, const char *job);
void rendezvous_asker_again(struct rendezvous_asker *asker); /* soon */
void rendezvous_asker_end(struct rendezvous_asker *asker, int exit_code);
/* Ends with the error of an answer whose status is not 200: the server's own sentence, if it sent
 * one. */
void rendezvous_asker_refuse(struct rendezvous_asker *asker, int status, const struct json *answer);
