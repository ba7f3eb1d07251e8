/* Asks one question about a peer, from its name to what was measured; takes the time it needs. */
#pragma once

#include "base/msec.h"
#include "io/network_finding.h"

struct network_question {
	const char *own_name; /* the task that asks; NULL: only whether the peer can be reached */
	const struct network_peer *peer;
	msec until; /* of loop_monotonic_now: no new try begins after it */
	/* Both ends of a pipe, non-blocking, with one byte in it: the process that has taken the
	 * byte sends the many bytes of its measure, and puts it back. */
	int turn[2];
};

/* Resolves the name, connects and, when `own_name` is set, measures. With `own_name`, what a peer
 * that comes up late looks like is tried again until `until`; without, there is one try. Always
 * gives a finding. Returns soon after `until`, unless the name service hangs. */
void network_ask(const struct network_question *question, struct network_finding *ret_finding);
