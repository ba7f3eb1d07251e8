/* Asks one question about a peer, from name resolution to measurements. It blocks. */
#pragma once

#include "base/instant.h"
#include "io/network_address.h"

#include <netinet/in.h>
#include <stdbool.h>

struct network_peer {
	const char *name; /* of the task: "worker-0" */
	const char *host; /* a name or an address, without brackets */
	int port;
};

enum network_stage {
	NETWORK_RESOLVE, /* the name resolves to an address */
	NETWORK_CONNECT, /* the port opens */
	NETWORK_ANSWER, /* the listener speaks our protocol and is the intended task */
	NETWORK_DONE,
};
/* "resolve", "connect", "answer", "done". */
extern const char *const network_stage_words[4];

/* Times in seconds. */
struct network_finding {
	enum network_stage stage; /* the failed stage; NETWORK_DONE: none */
	bool is_stranger; /* the listener speaks another protocol and will not ask */
	double resolve; /* duration of the name resolution */
	double connect; /* duration of the connection setup */
	double round_trip; /* of small messages; 0: not measured */
	double bandwidth; /* rough bytes a second, from us to the peer; 0: not measured */
	double clock; /* peer's clock minus ours */
	char address[INET6_ADDRSTRLEN]; /* an address of the name; "": not resolved */
	struct network_addresses addresses; /* all addresses of the name */
	char error[160]; /* "connection refused"; "": no failure */
};

struct network_question {
	const char *own_name; /* the asking task; NULL: only test whether the peer is reachable */
	const struct network_peer *peer;
	instant until; /* no new try begins after it */
	/* Both ends of a non-blocking pipe that holds one byte. A process takes the byte, sends its
	 * bandwidth measurement, and puts the byte back. */
	int turn[2];
};

/* Resolves the name, connects and, if `own_name` is set, measures. With `own_name`, failures that a
 * late peer would cause are retried until `until`; without, there is one try. Always gives a
 * finding. Returns soon after `until`, unless the name service hangs. */
void network_ask(const struct network_question *question, struct network_finding *ret_finding);

/* Sets the failed stage and the error, whose first letter becomes lower case, since system messages
 * are capitalized. */
void network_finding_fail(struct network_finding *finding, enum network_stage stage,
			  const char *error);
