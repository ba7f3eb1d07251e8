/* A member's call and its answer as JSON, the body of POST /v1/jobs/JOB/members/ID; and the state
 * of a rendezvous, as a server stores it. There is one table of fields (base/fields.h) for each
 * structure.
 *
 * Request: {"uid": "…", "min": 1, "max": 4, "unit": 1, "joinTime": 600000, "lastCall": 1000,
 * "maxRestarts": 3, "offer": {…}, "livenessPort": 40123, "key": "…", "call": 7, "nodeRank": 0,
 * "generation": 2, "activity": "at-work", "drains": false, "hasLeft": false, "known": ORDER,
 * "world": 2, "rank": 1, "failure": FAILURE, "knownFailure": 1}. Times are in milliseconds. "world"
 * is the newest generation whose members it knows, 0 for none, and "rank" its own one there.
 * "failure" is the failure of its own processes, in the failed generation.
 *
 * Answer: {"uid": "…", "restarts": 0, "failureNumber": 2, "order": ORDER, "members": [["ID",
 * OFFER], …], "failure": FAILURE}, with the members of the world, by rank, if the order is to run
 * an unknown world, and with the first failure of all machines, if its number differs from the
 * known one.
 *
 * ORDER: {"order": "run", "generation": 2, "reason": "grew", "verdict": "open"}. FAILURE: as in a
 * status (status/status.h); its attempt is the generation.
 *
 * Record:
 *
 *     {"generation": 3, "worldReason": "grew", "goesOn": true, "restarts": 1, "reason": "first",
 *      "verdict": "open", "members": [["ID", OFFER, true], …], "setAside": [["ID", OFFER], …],
 *      "budget": {"end": "left", "charged": 1, "ages": [2000], "fruitless": 0, "progress": 120,
 *                 "failedAt": 100}}
 *
 * Members of the world are by rank, each with a flag for whether it is still a member. Ages are in
 * milliseconds, and present only if restarts have a window. */
#pragma once

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "rendezvous/member.h"
#include "status/status.h"

#define MEMBER_HOLD MSEC_PER_SECOND /* how long a call without news is held */
#define ELASTIC_SHORTEST_LEASE (2 * MEMBER_HOLD) /* a member calls at least once in it */
#define ELASTIC_LEASE (5 * MSEC_PER_SECOND)
#define MEMBER_PORT 29400 /* default meeting port; torchrun's */

struct member_request {
	const char *uid; /* of the job, created by the server; "" before the first answer */
	struct member_terms terms;
	const char *offer; /* compact JSON */
	struct member_report report;
	int64_t world;
	int liveness_port; /* where its agent says its id; 0: none */
	const struct failure *failure; /* of its own processes (world_failure_report); NULL: none */
	int64_t known_failure; /* number of the newest one received; 0: none */
};

struct member_answer {
	const char *uid;
	int restarts;
	struct member_order order;
	int n_joined; /* for WAIT and TIMED_OUT: members available for a world; 0: not reported */
	bool has_members;
	struct world_member *members; /* borrowed texts, by rank */
	size_t n_members;
	const struct failure *failure; /* of all machines; NULL: no new one */
	int64_t failure_number; /* 0: no process has failed */
};

/* Why members with these terms cannot be in one job: a sentence in the arena that begins with the
 * first difference. NULL: they can. */
const char *member_terms_differ(const struct member_terms *of_job, const struct member_terms *given,
				struct arena *arena);
/* NULL, or the fault of the terms. */
const char *member_terms_fault(const struct member_terms *terms);

/* Write and read the terms in a request. Reading returns ERR_INVALID. */
void member_terms_set(struct json *object, const struct member_terms *terms);
int member_terms_read(const struct json *object, struct member_terms *terms,
		      struct err *err) MUST_USE;

void member_request_add(const struct member_request *request, struct text *body);
/* The result is in the arena. Returns ERR_INVALID. */
int member_request_read(const struct json *body, struct arena *arena,
			struct member_request *ret_request, struct err *err) MUST_USE;

void member_answer_add(const struct member_answer *answer, struct text *body);
int member_answer_read(const struct json *body, struct arena *arena,
		       struct member_answer *ret_answer, struct err *err) MUST_USE;

/* Stores the state that must outlive the server, before a member gets an order of a world. Members
 * in no world are omitted, since they rejoin by themselves. */
void rendezvous_record_set(struct json *object, const struct rendezvous *rendezvous, instant now);
/* The rendezvous that continues from the record (rendezvous_restore); the caller frees it. Returns
 * ERR_INVALID or ERR_LIMIT. */
int rendezvous_record_read(const struct json *object, const struct rendezvous_settings *settings,
			   instant now, struct rendezvous **ret_rendezvous,
			   struct err *err) MUST_USE;
