/* The routes of our HTTP servers, a table of methods and paths, and their common answers. */
#pragma once

#include "base/json.h"
#include "http/refusal.h"
#include "http/server.h"

struct http_route {
	const char *method; /* "GET" answers HEAD too */
	const char *path; /* "/jobs"; a "*" matches one component */
	bool is_open; /* needs no secret */
	bool acts; /* a GET that changes something: HEAD and browsers are rejected */
	bool is_endless; /* a GET whose answer does not end by itself: HEAD is rejected */
	/* Answers the call or holds it. `name` is the component of the "*" as it was sent, never
	 * empty; NULL: no "*" in the path. */
	void (*answer)(struct http_call *call, const char *name, void *data);
};

/* Whether the caller gave the secret. */
bool http_access_is_given(const struct http_call *call, const struct http_access *access);

/* Answers by the first matching route. 404 lists the paths, 405 the methods of the path. `routes`
 * ends with a NULL method. Browsers get 403 from a route that acts, and callers without the secret
 * 401, except from open routes. */
void http_routes_call(const struct http_route *routes, const struct http_access *access,
		      struct http_call *call, void *data);

/* Answers with the text, which may quote the caller, as one line. */
void http_answer_text(struct http_call *call, int status, const char *text);
/* The `answer` of /healthz: "ok". */
void http_answer_health(struct http_call *call, const char *name, void *data);
/* The answer of /readyz: "ok", or 503. */
void http_answer_ready(struct http_call *call, bool is_ready);
void http_answer_json(struct http_call *call, int status, const struct json *object);
