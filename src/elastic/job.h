/* One elastic job at its server: its rendezvous, the held calls of its members, and the record from
 * which a restarted server continues. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/own.h"
#include "http/server.h"
#include "rendezvous/json.h"
#include "rendezvous/world_failure.h"
#include "spec/limits.h"
#include "store/store.h"

#include <sys/queue.h>

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

/* Held calls, the one that is held longest first. */
TAILQ_HEAD(held_calls, waiter);

struct past_world {
	int64_t generation;
	msec formed_at; /* by the wall clock */
	enum world_reason reason;
	int64_t n_members;
	char *failure; /* why it ended, as a sentence; NULL: no failure */
};

/* The common answer to all members of a world that do not know it. */
struct world_answer {
	int64_t generation, failure_number;
	bool has_failure;
	int restarts;
	struct http_body *body; /* NULL: not built */
};

/* What a change of the job changes: the first ones are news to members, a few more are in the
 * record, all of them are in a description. */
enum fact {
	FACT_VERSION, /* of the rendezvous */
	FACT_FAILURE, /* its number */
	FACTS_OF_MEMBERS,
	FACT_RESTARTS = FACTS_OF_MEMBERS,
	FACTS_OF_RECORD,
	FACT_PHASE = FACTS_OF_RECORD,
	FACT_MEMBERS,
	FACT_PROGRESS,
	FACT_COUNT,
};

/* Others only read it. */
struct elastic_job {
	struct elastic_job_settings settings; /* name and uid are its own */
	msec created_at, ended_at; /* by the wall clock; MSEC_UNSET: not ended */
	struct rendezvous *rendezvous;
	size_t n_waiters; /* members that have called this server */
	struct held_calls member_calls, readers;
	enum rendezvous_phase phase; /* reported last */
	struct world_answer world_answer;
	struct past_world history[LIMIT_WORLD_HISTORY]; /* the newest come last */
	size_t n_history;
	struct world_failure failure;
	struct world_losses losses;
	bool has_new_loss; /* since the last step */
	int64_t record_version; /* 0: there is no record */
	char *replaced_uid; /* of the job whose record this one replaces; NULL: none */
	bool has_past; /* restored, or not the first of its name: no members of a job of another
			* uid may have lost the record of theirs */
	int n_failed_writes; /* in a row; the first one was reported */
	instant write_at; /* the next try; INSTANT_NEVER: the last write succeeded */
	int64_t recorded[FACT_COUNT]; /* in the record */
	int64_t described[FACT_COUNT]; /* at this revision, as last answered to all */
	int64_t revision;
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

/* Whether it has ended, and all members know. */
bool elastic_job_is_over(const struct elastic_job *job);

/* Whether the first call of a new job would be accepted; nothing is done with it. The errors are
 * those of elastic_job_accept_call. */
int elastic_job_check_first_call(const struct elastic_job *job,
				 const struct member_request *request, instant now,
				 struct err *err) MUST_USE;
/* Takes a member's call and answers it, now or later. On an error nothing was done with it. */
int elastic_job_accept_call(struct elastic_job *job, struct http_call *call, const char *id,
			    const struct member_request *request, instant now,
			    struct err *err) MUST_USE;

/* A connection of this member ended while it awaited no answer: its agent is asked if it exists. */
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
