/* What an elastic agent says to its server, and what it is answered. There is one kind of call:
 * both sides tell the whole of their state, so it does not matter which call or answer is lost,
 * comes late, or comes twice. */
#pragma once

#include "rendezvous/rendezvous.h"

#include <stdbool.h>
#include <stdint.h>

/* What a member has to do. */
struct member_order {
	enum rendezvous_order order;
	int64_t generation; /* of RUN; 0 otherwise */
	enum world_reason reason; /* of RUN and WAIT */
	enum rendezvous_verdict verdict; /* of GO */
	bool is_excluded, is_last; /* of WAIT, as in struct rendezvous_view */
};

enum member_activity {
	MEMBER_IDLE, /* no workers, or such as were asked to end */
	MEMBER_AT_WORK,
	MEMBER_HAS_FAILED, /* a worker of its generation has */
	MEMBER_HAS_SUCCEEDED, /* all of them have */
	MEMBER_WANTS_RESTART, /* one of them does, and has saved */
	MEMBER_ACTIVITY_COUNT,
};
extern const char *const member_activity_words[MEMBER_ACTIVITY_COUNT];

struct member_report {
	int node_rank; /* as of RENDEZVOUS_JOIN */
	int64_t generation; /* of its last workers; 0: there were none */
	enum member_activity activity;
	bool drains; /* it wants to leave */
	bool has_left; /* its last word */
	int64_t failure; /* the generation whose failure goes with it; 0: none. Not in its JSON */
	bool is_cause; /* of HAS_FAILED, as of RENDEZVOUS_FAIL. The same: it follows from the
			  failure */
	int64_t progress; /* highest step that its workers have reached, in any generation; 0: none
			     is known. No news: it goes with the next call */
	int64_t newest; /* generation of the worlds that it was ordered to run; 0: none. In the JSON
			   it is "world" */
	struct member_order known; /* the order that it has: another one is answered at once */
};

bool member_order_equals(const struct member_order *a, const struct member_order *b);
bool member_report_equals(const struct member_report *a, const struct member_report *b);

/* The server's side: takes all that a call says. ERR_REFUSED and ERR_LIMIT as of RENDEZVOUS_JOIN;
 * what is of another generation is passed over. `offer` is as of RENDEZVOUS_JOIN. */
int member_call_apply(struct rendezvous *rendezvous, const char *id,
		      const struct member_report *report, const char *offer, msec now,
		      struct err *err);
/* What it is answered; the call is held open for as long as that is what the member knows. One that
 * is no member, or not any more, goes: the job has ended, or it has left. */
void member_call_answer(const struct rendezvous *rendezvous, const char *id,
			struct member_order *ret_order);
