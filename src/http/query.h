/* Parses the query of a request, "name=value&…" with %XX and '+' (WHATWG's urlencoded). */
#pragma once

#include "base/text.h"

struct http_query;

/* Returns NULL if the query is malformed: a name without '=', an invalid escape, or %00. A query
 * that is NULL or "" has no parameters. */
struct http_query *http_query_new(const char *query) MUST_USE;
void http_query_cleanup(struct http_query **query);

/* Appends "name=value", escaped. */
void http_query_add(struct text *text, const char *name, const char *value);

/* The next parameter in order, including duplicates, after the one at `*place` (NULL to begin).
 * The texts live as long as the query. */
bool http_query_next(const struct http_query *query, const void **place, const char **ret_name,
		     const char **ret_value);
