/* The messages between an elastic agent and its server. There is one kind of call, in which both
 * sides send their whole state. So calls and answers may be lost, late or duplicated. */
#pragma once

#include "rendezvous/rendezvous.h"

#include <stdbool.h>
#include <stdint.h>

/* The server's order for a member. */
struct member_order {
	enum rendezvous_order order;
	int64_t generation; /* for RUN; else 0 */
	enum world_reason reason; /* for RUN and WAIT */
	enum rendezvous_verdict verdict; /* for GO */
	bool is_excluded, is_last; /* for WAIT, as in struct rendezvous_view */
};

enum member_activity {
	MEMBER_IDLE, /* no workers, or only workers that were asked to stop */
	MEMBER_AT_WORK,
	MEMBER_HAS_FAILED, /* a worker of its generation failed */
	MEMBER_HAS_SUCCEEDED, /* all its workers succeeded */
	MEMBER_WANTS_RESTART, /* a worker asks for it, and has saved */
	MEMBER_ACTIVITY_COUNT,
};
extern const char *const member_activity_words[MEMBER_ACTIVITY_COUNT];

struct member_report {
	int64_t call; /* number of the call, in the order in which they are sent; 0: unknown */
	const char *key; /* as in RENDEZVOUS_JOIN */
	int node_rank; /* as in RENDEZVOUS_JOIN */
	int64_t generation; /* of its last workers; 0: none yet */
	enum member_activity activity;
	bool drains; /* the member wants to leave */
	bool has_left; /* the member's last call */
	int64_t failure; /* generation of the failure sent along; 0: none. Not in its JSON */
	bool is_cause; /* for HAS_FAILED, as in RENDEZVOUS_FAIL. Not in its JSON */
	int64_t progress; /* highest step that its workers reached, in any generation; 0: unknown. A
			     change alone triggers no call */
	int64_t newest; /* generation of the newest world that it was ordered to run; 0: none. In
			   the JSON it is "world" */
	int last_rank; /* in that world; -1: unknown. In the JSON it is "rank" */
	struct member_order known; /* its present order: a different one is answered immediately */
};

bool member_order_equals(const struct member_order *a, const struct member_order *b);
bool member_report_equals(const struct member_report *a, const struct member_report *b);

/* The server's side: applies a call. Returns ERR_REFUSED, ERR_LIMIT and ERR_INVALID as in
 * RENDEZVOUS_JOIN; ERR_LIMIT also if a later call of the member came first: otherwise the answer to
 * an earlier call could be newer than that to a later one. Parts
 * about another generation are ignored. `offer` is as in RENDEZVOUS_JOIN. */
int member_call_apply(struct rendezvous *rendezvous, const char *id,
		      const struct member_report *report, const char *offer, instant now,
		      struct err *err);
/* The answer to a call, which is held open as long as the member already has this order. A caller
 * that is not or no longer a member gets GO: the job has ended, or it has left. */
void member_call_answer(const struct rendezvous *rendezvous, const char *id,
			struct member_order *ret_order);
