/* Which muster may act for a job: one claimant's side of a lease that several may want. Pure.
 *
 * The rules are those of client-go's leader election (tools/leaderelection): the record of a lease
 * names its holder, which writes it anew again and again; a muster that wants it takes it when the
 * record has not changed for as long as it says, by the claimant's own clock, so that no two clocks
 * are ever compared. A holder that could not write for LEASE_DEADLINE, counted from the moment at
 * which its last successful write was started, does not act any more: that is over before anybody
 * else may take the lease. Each write names the version that it was made from.
 *
 * One thing is stricter. A record that is missing is taken by a newcomer only after a whole
 * duration: somebody may have deleted it under a holder, which makes it again. So the muster that
 * made what the lease is about holds it without a record for as long as after a write: all others
 * can know of it only since then, and wait for longer. What is not made by any muster has a first
 * claimant instead (may_be_first): of a record that is missing when it looks first, it takes that
 * nobody ever made it.
 *
 * All times are of one clock that never jumps and goes on while the machine sleeps. */
#pragma once

#include "base/msec.h"
#include "base/own.h"

#include <stdbool.h>
#include <stdint.h>

#define LEASE_DURATION (15 * MSEC_PER_SECOND)
#define LEASE_DEADLINE (10 * MSEC_PER_SECOND)
#define LEASE_RENEWAL (5 * MSEC_PER_SECOND) /* from one write of a holder to the next */
#define LEASE_RETRY (2 * MSEC_PER_SECOND) /* after a call that failed */
#define LEASE_SPACING MSEC_PER_SECOND /* of a claimant's looks, which sees what is let go */
#define LEASE_PATIENCE (4 * MSEC_PER_SECOND) /* with a call that is not answered */
#define LEASE_HOLDER_SIZE 256

/* What can be known of a holder without waiting. */
enum lease_fate {
	LEASE_FATE_UNKNOWN, /* it is on another machine, or has not written lately */
	LEASE_FATE_GONE, /* its process was on this machine, and is no more */
	LEASE_FATE_ALIVE, /* its process is on this machine, and wrote a moment ago */
};

/* The record as it was read. */
struct lease_record {
	bool is_there;
	char holder[LEASE_HOLDER_SIZE]; /* "": nobody */
	int64_t version; /* changes with every write */
	msec duration;
	enum lease_fate fate; /* of another holder */
};

/* What is to be called now. */
enum lease_call {
	LEASE_NO_CALL,
	LEASE_LOOK, /* read the record */
	LEASE_CREATE, /* make it, with us as its holder */
	LEASE_WRITE, /* name us as its holder, at the version that was seen */
};

enum lease_standing {
	LEASE_UNSETTLED, /* it is not known yet whether somebody holds it */
	LEASE_HELD, /* we hold it, and may act */
	LEASE_OVERDUE, /* we hold it as far as we know, and could not write for too long */
	LEASE_OTHERS, /* somebody else holds it, and has given a sign of life */
};

struct lease {
	char self[LEASE_HOLDER_SIZE];
	struct lease_record seen;
	bool has_seen; /* anything so far */
	bool must_look; /* before anything is written */
	bool may_be_first; /* set it after lease_begin */
	msec seen_at; /* when the record was first seen as it is */
	bool has_changed; /* under somebody else, since we look */
	bool is_held;
	msec renewed_at; /* when our last successful write was started, or what it is about was made
			  */
	bool is_calling;
	msec call_began;
	msec next_at; /* when the next call is due */
};

/* `self` names us and nobody else. `made_at` is when we began to make what it is about; MSEC_UNSET:
 * we did not. */
void lease_begin(struct lease *lease, const char *self, msec made_at, msec now);

/* Which call is due, if any; then tell lease_called. */
enum lease_call lease_next_call(const struct lease *lease, msec now);
void lease_called(struct lease *lease, msec now);

/* How the call ended. After each of these lease_next_call may have another. */
void lease_observe(struct lease *lease, const struct lease_record *record,
		   msec now); /* of a look */
void lease_wrote(struct lease *lease, const struct lease_record *record, msec now);
void lease_conflicted(struct lease *lease, msec now); /* written or made by somebody meanwhile */
void lease_failed(struct lease *lease, msec now); /* nothing is known of what it did */

enum lease_standing lease_standing(const struct lease *lease, msec now);
/* The call that is under way has been for too long: give it up, and tell lease_failed. */
bool lease_is_call_overdue(const struct lease *lease, msec now);
/* When to ask all of this again. */
msec lease_wake_at(const struct lease *lease, msec now);
