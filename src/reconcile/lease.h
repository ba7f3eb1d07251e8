/* Which muster may act for a job: one claimant's side of a lease that several processes may want.
 * Pure.
 *
 * The rules are those of client-go's leader election (tools/leaderelection). The record of a lease
 * names its holder, which rewrites it regularly. A claimant takes the lease when the record has not
 * changed for the duration that it states, by the claimant's own clock, so that no two clocks are
 * compared. A holder stops acting if it could not write for LEASE_DEADLINE, counted from the start
 * of its last successful write. That is before any other process may take the lease. Each write
 * names the version that it is based on.
 *
 * One rule is stricter. A newcomer takes a missing record only after a whole duration: a client may
 * have deleted it under a holder, which creates it again. So the muster that created the subject of
 * the lease holds it without a record for as long as after a write. All others can know of the
 * subject only since then, and wait longer. A subject that no muster creates has a first claimant
 * instead (may_be_first): if the record is missing at its first read, it assumes that it never
 * existed.
 *
 * All times are of one clock that never jumps and keeps running while the machine sleeps. */
#pragma once

#include "base/instant.h"

#include <stdbool.h>
#include <stdint.h>

#define LEASE_DURATION (15 * MSEC_PER_SECOND)
#define LEASE_DEADLINE (10 * MSEC_PER_SECOND)
#define LEASE_RENEWAL (5 * MSEC_PER_SECOND) /* between two writes of a holder */
#define LEASE_RETRY (2 * MSEC_PER_SECOND) /* after a failed call */
#define LEASE_SPACING MSEC_PER_SECOND /* between two reads of a waiting claimant */
#define LEASE_PATIENCE (4 * MSEC_PER_SECOND) /* with an unanswered call */
#define LEASE_HOLDER_SIZE 256

/* What is known of a holder without waiting. */
enum lease_fate {
	LEASE_FATE_UNKNOWN, /* on another machine, or silent for a while */
	LEASE_FATE_GONE, /* its process was on this machine and has exited */
	LEASE_FATE_ALIVE, /* its process is on this machine and wrote a moment ago */
};

/* The record as it was read. */
struct lease_record {
	bool is_there;
	char holder[LEASE_HOLDER_SIZE]; /* "": none */
	int64_t version; /* changes with every write */
	msec duration;
	enum lease_fate fate; /* of another holder */
};

/* The call to make now. */
enum lease_call {
	LEASE_NO_CALL,
	LEASE_LOOK, /* read the record */
	LEASE_CREATE, /* create it, with us as its holder */
	LEASE_WRITE, /* make us its holder, based on the version that was read */
};

enum lease_standing {
	LEASE_UNSETTLED, /* not yet known whether another process holds it */
	LEASE_HELD, /* we hold it, and may act */
	LEASE_OVERDUE, /* we hold it as far as we know, but could not write for too long */
	LEASE_OTHERS, /* another process holds it and has shown activity */
};

struct lease {
	char self[LEASE_HOLDER_SIZE];
	struct lease_record seen;
	bool has_seen; /* any record so far */
	bool must_look; /* before any write */
	bool may_be_first; /* set it after lease_begin */
	instant seen_at; /* when the current record was first seen */
	bool has_changed; /* by another process, since we began to read */
	bool is_held;
	instant renewed_at; /* start of our last successful write, or when its subject was created
			     */
	bool is_calling;
	instant call_began;
	instant next_at; /* when the next call is due */
};

/* `self` identifies only us. `made_at` is when we began to create the subject of the lease;
 * INSTANT_UNSET: we did not. */
void lease_begin(struct lease *lease, const char *self, instant made_at, instant now);

/* Returns the call that is due, if any; after starting it call lease_called. */
enum lease_call lease_next_call(const struct lease *lease, instant now);
void lease_called(struct lease *lease, instant now);

/* Reports the end of the call. Afterward lease_next_call may return another. */
void lease_observe(struct lease *lease, const struct lease_record *record,
		   instant now); /* of a read */
void lease_wrote(struct lease *lease, const struct lease_record *record, instant now);
void lease_conflicted(struct lease *lease, instant now); /* another process wrote it meanwhile */
void lease_failed(struct lease *lease, instant now); /* its effect is unknown */

enum lease_standing lease_standing(const struct lease *lease, instant now);
/* Whether the current call takes too long: cancel it and call lease_failed. */
bool lease_is_call_overdue(const struct lease *lease, instant now);
/* When to call these functions again. */
instant lease_wake_at(const struct lease *lease, instant now);
