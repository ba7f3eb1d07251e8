/* Measures the way to a peer over a connection that stands: round trip, bandwidth, clock. */
#pragma once

#include "base/msec.h"
#include "io/network_finding.h"

#include <stdbool.h>

struct network_question {
	const char *own_name; /* the task that asks; NULL: only whether the peer can be reached */
	const struct network_peer *peer;
	msec until; /* of loop_monotonic_now: no new try begins after it */
	/* Both ends of a pipe, non-blocking, with one byte in it: whoever has taken the byte sends
	 * the many bytes of its measure, and puts it back. */
	int turn[2];
};

/* Sets the stage of the finding (NETWORK_DONE, or NETWORK_ANSWER with the error), and what was
 * measured. False when another try may do better: the connection was closed before anything was
 * said, as by a server that is just going. */
bool network_measure(int fd, const struct network_question *question,
		     struct network_finding *finding);
