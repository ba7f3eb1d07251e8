/* The reconciler: observes, decides, writes the status, acts, tells. One pass at a time, for one
 * job; no loop, no clock.
 *
 * Order of effects, part of the contract: write status → act → tell → sleep. A conflict on the
 * write acts on nothing. A write may take its time (store/store.h): nothing waits for it, and the
 * pass goes on when it is answered. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "base/own.h"
#include "jobs/backend.h"
#include "reconcile/plan.h"
#include "store/store.h"

#include <stdbool.h>
#include <stdint.h>

struct reconciler;

/* Gets each note once, after the actions it tells of were started. */
typedef void (*reconciler_note_fn)(const struct job *job, const struct note *note, void *data);
/* The status as it was just decided, and written where that has to be; borrowed for the call. */
typedef void (*reconciler_status_fn)(const struct job *job, const struct status *status,
				     void *data);

struct reconciler_outcome {
	msec wake_at; /* pass again then at the latest; `now` when the pass has to be repeated at
			 once: after a conflict, and until a pass changes nothing */
	bool is_finished; /* the job has an end state, and no replica is left to end */
	bool is_gone; /* the job is no longer in the store */
	bool is_removed; /* this pass removed it, because its time to live was over */
	int64_t version; /* of the record as the pass found it; 0 when it could not be read */
};

/* How a pass ended, after all else that is told of it. An error (else NULL) means that something
 * outside failed, the store or the back end: nothing is lost, pass again at outcome->wake_at. */
typedef void (*reconciler_passed_fn)(const struct reconciler_outcome *outcome,
				     const struct err *err, void *data);

struct reconciler_listener {
	reconciler_note_fn
		on_note; /* may be NULL; a note is lost with the reconciler, never told twice */
	reconciler_status_fn on_status; /* may be NULL */
	/* The document was changed into one that cannot be read: the job goes on as it was. Told
	 * once for each. NULL: passes fail until it can be read. */
	void (*on_unread)(const struct job *job, const struct err *err, void *data);
	void *data;
};

struct reconciler_settings {
	struct store *store;
	struct backend *backend;
	const char *job_name;
	const struct job *job; /* as it was read from `document` of the record, so that it need not
				  be read again; NULL: it was not */
	const char *document;
	const char *log_name; /* in lines of the log: "NAMESPACE/NAME"; NULL: its name */
	struct reconciler_listener listener;
	reconciler_passed_fn on_passed;
	void *data; /* of on_passed */
};

struct reconciler *reconciler_new(const struct reconciler_settings *settings) MUST_USE;
/* Before its store. A write that is under way may be done all the same. */
void reconciler_free(struct reconciler *reconciler);

/* Begins a pass, unless one is under way, which sees to it that another follows. It has ended
 * before this returns where the store is near. */
void reconciler_run_pass(struct reconciler *reconciler, msec now);
/* The job's time to live is over, and its removal is under way. */
bool reconciler_is_removing(const struct reconciler *reconciler);
/* From the next pass on the job is asked to end in order, as by record_request_stop; what is
 * written then has the request in it. */
void reconciler_request_stop(struct reconciler *reconciler, enum stop_reason reason, msec grace);

/* The record of a new job, which has its uid (job_set_uid): document, first status (condition
 * Created, replicas' addresses unknown) and summary. `supervisor` is "" when nobody looks after it.
 * `observed` is what its back end would observe at first: the status is that of the first decision
 * then, so that the first pass need not write it. NULL: it is not known. ERR_EXISTS when the name
 * is taken. */
int reconciler_create_job(struct store *store, const struct job *job, const char *supervisor,
			  const struct observed *observed, msec now, struct err *err) MUST_USE;
/* The same in place of the record of that name whose uid is `old_uid`. */
int reconciler_replace_job(struct store *store, const struct job *job, const char *old_uid,
			   const char *supervisor, const struct observed *observed, msec now,
			   struct err *err) MUST_USE;
