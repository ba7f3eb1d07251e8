/* What one agent of an elastic job does: the other half of rendezvous/rendezvous. Pure; the time is
 * handed in, of a clock that never jumps.
 *
 * The agent tells the server what it does (rendezvous/member_call.h) whenever that has changed, and
 * again as soon as it was answered; the server keeps a call until there is a new order, or for
 * `hold`. So a call is the sign of life as well.
 *
 * While the server cannot be reached the workers go on, so that it can be killed and started again
 * unnoticed. After `isolation_time` they are ended all the same: the others may have formed a world
 * without this member, and two worlds must not write the same checkpoints. */
#pragma once

#include "base/msec.h"
#include "base/own.h"
#include "rendezvous/member_call.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether a worker that exits with this code has saved and asks for a restart: 42 and 143 are those
 * of TensorFlow's PreemptionCheckpointHandler (tensorflow/python/distribute/failure_handling). 143
 * is also how a script exits, as shells do, that has saved because of a SIGTERM. */
bool member_code_asks_restart(int exit_code);

struct member_settings {
	msec hold; /* how long the server keeps a call */
	msec answer_time; /* how much longer an answer may take before it counts as lost */
	msec isolation_time; /* workers outlive the last answer for so long */
	msec patience; /* without workers, from their end on, for a server that is not reached */
	msec drain_time; /* for the server to answer a drain; then the member goes without */
};

enum member_end {
	MEMBER_GOES_ON,
	MEMBER_ENDED, /* it was told to go; see its order */
	MEMBER_GAVE_UP, /* no server was reached */
};

struct member {
	struct member_settings settings;
	struct member_report report; /* as it is to be told; `known` is the last order */
	struct member_report told; /* by the last call */
	bool has_workers;
	bool has_told; /* anything at all */
	bool is_calling;
	msec call_ends; /* the call under way counts as lost then */
	msec next_at; /* no call is due before */
	msec heard_at; /* the last answer; or the beginning, or the end of its workers */
	msec goes_at; /* without an answer to its drain; MSEC_NEVER */
	int n_lost; /* calls, in a row */
	enum member_end end;
};

void member_begin(struct member *member, const struct member_settings *settings, msec now);

/* The generation whose workers should run; 0: none. What runs of another one is to be ended before
 * anything is started. */
int64_t member_wants(const struct member *member);
/* Workers that are to be ended may save before: nobody has failed. */
bool member_may_save(const struct member *member);

/* What became of the workers. */
void member_started(struct member *member, int64_t generation, msec now);
void member_failed(struct member *member); /* one did; others may still be there */
/* One has ended with such a code. */
void member_wants_restart(struct member *member);
void member_explained(struct member *member); /* it is known why one of its generation failed */
void member_progressed(struct member *member, int64_t step); /* one has reached it */
void member_ended(struct member *member, bool have_succeeded, msec now); /* none is there */

/* It is asked to leave: by a signal, or by a notice that the machine is going to end. */
void member_drain(struct member *member, msec now);

/* A call is due; one that is under way is to be given up for it. What it says is `report`. */
bool member_is_call_due(const struct member *member, msec now);
void member_called(struct member *member, msec now);
void member_answered(struct member *member, const struct member_order *order, msec now);
void member_lost_call(struct member *member, msec now); /* no answer, or none that can be read */
/* The server will not have it, and asking again is no use: it ends what it has, and goes. */
void member_refused(struct member *member, msec now);

/* It is member_wake_at. A call under way that has become too old is lost. */
void member_time(struct member *member, msec now);
msec member_wake_at(const struct member *member);
