/* The handshake of a WebSocket (RFC 6455, section 4): the request's head and the answer. Pure. */
#pragma once

#include "base/text.h"

#define WEBSOCKET_NONCE_SIZE 16
#define WEBSOCKET_KEY_SIZE 32
#define WEBSOCKET_HEAD_LIMIT ((size_t) 64 * 1024)

/* Created from random bytes for each handshake. */
struct websocket_key {
	char sent[WEBSOCKET_KEY_SIZE]; /* base64 */
	char expected[WEBSOCKET_KEY_SIZE]; /* the server's expected answer */
};

/* The contents of the request; all borrowed. */
struct websocket_head {
	const char *target; /* "/path?query" */
	const char *host; /* "host:port" */
	const char *user_agent;
	const char *const *headers; /* "Name: value", without line breaks; ends with NULL */
	const char *const *protocols; /* sub-protocols, the best one first; ends with NULL */
};

struct websocket_answer {
	int status; /* HTTP status; 101: the connection is now a WebSocket */
	char *protocol; /* the server's choice of sub-protocol; NULL: none */
	size_t body_len; /* with any other status; SIZE_MAX: until the connection ends */
};

struct websocket_key websocket_key_of(const uint8_t nonce[WEBSOCKET_NONCE_SIZE]);
void websocket_add_request(struct text *text, const struct websocket_head *head,
			   const struct websocket_key *key);
/* The length of the answer's head at the beginning of `bytes`; 0 if it is incomplete. */
size_t websocket_head_length(const char *bytes, size_t len);
/* Parses a complete head. Returns ERR_INVALID if it is no HTTP/1.1 answer, or says 101 without
 * being the requested WebSocket. */
int websocket_read_answer(const char *bytes, size_t len, const char *const *protocols,
			  const struct websocket_key *key, struct websocket_answer *ret_answer,
			  struct err *err) MUST_USE;
void websocket_answer_done(struct websocket_answer *answer);
