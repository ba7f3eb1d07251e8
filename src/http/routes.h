/* What an HTTP server of ours has: a table of methods and paths, and the answers that all of them
 * give alike. */
#pragma once

#include "base/json.h"
#include "base/own.h"
#include "http/server.h"

#include <stdbool.h>

struct http_route {
	const char *method; /* "GET" answers HEAD too */
	const char *path; /* "/jobs"; a "*" in it is one component */
	bool is_open; /* needs no secret */
	bool acts; /* a GET that changes something, or does not end by itself: HEAD is not answered
		    */
	/* Answers the call or holds it. `name` is the component of the "*" as it was sent, never
	 * empty; NULL where there is none. */
	void (*answer)(struct http_call *call, const char *name, void *data);
};

/* Whether a caller knows the secret, of what it gave. Takes as long for any text of a length. */
typedef bool (*http_secret_fn)(const char *given, const void *secret);

struct http_access {
	http_secret_fn is_known; /* NULL: none is asked for */
	const void *secret;
	const char *header; /* carries the secret alone, as the bearer token does; NULL: no other */
};

/* Whether a caller gave it: as "Authorization: Bearer SECRET", or in the other header. */
bool http_access_is_given(const struct http_call *call, const struct http_access *access);
/* Of a secret that is a text. */
bool http_is_same_secret(const char *given, const void *secret);

/* Answers by the first route that fits; 404 names the paths, 405 the methods of one. `routes` end
 * with a NULL method. Callers that do not give the secret are answered 401, but by open routes. */
void http_routes_call(const struct http_route *routes, const struct http_access *access,
		      struct http_call *call, void *data);

/* The text, in which may stand what the caller said, as one line. */
void http_answer_text(struct http_call *call, int status, const char *text);
/* The `answer` of /healthz: "ok". */
void http_answer_health(struct http_call *call, const char *name, void *data);
/* The answer of /readyz: "ok", or 503. */
void http_answer_ready(struct http_call *call, bool is_ready);
void http_answer_json(struct http_call *call, int status, const struct json *object);
