/* Transfers of libcurl on the loop: a multi handle, its sockets and its timer. Part of the HTTP
 * client; what makes requests includes http/client.h. */
#pragma once

#include "base/own.h"
#include "io/loop.h"

#include <curl/curl.h>
#include <stdbool.h>

struct http_pool;

/* A transfer that was added has come to its end, and was removed. May add and remove others. */
typedef void (*http_ended_fn)(CURL *easy, CURLcode code);

struct http_pool *http_pool_new(struct loop *loop, http_ended_fn on_ended) MUST_USE;
/* No connection is kept for a next transfer while there are more than `most`, the busy ones
 * counted. Else there are up to four for each transfer. */
void http_pool_keep_idle(struct http_pool *pool, long most);
/* From here on a transfer stays in the pool when it has ended: a bare connection that it made
 * (CURLOPT_CONNECT_ONLY) lives as long as that. */
void http_pool_keep_ended(struct http_pool *pool);
/* All transfers were removed before. Its connections are closed. NULL is fine. */
void http_pool_free(struct http_pool *pool);

/* libcurl is calling us: nothing may be added or removed. */
bool http_pool_is_busy(const struct http_pool *pool);
void http_pool_add(struct http_pool *pool, CURL *easy);
void http_pool_remove(struct http_pool *pool, CURL *easy);
