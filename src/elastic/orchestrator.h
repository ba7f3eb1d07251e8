/* The server of elastic jobs: HTTP in, rendezvous/rendezvous.h behind it.
 *
 *     POST /v1/jobs/JOB/members/ID   a member's call (rendezvous/member_wire.h); answered when it
 *                                    has news, or after MEMBER_HOLD
 *     GET  /v1/jobs                  {"jobs": [...]}
 *     GET  /v1/jobs/JOB              one of them with its members and worlds; with ?after=REVISION
 *                                    answered when it has another revision, or after MEMBER_HOLD
 *     POST /v1/jobs/JOB/drain        {"machines": ["10.0.0.2"]}: they are asked to leave; answered
 *                                    {"members": [...], "revision": 7}
 *
 * What is wrong is answered {"error": "a sentence"}: 400 the request, 401 no or another token, 404
 * no such job, 409 other terms than those of the job, 410 a job that is no more, 503 not now: ask
 * again. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "base/own.h"
#include "http/listening.h"
#include "http/routes.h"
#include "io/loop.h"

#include <stdbool.h>

struct orchestrator;

struct orchestrator_settings {
	struct loop *loop;
	const struct listening *listening; /* borrowed */
	const struct http_tls *tls; /* NULL: none; outlives the orchestrator */
	struct http_access access; /* what callers have to know */
	const char *folder; /* remembers the jobs, for a server that is started anew; NULL: none */
	msec lease; /* a member is lost that is silent for so long */
	/* One sentence for each change of a job; NULL: nobody listens. */
	void (*say)(const char *sentence, void *data);
	void (*on_idle)(void *data); /* the last member has left; NULL as well */
	void *data;
};

/* Goes on with the jobs that the folder remembers. */
int orchestrator_new(const struct orchestrator_settings *settings,
		     struct orchestrator **ret_orchestrator, struct err *err) MUST_USE;
/* No job has members that this server has heard. */
bool orchestrator_is_idle(const struct orchestrator *orchestrator);
/* Members that are connected lose their connection, and go on. NULL is fine. */
void orchestrator_free(struct orchestrator *orchestrator);
