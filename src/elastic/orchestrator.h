/* The server of elastic jobs: an HTTP interface to rendezvous/rendezvous.h.
 *
 *     POST /v1/jobs/JOB/members/ID   a member's call (rendezvous/json.h); answered when it
 *                                    has news, or after MEMBER_HOLD
 *     GET  /v1/jobs                  {"jobs": [...]}
 *     GET  /v1/jobs/JOB              one of them with its members and worlds; with ?after=REVISION
 *                                    answered when it has another revision, or after MEMBER_HOLD
 *     POST /v1/jobs/JOB/drain        {"machines": ["10.0.0.2"]}: they are asked to leave; answered
 *                                    {"members": [...], "revision": 7}
 *
 * Errors are {"error": "a sentence"}: 400 malformed request, 401 no or another token, 404 no such
 * job, 409 terms that differ from the job's, 410 the job no longer exists, 503 try again. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "base/own.h"
#include "http/listening.h"
#include "http/routes.h"
#include "io/loop.h"

struct orchestrator;

struct orchestrator_settings {
	struct loop *loop;
	const struct listening *listening; /* borrowed */
	const struct http_tls *tls; /* NULL: none; outlives the orchestrator */
	struct http_access access; /* the secret of the callers */
	const char *folder; /* for records of the jobs, for a restarted server; NULL: none */
	msec lease; /* a member that is silent for this long is lost */
	/* Receives a sentence for each change of a job; NULL: not needed. */
	void (*say)(const char *sentence, void *data);
	void (*on_idle)(void *data); /* see orchestrator_is_idle; may be NULL */
	void *data;
};

/* Restores the jobs recorded in the directory. */
int orchestrator_new(const struct orchestrator_settings *settings,
		     struct orchestrator **ret_orchestrator, struct err *err) MUST_USE;
/* No job has members that have called this server, and nobody will ask what came of a drain. */
bool orchestrator_is_idle(const struct orchestrator *orchestrator);
/* Connected members lose their connection, but keep running. NULL is fine. */
void orchestrator_free(struct orchestrator *orchestrator);
