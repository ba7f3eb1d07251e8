/* The reconciler of one job: observes, decides, writes the status, acts, reports. One reconcile
 * pass at a time; no loop, no clock.
 *
 * The order of effects is part of the contract: write status → act → report → sleep. After a
 * conflict on the write, nothing is done. A write may take time (store/store.h): nothing waits for
 * it, and the pass continues when it is answered. */
#pragma once

#include "base/err.h"
#include "base/msec.h"
#include "jobs/backend.h"
#include "reconcile/plan.h"
#include "status/status.h"
#include "store/store.h"

/* A store that keeps the status small (struct store) gets what can wait when nothing has changed
 * for this long, */
#define WRITE_QUIET MSEC_PER_SECOND
#define WRITE_PAUSE (5 * MSEC_PER_SECOND) /* or so long after the last write. */

struct reconciler;

/* Gets each note once, after the actions that it reports were started. */
typedef void (*reconciler_note_fn)(const struct job *job, const struct note *note, void *data);
/* Gets the status as decided, after it was written if necessary; borrowed for the call. */
typedef void (*reconciler_status_fn)(const struct job *job, const struct status *status,
				     void *data);

struct reconciler_outcome {
	msec wake_at; /* run a pass then at the latest; `now` when a pass has to follow immediately:
			 after a conflict, and until a pass changes nothing */
	bool is_finished; /* the job has an end state, and no replica is left to stop */
	bool is_gone; /* the job is no longer in the store */
	bool is_removed; /* this pass deleted it, because its time to live has expired */
	int64_t version; /* of the record that the pass read; 0 when it could not be read */
};

/* The end of a pass, called after all its other callbacks. An error (else NULL) is a failure of the
 * store or the back end: nothing is lost, run a pass again at outcome->wake_at. */
typedef void (*reconciler_passed_fn)(const struct reconciler_outcome *outcome,
				     const struct err *err, void *data);

struct reconciler_listener {
	reconciler_note_fn
		on_note; /* may be NULL; a note is lost with the reconciler, never reported twice */
	reconciler_status_fn on_status; /* may be NULL */
	/* The document was changed and can no longer be read: the old one stays in effect. Called
	 * once for each change. NULL: passes fail until it can be read. */
	void (*on_unread)(const struct job *job, const struct err *err, void *data);
	void *data;
};

struct reconciler_settings {
	struct store *store;
	struct backend *backend;
	const char *job_name;
	const struct job *job; /* already read from `document` of the record; NULL: it was not */
	const char *document;
	const char *log_name; /* in the log: "NAMESPACE/NAME"; NULL: job_name */
	struct reconciler_listener listener;
	reconciler_passed_fn on_passed;
	void *data; /* of on_passed */
};

struct reconciler *reconciler_new(const struct reconciler_settings *settings) MUST_USE;
/* Call it before freeing the store. A write in progress may still succeed. */
void reconciler_free(struct reconciler *reconciler);

/* Starts a pass. If one is in progress, another will follow it. If the store answers immediately,
 * the pass has ended when this returns. */
void reconciler_run_pass(struct reconciler *reconciler, msec now);
/* Whether the job's time to live has expired, and its deletion is in progress. */
bool reconciler_is_removing(const struct reconciler *reconciler);
/* From the next pass on the job is asked to stop gracefully, as by record_request_stop; the pass
 * writes the request with its status. */
void reconciler_request_stop(struct reconciler *reconciler, enum stop_reason reason, msec grace);

/* Creates the record of a new job, which has its uid (job_set_uid): document, first status
 * (condition Created, replicas' addresses unknown) and summary. `supervisor` is "" for a job
 * without one. `observed` is the first observation of its back end; the status is then that of the
 * first decision, so that the first pass need not write it. NULL: unknown. It replaces the record
 * of that name with the uid `old_uid`; NULL: there is none, and ERR_EXISTS when the name is taken.
 */
int reconciler_create_job(struct store *store, const struct job *job, const char *old_uid,
			  const char *supervisor, const struct observed *observed, msec now,
			  struct err *err) MUST_USE;
