/* Runs libcurl transfers on the loop: a multi handle, its sockets and its timer. Part of the HTTP
 * client; code that makes requests includes http/client.h. */
#pragma once

#include "base/own.h"
#include "io/loop.h"

#include <curl/curl.h>

struct http_pool;

/* A transfer has ended and was removed from the pool. May add and remove other transfers. */
typedef void (*http_ended_fn)(CURL *easy, CURLcode code);

/* Closes idle connections while there are more than `most_idle`, including busy ones; 0: four for
 * each transfer. With `keeps_ended` an ended transfer stays in the pool: a bare connection that it
 * made (CURLOPT_CONNECT_ONLY) lives as long as the transfer. */
struct http_pool *http_pool_new(struct loop *loop, http_ended_fn on_ended, long most_idle,
				bool keeps_ended) MUST_USE;
/* Remove all transfers first. Closes the connections. NULL is fine. */
void http_pool_free(struct http_pool *pool);

/* Whether libcurl is calling us: then no transfer may be added or removed. */
bool http_pool_is_busy(const struct http_pool *pool);
void http_pool_add(struct http_pool *pool, CURL *easy);
void http_pool_remove(struct http_pool *pool, CURL *easy);
