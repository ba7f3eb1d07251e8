/* Runs libcurl transfers on the loop: a multi handle, its sockets and its timer. Part of the HTTP
 * client; code that makes requests includes http/client.h. */
#pragma once

#include "base/own.h"
#include "io/loop.h"

#include <curl/curl.h>
#include <stdbool.h>

struct http_pool;

/* A transfer has ended and was removed from the pool. May add and remove other transfers. */
typedef void (*http_ended_fn)(CURL *easy, CURLcode code);

struct http_pool *http_pool_new(struct loop *loop, http_ended_fn on_ended) MUST_USE;
/* Closes idle connections while there are more than `most`, including busy ones. Default: up to
 * four for each transfer. */
void http_pool_keep_idle(struct http_pool *pool, long most);
/* From now on an ended transfer stays in the pool: a bare connection that it made
 * (CURLOPT_CONNECT_ONLY) lives as long as the transfer. */
void http_pool_keep_ended(struct http_pool *pool);
/* Remove all transfers first. Closes the connections. NULL is fine. */
void http_pool_free(struct http_pool *pool);

/* Whether libcurl is calling us: then no transfer may be added or removed. */
bool http_pool_is_busy(const struct http_pool *pool);
void http_pool_add(struct http_pool *pool, CURL *easy);
void http_pool_remove(struct http_pool *pool, CURL *easy);
