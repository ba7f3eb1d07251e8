/* The handshake of a WebSocket (RFC 6455, section 4): the request's head, and what the server
 * answers. Pure. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEBSOCKET_NONCE_SIZE 16
#define WEBSOCKET_KEY_SIZE 32
#define WEBSOCKET_HEAD_LIMIT ((size_t) 64 * 1024)

/* Made anew of random bytes for each handshake. */
struct websocket_key {
	char sent[WEBSOCKET_KEY_SIZE]; /* base64 */
	char expected[WEBSOCKET_KEY_SIZE]; /* what a server of WebSockets answers to it */
};

/* What the request says; all borrowed. */
struct websocket_head {
	const char *target; /* "/path?query" */
	const char *host; /* "host:port" */
	const char *user_agent;
	const char *const *headers; /* "Name: value", without line breaks; ends with NULL */
	const char *const *protocols; /* sub-protocols, the best one first; ends with NULL */
};

struct websocket_answer {
	int status; /* of HTTP; 101: the connection is a WebSocket now */
	char *protocol; /* the sub-protocol that the server chose; NULL: none */
	size_t body_len; /* of any other status; SIZE_MAX: until the connection ends */
};

struct websocket_key websocket_key_of(const uint8_t nonce[WEBSOCKET_NONCE_SIZE]);
void websocket_add_request(struct text *text, const struct websocket_head *head,
			   const struct websocket_key *key);
/* How many bytes the head of an answer has that `bytes` begin with; 0 when it is not complete. */
size_t websocket_head_length(const char *bytes, size_t len);
/* Reads a complete head. ERR_INVALID: it is no answer of HTTP/1.1, or says 101 without being a
 * WebSocket that was asked for. */
int websocket_read_answer(const char *bytes, size_t len, const struct websocket_head *head,
			  const struct websocket_key *key, struct websocket_answer *ret_answer,
			  struct err *err) MUST_USE;
void websocket_answer_done(struct websocket_answer *answer);
