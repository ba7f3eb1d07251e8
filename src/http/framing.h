/* Where each request of a connection ends, decided on its raw bytes before evhttp sees them. evhttp
 * cuts lines at a NUL, reads the size of a chunk as C reads numbers, and reads a whole body before
 * anyone may reject the request.
 *
 * A head is kept back until it is complete. Instead of one with a NUL, with a line that ends in
 * LF alone or continues the one before it, with a length that is not one decimal number, or with
 * more bytes than allowed, evhttp gets a line that it answers with 400; instead of one with a
 * Transfer-Encoding, a request that http/refusal.h answers with 411. Of a caller who does not give
 * the secret, evhttp gets the head with a length of 0, and the body is dropped as it arrives. So is
 * the rest of a body for which the incomplete requests of all callers leave no room. */
#pragma once

#include "http/refusal.h"

#include <stddef.h>
#include <sys/queue.h>

struct evbuffer;

/* For all connections of a server. */
struct http_framing_rules {
	size_t header_limit, body_limit; /* bytes */
	/* Bytes of all incomplete requests together. Beyond it, the incomplete heads that have been
	 * there for the longest time are dropped: nobody can hold the room for long. */
	size_t kept_limit;
	size_t n_kept;
	TAILQ_HEAD(, http_framing) incomplete; /* those with an incomplete head, the oldest first */
	const struct http_access *access; /* NULL: no secret is required */
};

struct http_framing;

/* `input` is where evhttp reads; bytes that are added to it pass through the framing. */
struct http_framing *http_framing_new(struct http_framing_rules *rules,
				      struct evbuffer *input) MUST_USE;
void http_framing_free(struct http_framing *framing); /* while `input` exists; NULL is fine */
