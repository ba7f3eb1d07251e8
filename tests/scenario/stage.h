/* A stage for the reconciler: the real one, on the fake back end and the store in memory, in
 * virtual time. Transcripts, crash tests and the simulation play on it.
 *
 * Between the reconciler and both ends stand thin functions that see every effect. They write the
 * transcript, can lose the reconciler after any effect, and check what must hold at every moment
 * (`broken` then says what did not). */
#pragma once

#include "base/json.h"
#include "base/msec.h"
#include "base/text.h"
#include "fake/backend_fake.h"
#include "fake/store_memory.h"
#include "jobs/backend.h"
#include "jobs/reconciler.h"
#include "spec/job.h"
#include "status/status.h"
#include "store/store.h"

#include <stdbool.h>

#define STAGE_JOB "j" /* name of the job on the stage */
#define STAGE_BEGIN ((msec) 1767225600000) /* virtual time begins here: 2026-01-01 */

/* An attempt, and the size of the job that it was told of. */
struct stage_start {
	char role[16];
	int index;
	int attempt;
	int size;
};

struct stage {
	struct backend
		seen_backend; /* what the reconciler is given: first, so that it can be found */
	struct store seen_store;
	struct store *store;
	struct backend *backend;
	struct reconciler *reconciler;
	msec now;
	msec wake_at;
	bool is_gone; /* the job was removed from the store */
	bool is_finished; /* as the reconciler said last */

	struct text transcript;
	bool is_silent; /* no transcript is kept */
	long n_effects; /* so far: status writes, actions, notes */
	long crash_after; /* lose the reconciler after this effect; 0: never */
	bool crashes_always; /* lose it after every effect */
	bool is_lost; /* nothing reaches the world until there is a new reconciler */
	int n_conflicts; /* this many next writes meet a change by somebody else */
	int n_full; /* and this many a full disk */
	int n_trouble; /* errors that the reconciler reported */
	msec write_takes; /* so long the store is on its way with each change; 0: it is near */
	struct stage_write *write; /* that is on its way; NULL: none is */

	struct stage_start *starts; /* every one so far */
	size_t n_starts, capacity_of_starts;
	struct arena *arena; /* of `status` */
	struct status status; /* as written last */
	struct text broken; /* the first thing that did not hold; empty: all did */
};

struct stage *stage_new(const struct backend_fake_settings *settings);
/* The store is as a cluster from here on (store/store.h: is_small). */
void stage_keep_statuses_small(struct stage *stage);
void stage_free(struct stage *stage);
void stage_cleanup(struct stage **stage);

/* The job of this document comes onto the stage. The text of the first fault, or NULL. */
char *stage_create_job(struct stage *stage, const struct json *document);
/* The document as it is now; the caller frees it and may hand a changed one back. */
struct json *stage_document(struct stage *stage);
void stage_change_document(struct stage *stage, const struct json *document);

void stage_suspend(struct stage *stage, bool is_suspended);
/* A suspended job starts again; one that was stopped or has failed goes on, as by `muster resume`.
 */
void stage_resume(struct stage *stage);
void stage_scale(struct stage *stage, const char *role_title, int replicas);
void stage_stop(struct stage *stage, const char *reason);

/* What a client would show: a status that is kept small, with the replicas as they are now. */
void stage_see_replicas(struct stage *stage, struct arena *arena, struct status *status);

/* Passes until one changes nothing, or waits for its write. */
void stage_settle(struct stage *stage);
/* The next moment at which something happens by itself; MSEC_NEVER. */
msec stage_next(const struct stage *stage);
/* Time goes on to `until`, with passes whenever something happens. */
void stage_advance(struct stage *stage, msec until);
/* A new reconciler takes the place of the one there is. */
void stage_replace_driver(struct stage *stage);
