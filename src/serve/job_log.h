/* The output of a job's Pods as the answer of a request, while it is printed: each line once, with
 * the name of its replica. A slow client slows down the reading: nothing accumulates in memory. */
#pragma once

#include "base/err.h"
#include "http/server.h"
#include "kube/api.h"
#include "spec/job.h"
#include "spec/limits.h"

struct job_log;

/* Parameters of the request, like those of `muster logs`:
 *
 *     follow=true        until the job has finished; else the present output
 *     role=, index=      only of these replicas
 *     tail=N             only the last N lines of the present output of each
 *     since=TIME         lines of this second or later (RFC 3339)
 *     timestamps=true    each line begins with its time */
struct job_log_request {
	char *role; /* NULL: every role */
	int index; /* -1: every one */
	int64_t tail; /* -1: all */
	msec since; /* MSEC_UNSET: all */
	bool follows, has_times;
};

/* `query` is from http_call_query. ERR_INVALID: a sentence for the client. */
int job_log_request_read(const char *query, struct job_log_request *ret_request,
			 struct err *err) MUST_USE;
void job_log_request_done(struct job_log_request *request);

struct job_log_settings {
	struct kube_api *api;
	struct job *take_job; /* of a TFJob object, with its uid */
	struct job_log_request take_request;
	struct http_call *http; /* the held request */
	void (*on_end)(struct job_log *log, void *data); /* it was answered, or its client has
							    disconnected: free the log, and do
							    nothing else */
	void *data;
};

struct job_log *job_log_new(const struct job_log_settings *settings) MUST_USE;
void job_log_free(struct job_log *log);
