/* What is asked of the network about one peer, and what came of it. */
#pragma once

#include "base/own.h"

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
	NETWORK_ANSWER, /* who listens there speaks our protocol, and is who we think it is */
	NETWORK_DONE,
};
/* "resolve", "connect", "answer", "done". */
extern const char *const network_stage_words[4];

/* Times in seconds. */
struct network_finding {
	enum network_stage stage; /* which failed; NETWORK_DONE: none */
	double resolve; /* until the name had its addresses */
	double connect; /* until the connection stood */
	double round_trip; /* median of small messages, there and back */
	double bandwidth; /* bytes a second from here to there, roughly; 0: not measured */
	double clock; /* how far the peer's clock is ahead of ours */
	bool is_stranger; /* what answers there speaks another protocol, and will ask nothing */
	char address[INET6_ADDRSTRLEN]; /* what the name stands for; "": not resolved */
	char error[160]; /* "connection refused"; "" where nothing failed */
};

void network_finding_fail(struct network_finding *finding, enum network_stage stage,
			  const char *format, ...) PRINTF_LIKE(3, 4);
/* With the words of an errno: "connection refused", "no route to host", "timed out". */
void network_finding_fail_errno(struct network_finding *finding, enum network_stage stage,
				int errno_value);
