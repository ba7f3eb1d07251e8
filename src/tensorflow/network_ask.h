/* Asks one question about a peer, from its name to what was measured; takes the time it needs. */
#pragma once

#include "base/msec.h"
#include "io/network_address.h"

#include <netinet/in.h>
#include <stdbool.h>

struct network_peer {
	const char *name; /* of the task: "worker-0" */
	const char *host; /* a name or an address, without brackets */
	int port;
};

enum network_stage {
	NETWORK_RESOLVE, /* the name gives an address */
	NETWORK_CONNECT, /* the port opens */
	NETWORK_ANSWER, /* what listens there speaks our protocol, and is the task that was meant */
	NETWORK_DONE,
};
/* "resolve", "connect", "answer", "done". */
extern const char *const network_stage_words[4];

/* Times in seconds. */
struct network_finding {
	enum network_stage stage; /* which failed; NETWORK_DONE: none */
	bool is_stranger; /* what answers there speaks another protocol, and will ask nothing */
	double resolve; /* until the name had its addresses */
	double connect; /* until the connection stood */
	double round_trip; /* of small messages, there and back; 0: not measured */
	double bandwidth; /* bytes a second from here to there, roughly; 0: not measured */
	double clock; /* how far the peer's clock is ahead of ours */
	char address[INET6_ADDRSTRLEN]; /* what the name stands for; "": not resolved */
	struct network_addresses addresses; /* all that it stands for */
	char error[160]; /* "connection refused"; "" where nothing failed */
};

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

/* Words of the system begin with a capital, ours do not. */
void network_finding_fail(struct network_finding *finding, enum network_stage stage,
			  const char *error);
