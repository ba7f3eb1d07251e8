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

/* Sets the failed stage and the error, whose first letter becomes lower case. */
void network_finding_fail(struct network_finding *finding, enum network_stage stage,
			  const char *error);

/* The messages on the wire. The asker sends a frame, then `length` bytes. The answerer reads all of
 * it and sends a frame back, with times of its own clock. Nothing else is ever sent. Each side
 * sends its name, so that an address that leads to another task is noticed. */

#define NETWORK_LENGTH_LIMIT (4 * 1024 * 1024) /* bytes after one frame */

/* Numbers are in network byte order. */
struct network_frame {
	char magic[8];
	char name[64]; /* of the sending task; longer names are cut */
	uint64_t length; /* bytes that follow */
	uint64_t received, sent; /* in an answer: network_wall_clock of the answerer */
};

/* Characters of the name other than printable ASCII become '?'. */
void network_frame_init(struct network_frame *frame, const char *name, uint64_t length);
/* Returns false if another program sent this: a length above the limit, an unprintable name. */
bool network_frame_is_ours(const struct network_frame *frame);
bool network_frame_has_name(const struct network_frame *frame, const char *name);

/* Nanoseconds since 1970. */
uint64_t network_wall_clock(void);

/* Resets a connection: unsent bytes are dropped, the other side notices immediately, and nothing is
 * left on the port (TIME_WAIT). */
void network_break(int fd);
