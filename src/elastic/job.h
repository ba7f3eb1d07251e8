/* One elastic job at its server: its rendezvous, the calls of its members that are kept until there
 * is news for them, and the record from which a server that was started anew goes on. Used by
 * elastic/orchestrator.c alone. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/own.h"
#include "http/server.h"
#include "rendezvous/member_wire.h"
#include "store/store.h"

#include <stdbool.h>

struct elastic_job;

struct elastic_job_settings {
	const char *name, *uid;
	struct member_terms terms;
	msec lease, reconnect_time; /* as in struct rendezvous_settings */
	struct store *store; /* has its record; NULL: nothing is kept */
	/* Its next moment may have changed, or its state. */
	void (*on_change)(struct elastic_job *job, void *data);
	void (*say)(const char *sentence, void *data);
	void *data;
};

/* The texts are copied. Times are of the monotonic clock. The record is made before the first
 * member is answered. */
struct elastic_job *elastic_job_new(const struct elastic_job_settings *settings, msec now) MUST_USE;
/* The name, uid and terms are those of the record. ERR_INVALID: it cannot be read. */
int elastic_job_restore(const struct elastic_job_settings *settings,
			const struct store_record *record, msec now, struct elastic_job **ret_job,
			struct err *err) MUST_USE;
/* The record of another job of that name, which is over, is to become that of a new one. */
void elastic_job_replace(struct elastic_job *job, const struct elastic_job *old);
void elastic_job_forget(struct elastic_job *job); /* its record */
/* Calls that it keeps are answered. NULL is fine. */
void elastic_job_free(struct elastic_job *job);

const char *elastic_job_name(const struct elastic_job *job);
const char *elastic_job_uid(const struct elastic_job *job);
const struct member_terms *elastic_job_terms(const struct elastic_job *job);
/* It has ended, and nobody is left who does not know. */
bool elastic_job_is_over(const struct elastic_job *job);
/* It has no members, and none has called since they were lost or the server began. */
bool elastic_job_is_deserted(const struct elastic_job *job);
bool elastic_job_has_callers(
	const struct elastic_job *job); /* members that this server has heard */

/* Takes a member's call and answers it, now or later. An error: nothing was done with it. */
int elastic_job_accept_call(struct elastic_job *job, struct http_call *call, const char *id,
			    const struct member_request *request, msec now,
			    struct err *err) MUST_USE;

/* A connection of this member has ended on which it did not wait for an answer. */
void elastic_job_handle_disconnect(struct elastic_job *job, const char *id, msec now);

/* The members of these machines are asked to leave: each machine is the host, the rank or the id of
 * a member. The answer has descriptions of the members, and the revision. ERR_NOT_FOUND: a machine
 * is missing, and none is asked, or the job has ended. */
int elastic_job_drain(struct elastic_job *job, const struct json *machines, msec now,
		      struct json *answer, struct err *err) MUST_USE;

/* It is elastic_job_wake_at. */
void elastic_job_handle_timer(struct elastic_job *job, msec now);
msec elastic_job_wake_at(const struct elastic_job *job);

/* A call that reads what elastic_job_describe gives, `is_whole`. It is answered when that has
 * another revision than this one, and after MEMBER_HOLD in any case. */
void elastic_job_read(struct elastic_job *job, struct http_call *call, int64_t known_revision,
		      msec now);

/* All that is known of it; caller frees. `is_whole`: with members and history. */
struct json *elastic_job_describe(const struct elastic_job *job, bool is_whole) MUST_USE;
