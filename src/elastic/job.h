/* One elastic job at its server: its rendezvous, the held calls of its members, and the record from
 * which a restarted server continues. Used only by elastic/orchestrator.c. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/own.h"
#include "http/server.h"
#include "rendezvous/json.h"
#include "store/store.h"

#include <stdbool.h>

struct elastic_job;

struct elastic_job_settings {
	const char *name, *uid;
	struct member_terms terms;
	struct loop *loop;
	msec lease; /* as in struct rendezvous_settings */
	struct store *store; /* for its record; NULL: nothing is stored */
	/* Its next due time or its state may have changed. */
	void (*on_change)(struct elastic_job *job, void *data);
	void (*say)(const char *sentence, void *data);
	void *data;
};

/* The texts are copied. The record is written before the first
 * member is answered. */
struct elastic_job *elastic_job_new(const struct elastic_job_settings *settings,
				    instant now) MUST_USE;
/* Name, uid and terms come from the record. Returns ERR_INVALID if it is malformed. */
int elastic_job_restore(const struct elastic_job_settings *settings,
			const struct store_record *record, instant now,
			struct elastic_job **ret_job, struct err *err) MUST_USE;
/* Lets the record of a finished job of that name become that of the new one. */
void elastic_job_replace(struct elastic_job *job, const struct elastic_job *old);
void elastic_job_forget(struct elastic_job *job); /* deletes its record */
/* Held calls are answered. NULL is fine. */
void elastic_job_free(struct elastic_job *job);

const struct elastic_job_settings *elastic_job_settings(const struct elastic_job *job);
/* Whether it has ended, and all members know. */
bool elastic_job_is_over(const struct elastic_job *job);
size_t elastic_job_count_members(const struct elastic_job *job);
bool elastic_job_has_member(const struct elastic_job *job, const char *id);
/* Whether members have called this server. */
bool elastic_job_has_callers(const struct elastic_job *job);
/* Whether members of a job of another uid may have lost the record of theirs: this server has begun
 * the job, and knew no earlier one of its name. */
bool elastic_job_may_lack_record(const struct elastic_job *job);

/* Whether the first call of a new job would be accepted; nothing is done with it. The errors are
 * those of elastic_job_accept_call. */
int elastic_job_check_first_call(const struct elastic_job *job,
				 const struct member_request *request, instant now,
				 struct err *err) MUST_USE;
/* Takes a member's call and answers it, now or later. On an error nothing was done with it. */
int elastic_job_accept_call(struct elastic_job *job, struct http_call *call, const char *id,
			    const struct member_request *request, instant now,
			    struct err *err) MUST_USE;

/* A connection of this member ended while it did not wait for an answer. Its agent is asked whether
 * it still exists. */
void elastic_job_handle_disconnect(struct elastic_job *job, const char *id);

/* Asks the members of these machines to leave; a machine is the host, the rank or the id of a
 * member. The answer has descriptions of the members, and the revision. Returns ERR_NOT_FOUND if
 * the job has ended, or a machine is missing; then no member is asked. */
int elastic_job_drain(struct elastic_job *job, const struct json *machines, instant now,
		      struct json *answer, struct err *err) MUST_USE;

/* elastic_job_wake_at has come. */
void elastic_job_handle_timer(struct elastic_job *job, instant now);
instant elastic_job_wake_at(const struct elastic_job *job);

/* Answers a call with elastic_job_describe, `is_whole`, as soon as its revision differs from this
 * one, and after MEMBER_HOLD in any case. */
void elastic_job_read(struct elastic_job *job, struct http_call *call, int64_t known_revision,
		      instant now);

/* All that is known of the job; caller frees. `is_whole`: with members and history. */
struct json *elastic_job_describe(const struct elastic_job *job, bool is_whole) MUST_USE;
