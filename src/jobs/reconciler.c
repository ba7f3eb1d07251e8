/* A pass starts with an observation, and continues when its write, if any, is answered. The
 * reconciler knows nothing that it could not read or observe again. It caches the parsed document
 * and the status that it decided or read, by text and version, so that a pass in which nothing
 * changed is cheap. A new reconciler continues where a lost one was. If statuses are kept small
 * (store/store.h), it knows more than is written: what the replicas show. */
#include "jobs/reconciler.h"

#include "io/log.h"
#include "jobs/failure_lines.h"
#include "jobs/record.h"
#include "reconcile/reconcile.h"

#include <inttypes.h>

/* Pause before the next try after an error of the store or the back end. */
#define RETRY_AFTER MSEC_PER_SECOND

struct stop_request {
	const char *reason; /* NULL: none */
	msec grace;
};

/* The pass in progress, from its observation to its end. */
struct pass {
	struct arena *arena; /* of the plan and its texts */
	struct store_record record; /* that the decision was based on; includes a requested stop */
	bool is_document_changed;
	struct stop_request stop; /* that is in the record */
	struct plan plan; /* may point into the reconciler's job and status */
	struct store_change change; /* the result of the plan, if it was computed; in the arena */
	bool is_removing; /* the job, whose time to live has expired */
	bool is_decided; /* the plan's status is final, written or not */
	int64_t written; /* the version of the record that has it; 0: none */
	msec now;
	struct reconciler_outcome outcome;
};

struct reconciler {
	struct reconciler_settings settings; /* the texts are its own */

	char *document; /* the text that `job` was read from; NULL: none yet */
	struct job *job;
	char *status_uid; /* `status` is of this job, */
	int64_t status_version; /* of this version, */
	char *status_text; /* and was read from this text */
	bool is_ahead; /* that text is not all of it */
	msec clock_step; /* how far its times were moved since, because the clock was set */
	msec written_at; /* MSEC_UNSET: before the first pass */
	msec changed_at; /* when a pass last changed the status */
	struct arena *status_arena;
	struct status status;
	bool has_acted; /* a pass has started its actions */
	struct failure_lines failure_lines;
	bool is_status_untold; /* its write was started, and may have succeeded */

	bool is_passing;
	struct pass pass;
	struct stop_request stop; /* to be written */
};

struct reconciler *reconciler_new(const struct reconciler_settings *settings)
{
	struct reconciler *reconciler = mem_new(sizeof(*reconciler));

	reconciler->settings = *settings;
	reconciler->settings.job_name = mem_copy_text(settings->job_name);
	reconciler->settings.log_name =
		mem_copy_text(settings->log_name ? settings->log_name : settings->job_name);
	reconciler->job = settings->job ? job_ref(settings->job) : NULL;
	reconciler->document = mem_copy_text(settings->document);
	return reconciler;
}

static void drop_cached_job(struct reconciler *reconciler)
{
	mem_free_text(&reconciler->document);
	reconciler->document = NULL;
	job_free(TAKE(reconciler->job));
}

static void drop_cached_status(struct reconciler *reconciler)
{
	mem_free_text(&reconciler->status_uid);
	mem_free_text(&reconciler->status_text);
	reconciler->status_uid = reconciler->status_text = NULL;
	arena_free(TAKE(reconciler->status_arena));
}

static void clear_finished_pass(struct reconciler *reconciler)
{
	arena_free(reconciler->pass.arena);
	store_record_done(&reconciler->pass.record);
	reconciler->pass = (struct pass){0};
	reconciler->is_passing = false;
}

void reconciler_free(struct reconciler *reconciler)
{
	if (!reconciler)
		return;
	store_let_go(reconciler->settings.store, reconciler);
	clear_finished_pass(reconciler);
	drop_cached_job(reconciler);
	drop_cached_status(reconciler);
	failure_lines_done(&reconciler->failure_lines);
	free((char *) reconciler->settings.job_name);
	free((char *) reconciler->settings.log_name);
	free(reconciler);
}

/* Cached state. */

static bool is_of_job(const struct reconciler *reconciler, const struct store_record *record)
{
	return reconciler->job && text_equals(reconciler->job->uid, record->uid);
}

static void cache_job_document(struct reconciler *reconciler, const struct store_record *record)
{
	text_keep(&reconciler->document, record->document);
}

static int read_reconciled_job(struct reconciler *reconciler, const struct store_record *record,
			       struct err *err)
{
	const struct reconciler_listener *listener = &reconciler->settings.listener;
	struct job *job;

	if (is_of_job(reconciler, record) && text_equals(reconciler->document, record->document))
		return 0;
	int rc = record_read_job(record, &job, err);

	if (rc < 0 && is_of_job(reconciler, record) && listener->on_unread) {
		cache_job_document(reconciler, record);
		listener->on_unread(reconciler->job, err, listener->data);
		return 0;
	}
	drop_cached_job(reconciler);
	if (rc < 0)
		return rc;
	reconciler->job = job;
	cache_job_document(reconciler, record);
	return 0;
}

static int read_reconciled_status(struct reconciler *reconciler, const struct store_record *record,
				  struct err *err)
{
	if (text_equals(reconciler->status_uid, record->uid) &&
	    (reconciler->status_version == record->version ||
	     text_equals(reconciler->status_text, record->status))) {
		reconciler->status_version = record->version;
		return 0;
	}
	if (!text_equals(reconciler->status_uid, record->uid))
		reconciler->clock_step = 0;
	drop_cached_status(reconciler);
	reconciler->status_arena = arena_new();
	int rc = record_read_status(record, reconciler->status_arena, &reconciler->status, err);

	if (rc < 0)
		return rc;
	status_move_times(&reconciler->status, reconciler->clock_step);
	reconciler->status_uid = mem_copy_text(record->uid);
	reconciler->status_text = mem_copy_text(record->status);
	reconciler->status_version = record->version;
	return 0;
}

/* What this pass wrote, or did not have to write, need not be read again. */
static void cache_written_status(struct reconciler *reconciler)
{
	struct pass *pass = &reconciler->pass;
	struct arena *arena = arena_new();
	struct status copy = status_copy(&pass->plan.status, arena);
	bool is_text_new = pass->written && pass->change.status;
	const char *text = is_text_new ? pass->change.status : pass->record.status;

	if (is_text_new)
		reconciler->clock_step = 0;
	drop_cached_status(reconciler);
	reconciler->status_arena = arena;
	reconciler->status = copy;
	reconciler->status_uid = mem_copy_text(pass->record.uid);
	reconciler->status_text = mem_copy_text(text);
	reconciler->status_version = pass->written ? pass->written : pass->record.version;
}

/* The end of a pass. */

static void finish_reconcile_pass(struct reconciler *reconciler, const struct err *err)
{
	struct reconciler_outcome outcome = reconciler->pass.outcome;

	if (err)
		log_info("job '%s': trying again soon: %s", reconciler->settings.log_name,
			 err->text);
	if (reconciler->pass.stop.reason && !reconciler->stop.reason)
		reconciler->stop = reconciler->pass.stop; /* it could not be written */
	if (reconciler->pass.is_decided)
		cache_written_status(reconciler);
	clear_finished_pass(reconciler);
	reconciler->settings.on_passed(&outcome, err, reconciler->settings.data);
}

static void on_finished_job_removed(int64_t version, const struct err *err, void *data)
{
	struct reconciler *reconciler = data;
	struct reconciler_outcome *outcome = &reconciler->pass.outcome;

	(void) version;
	if (!err || err->code == ERR_NOT_FOUND) {
		outcome->is_gone = true;
		outcome->is_removed = !err;
		outcome->wake_at = MSEC_NEVER;
		err = NULL;
	}
	finish_reconcile_pass(reconciler, err);
}

bool reconciler_is_removing(const struct reconciler *reconciler)
{
	return reconciler->pass.is_removing;
}

/* Acting and reporting. */

/* Each action is started, also after a rejected one: a stop must not wait for a start. */
static int apply_actions(struct reconciler *reconciler, const struct plan *plan, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < plan->n_actions; i++) {
		const struct action *action = &plan->actions[i];

		log_info("job '%s': %s %s-%d, attempt %d", reconciler->settings.log_name,
			 action_type_words[action->type], action->role, action->index,
			 action->attempt);
		int refused = reconciler->settings.backend->functions->apply(
			reconciler->settings.backend, reconciler->job, action, rc ? NULL : err);

		if (refused < 0 && rc == 0)
			rc = refused;
	}
	return rc;
}

/* The steps after the plan's status is final. */
static void apply_pass_plan(struct reconciler *reconciler)
{
	const struct plan *plan = &reconciler->pass.plan;
	const struct reconciler_listener *listener = &reconciler->settings.listener;
	struct reconciler_outcome *outcome = &reconciler->pass.outcome;
	bool has_written = reconciler->pass.written;
	bool is_new = has_written || plan->is_status_changed;
	struct err err = {0};

	reconciler->pass.is_decided = is_new;
	if ((is_new || reconciler->is_status_untold) && listener->on_status)
		listener->on_status(reconciler->job, is_new ? &plan->status : &reconciler->status,
				    listener->data);
	reconciler->is_status_untold = false;
	reconciler->has_acted = true;
	int rc = apply_actions(reconciler, plan, &err);

	failure_lines_note_actions(&reconciler->failure_lines, reconciler->settings.backend,
				   reconciler->job, plan);
	for (size_t i = 0; listener->on_note && i < plan->n_notes; i++)
		listener->on_note(reconciler->job, &plan->notes[i], listener->data);
	if (rc < 0) {
		finish_reconcile_pass(reconciler, &err);
		return;
	}
	outcome->is_finished = plan->is_job_drained;
	outcome->wake_at = plan->n_actions || is_new ? reconciler->pass.now : plan->wake_at;
	if (!plan->is_job_expired || is_new) {
		finish_reconcile_pass(reconciler, NULL);
		return;
	}
	reconciler->pass.is_removing = true;
	store_begin_remove(reconciler->settings.store, reconciler->pass.record.name,
			   reconciler->pass.record.uid, on_finished_job_removed, reconciler);
}

/* Writing. */

static void on_written(int64_t version, const struct err *err, void *data)
{
	struct reconciler *reconciler = data;

	/* A write that failed may have succeeded in a remote store. */
	reconciler->is_status_untold = err != NULL;
	if (err && reconciler->settings.backend->functions->observe_again)
		reconciler->settings.backend->functions->observe_again(
			reconciler->settings.backend);
	if (err && (err->code == ERR_CONFLICT || err->code == ERR_NOT_FOUND)) {
		log_info("job '%s': deciding again: %s", reconciler->settings.log_name, err->text);
		reconciler->pass.outcome.wake_at =
			reconciler->pass.now; /* it was changed or deleted */
		failure_lines_add_again(&reconciler->failure_lines);
		finish_reconcile_pass(reconciler, NULL);
	} else if (err) {
		finish_reconcile_pass(reconciler, err);
	} else {
		log_debug("job '%s': status written as version %" PRId64,
			  reconciler->settings.log_name, version);
		reconciler->pass.stop.reason = NULL;
		reconciler->pass.written = version;
		reconciler->is_ahead = false;
		reconciler->written_at = reconciler->pass.now;
		apply_pass_plan(reconciler);
	}
}

/* A store that keeps the status small: each write is a call, and many changes need not be stored.
 *
 * A status is written before anything that depends on it: actions, notes, the job's conditions, its
 * end. Other facts wait for the next such write: those that the next decision would observe again
 * (a replica has started to run, or has exited and is still there), and how many run. They wait
 * until nothing has changed for WRITE_QUIET, or for WRITE_PAUSE at most
 * (docs/design/0029-what-a-cluster-keeps-of-a-status.md). */

static bool is_any_condition_new(const struct status *before, const struct status *after)
{
	bool is_new = before->n_conditions != after->n_conditions;

	for (size_t i = 0; i < after->n_conditions; i++) {
		const struct condition *condition = &after->conditions[i];
		const struct condition *old = status_condition(before, condition->type);

		is_new |= !old || old->is_true != condition->is_true ||
			  !text_equals(old->reason, condition->reason);
	}
	return is_new;
}

/* Whether a write of the change may not wait; the plan was made from the status `before`. */
static bool is_write_urgent(const struct pass *pass, const struct status *before)
{
	const struct plan *plan = &pass->plan;

	return pass->change.document || plan->is_job_drained ||
	       (pass->change.status && (plan->n_actions || plan->n_notes || plan->is_failure_new ||
					is_any_condition_new(before, &plan->status)));
}

/* Whether to write the status now. A write that can wait is checked again later. */
static bool has_to_write(struct reconciler *reconciler)
{
	struct pass *pass = &reconciler->pass;
	struct plan *plan = &pass->plan;
	bool is_new = plan->is_status_changed || pass->is_document_changed;

	if (!is_new && !reconciler->is_ahead)
		return false;
	pass->change = record_change(reconciler->settings.store, reconciler->job, &plan->status,
				     pass->arena);
	if (pass->is_document_changed)
		pass->change.document = pass->record.document;
	if (!reconciler->settings.store->is_small)
		return is_new;
	if (text_equals(pass->change.status, pass->record.status))
		pass->change.status = NULL;
	if (text_equals(pass->change.summary, pass->record.summary))
		pass->change.summary = NULL;
	reconciler->is_ahead = pass->change.document || pass->change.status || pass->change.summary;
	if (!reconciler->is_ahead)
		return false;
	msec until = msec_min(reconciler->written_at + WRITE_PAUSE,
			      reconciler->changed_at + WRITE_QUIET);

	if (pass->now >= until || is_write_urgent(pass, &reconciler->status))
		return true;
	plan_wake_at(plan, until);
	return false;
}

static void carry_out(struct reconciler *reconciler)
{
	struct pass *pass = &reconciler->pass;
	struct plan *plan = &pass->plan;

	if (reconciler->written_at == MSEC_UNSET || reconciler->written_at > pass->now)
		reconciler->written_at = pass->now; /* another writer, or the clock was set back */
	if (plan->is_status_changed || reconciler->changed_at > pass->now)
		reconciler->changed_at = pass->now;
	log_debug("job '%s': version %" PRId64 ": %zu actions, %zu notes%s%s",
		  reconciler->settings.log_name, pass->record.version, plan->n_actions,
		  plan->n_notes, plan->is_status_changed ? ", a new status" : "",
		  pass->is_document_changed ? ", asked to stop" : "");
	failure_lines_add(&reconciler->failure_lines, reconciler->settings.backend, reconciler->job,
			  plan, pass->arena);
	if (has_to_write(reconciler))
		store_begin_change(reconciler->settings.store, reconciler->job->name,
				   pass->record.version, &pass->change, on_written, reconciler);
	else
		apply_pass_plan(reconciler);
}

/* Observing. */

static int add_stop(struct reconciler *reconciler, struct err *err)
{
	struct pass *pass = &reconciler->pass;

	if (!reconciler->stop.reason)
		return 0;
	pass->stop = reconciler->stop;
	reconciler->stop.reason = NULL;
	int rc = record_add_stop(&pass->record, pass->stop.reason, pass->stop.grace,
				 &pass->is_document_changed, err);

	if (rc == 0 && !pass->is_document_changed)
		pass->stop.reason = NULL; /* a stop was requested before */
	return rc;
}

static int decide(struct reconciler *reconciler, struct err *err)
{
	struct pass *pass = &reconciler->pass;
	struct observed observed = {0};
	int rc = add_stop(reconciler, err);

	if (rc == 0)
		rc = read_reconciled_job(reconciler, &pass->record, err);
	if (rc == 0)
		rc = read_reconciled_status(reconciler, &pass->record, err);
	if (rc == 0)
		rc = reconciler->settings.backend->functions->observe(
			reconciler->settings.backend, reconciler->job, pass->arena, &observed, err);
	status_move_times(&reconciler->status, observed.clock_step);
	reconciler->clock_step += observed.clock_step;
	observed.is_first_observation = !reconciler->has_acted;
	if (rc == 0)
		reconcile_decide(reconciler->job, &reconciler->status, &observed, pass->now,
				 pass->arena, &pass->plan);
	return rc;
}

void reconciler_run_pass(struct reconciler *reconciler, msec now)
{
	struct pass *pass = &reconciler->pass;
	struct err err = {0};

	if (reconciler->is_passing)
		return;
	reconciler->is_passing = true;
	*pass = (struct pass){
		.arena = arena_new(), .now = now, .outcome.wake_at = now + RETRY_AFTER};
	int rc = reconciler->settings.store->functions->get(
		reconciler->settings.store, reconciler->settings.job_name, &pass->record, &err);

	if (rc == ERR_NOT_FOUND) {
		pass->outcome = (struct reconciler_outcome){.wake_at = MSEC_NEVER, .is_gone = true};
		finish_reconcile_pass(reconciler, NULL);
		return;
	}
	pass->outcome.version = pass->record.version;
	if (rc == 0)
		rc = decide(reconciler, &err);
	if (rc < 0)
		finish_reconcile_pass(reconciler, &err);
	else
		carry_out(reconciler);
}

void reconciler_request_stop(struct reconciler *reconciler, enum stop_reason reason, msec grace)
{
	reconciler->stop =
		(struct stop_request){.reason = stop_reason_words[reason], .grace = grace};
}

/* New jobs. */

int reconciler_create_job(struct store *store, const struct job *job, const char *old_uid,
			  const char *supervisor, const struct observed *observed, msec now,
			  struct err *err)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct plan plan;
	int64_t version;

	reconcile_begin(job, now, arena, &plan.status);
	if (observed) {
		const struct status first = plan.status;

		reconcile_decide(job, &first, observed, now, arena, &plan);
	}
	struct store_record record CLEANUP(store_record_done) =
		record_new(job, &plan.status, store->is_small, supervisor, now);

	return old_uid ? store->functions->replace(store, job->name, old_uid, &record, &version,
						   err)
		       : store->functions->create(store, &record, &version, err);
}
