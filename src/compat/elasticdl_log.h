/* Prints the output of a job as a master sends it (serve/job_log.h), each line once. A stream that
 * breaks, or whose master was killed, is requested again until its end. */
#pragma once

#include "base/own.h"
#include "http/client.h"
#include "io/loop.h"

#include <stdbool.h>

struct elasticdl_log;

struct elasticdl_log_settings {
	struct loop *loop;
	struct http_client *client;
	const char *url; /* of the job at its master; copied */
	/* These two must live as long as the log. */
	const char *authorization; /* header; NULL: none */
	struct http_trust *trust; /* NULL: the system's */
	void (*on_over)(void *data); /* no more output will come */
	void *data;
};

struct elasticdl_log *elasticdl_log_new(const struct elasticdl_log_settings *settings) MUST_USE;
void elasticdl_log_free(struct elasticdl_log *log); /* free it before the client; NULL is fine */
bool elasticdl_log_is_over(const struct elasticdl_log *log);

/* Prints the first line of an answer, in the master's own words, after its URL. */
void elasticdl_say_answer(const char *url, const struct http_answer *answer);
