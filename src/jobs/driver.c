/* One pass after the other for one job: all effects of a decision, in their order.
 *
 * A pass is started by a look, and goes on when its write is answered, if it writes. The driver
 * remembers nothing that it could not read or see again. What it keeps (the parsed document, the
 * status that it decided on or read) is kept by text and version, so that a pass in which nothing
 * changed is cheap; a new driver goes on where the old one was lost. Where statuses are kept small
 * (store/store.h) it knows more than what is written: what the replicas show. */
#include "jobs/driver.h"

#include "base/mem.h"
#include "base/text.h"
#include "io/log.h"
#include "jobs/failure_lines.h"
#include "jobs/record.h"
#include "jobs/write_pace.h"
#include "reconcile/reconcile.h"

#include <inttypes.h>
#include <stdlib.h>

/* How soon to try again when the store or the back end says no. */
#define RETRY_AFTER MSEC_PER_SECOND

struct stop_request {
	const char *reason; /* NULL: none */
	msec grace;
};

/* What is under way between a look and its end. */
struct pass {
	struct arena *arena; /* of the plan and what it points to */
	struct store_record record; /* that it was decided on; a stop that is asked for is in it */
	bool is_document_changed;
	struct stop_request stop; /* that is in the record */
	struct plan plan; /* may point into the driver's job and status */
	struct store_change change; /* that it leads to, where that was asked; in the arena */
	bool is_removing; /* the job, whose time to live is over */
	bool is_decided; /* the plan's status stands, written or not */
	int64_t written; /* the version of the record with it; 0: none */
	msec now;
	struct driver_outcome outcome;
};

struct driver {
	struct store *store;
	struct backend *backend;
	char *job_name, *log_name;
	struct driver_listener listener;
	driver_passed_fn on_passed;
	void *data;

	char *document; /* the text that `job` was read from; NULL: none yet */
	struct job *job;
	char *status_uid; /* of which job, */
	int64_t status_version; /* and of which version, `status` is, */
	char *status_text; /* and what stands there of it */
	bool is_ahead; /* that is not all there is to write */
	msec written_at; /* MSEC_UNSET: before the first pass */
	msec changed_at; /* when a pass last changed the status */
	struct arena *status_arena;
	struct status status;
	bool has_acted; /* a pass came to its actions */
	struct failure_lines failure_lines;
	bool is_status_untold; /* it was to be written, and perhaps it was */

	bool is_passing;
	struct pass pass;
	struct stop_request stop; /* to be written */
};

struct driver *driver_new(const struct driver_settings *settings)
{
	struct driver *driver = mem_new(sizeof(*driver));

	driver->listener = settings->listener;
	driver->on_passed = settings->on_passed;
	driver->data = settings->data;
	driver->store = settings->store;
	driver->backend = settings->backend;
	driver->job_name = mem_copy_text(settings->job_name);
	driver->job = settings->job ? job_ref(settings->job) : NULL;
	driver->document = mem_copy_text(settings->document);
	driver->log_name =
		mem_copy_text(settings->log_name ? settings->log_name : settings->job_name);
	return driver;
}

static void forget_job(struct driver *driver)
{
	mem_free_text(&driver->document);
	driver->document = NULL;
	job_free(TAKE(driver->job));
}

static void forget_status(struct driver *driver)
{
	mem_free_text(&driver->status_uid);
	mem_free_text(&driver->status_text);
	driver->status_uid = driver->status_text = NULL;
	arena_free(TAKE(driver->status_arena));
}

static void forget_pass(struct driver *driver)
{
	arena_free(driver->pass.arena);
	store_record_done(&driver->pass.record);
	driver->pass = (struct pass){0};
	driver->is_passing = false;
}

void driver_free(struct driver *driver)
{
	if (!driver)
		return;
	store_let_go(driver->store, driver);
	forget_pass(driver);
	forget_job(driver);
	forget_status(driver);
	failure_lines_done(&driver->failure_lines);
	free(driver->job_name);
	free(driver->log_name);
	free(driver);
}

/* What is kept. */

static bool is_of_job(const struct driver *driver, const struct store_record *record)
{
	return driver->job && text_equals(driver->job->uid, record->uid);
}

static void keep_document(struct driver *driver, const struct store_record *record)
{
	free(driver->document);
	driver->document = mem_copy_text(record->document);
}

static int read_job(struct driver *driver, const struct store_record *record, struct err *err)
{
	const struct driver_listener *listener = &driver->listener;
	struct job *job;

	if (is_of_job(driver, record) && text_equals(driver->document, record->document))
		return 0;
	int rc = record_read_job(record, &job, err);

	if (rc < 0 && is_of_job(driver, record) && listener->on_unread) {
		keep_document(driver, record);
		listener->on_unread(driver->job, err, listener->data);
		return 0;
	}
	forget_job(driver);
	if (rc < 0)
		return rc;
	driver->job = job;
	keep_document(driver, record);
	return 0;
}

static int read_status(struct driver *driver, const struct store_record *record, struct err *err)
{
	if (text_equals(driver->status_uid, record->uid) &&
	    (driver->status_version == record->version ||
	     text_equals(driver->status_text, record->status))) {
		driver->status_version = record->version;
		return 0;
	}
	forget_status(driver);
	driver->status_arena = arena_new();
	int rc = record_read_status(record, driver->status_arena, &driver->status, err);

	if (rc < 0)
		return rc;
	driver->status_uid = mem_copy_text(record->uid);
	driver->status_text = mem_copy_text(record->status);
	driver->status_version = record->version;
	return 0;
}

/* What we wrote, or did not have to write, need not be read again. */
static void keep_status(struct driver *driver)
{
	struct pass *pass = &driver->pass;
	struct arena *arena = arena_new();
	struct status copy = status_copy(&pass->plan.status, arena);
	bool is_text_new = pass->written && pass->change.status;
	const char *text = is_text_new ? pass->change.status : pass->record.status;

	forget_status(driver);
	driver->status_arena = arena;
	driver->status = copy;
	driver->status_uid = mem_copy_text(pass->record.uid);
	driver->status_text = mem_copy_text(text);
	driver->status_version = pass->written ? pass->written : pass->record.version;
}

static int read_record(struct driver *driver, const struct store_record *record, struct err *err)
{
	int rc = read_job(driver, record, err);

	return rc < 0 ? rc : read_status(driver, record, err);
}

/* The end of a pass. */

static void end_pass(struct driver *driver, const struct err *err)
{
	struct driver_outcome outcome = driver->pass.outcome;

	if (err)
		log_info("job '%s': trying again soon: %s", driver->log_name, err->text);
	if (driver->pass.stop.reason && !driver->stop.reason)
		driver->stop = driver->pass.stop; /* it could not be written */
	if (driver->pass.is_decided)
		keep_status(driver);
	forget_pass(driver);
	driver->on_passed(&outcome, err, driver->data);
}

static void on_removed(int64_t version, const struct err *err, void *data)
{
	struct driver *driver = data;
	struct driver_outcome *outcome = &driver->pass.outcome;

	(void) version;
	if (!err || err->code == ERR_NOT_FOUND) {
		outcome->is_gone = true;
		outcome->is_removed = !err;
		outcome->wake_at = MSEC_NEVER;
		err = NULL;
	}
	end_pass(driver, err);
}

static void remove_expired(struct driver *driver)
{
	const struct store_record *record = &driver->pass.record;

	driver->pass.is_removing = true;
	store_begin_remove(driver->store, record->name, record->uid, on_removed, driver);
}

bool driver_is_removing(const struct driver *driver)
{
	return driver->pass.is_removing;
}

/* Acting and telling. */

static void log_action(const struct driver *driver, const struct action *action)
{
	log_info("job '%s': %s %s-%d, attempt %d", driver->log_name,
		 action_type_words[action->type], action->role, action->index, action->attempt);
}

/* Each action is started, also when one before it was refused: what ends a replica must not wait
 * for what starts another. */
static int apply_actions(struct driver *driver, const struct plan *plan, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < plan->n_actions; i++) {
		log_action(driver, &plan->actions[i]);
		int refused = driver->backend->functions->apply(driver->backend, driver->job,
								&plan->actions[i], rc ? NULL : err);

		if (refused < 0 && rc == 0)
			rc = refused;
	}
	return rc;
}

static void tell_notes(const struct driver *driver, const struct plan *plan)
{
	if (!driver->listener.on_note)
		return;
	for (size_t i = 0; i < plan->n_notes; i++)
		driver->listener.on_note(driver->job, &plan->notes[i], driver->listener.data);
}

static void tell_status(struct driver *driver, const struct status *status)
{
	driver->is_status_untold = false;
	if (driver->listener.on_status)
		driver->listener.on_status(driver->job, status, driver->listener.data);
}

/* What follows when the status stands as the plan has it. */
static void act(struct driver *driver)
{
	const struct plan *plan = &driver->pass.plan;
	struct driver_outcome *outcome = &driver->pass.outcome;
	bool has_written = driver->pass.written;
	bool is_new = has_written || plan->is_status_changed;
	struct err err = {0};

	driver->pass.is_decided = is_new;
	if (is_new || driver->is_status_untold)
		tell_status(driver, is_new ? &plan->status : &driver->status);
	driver->has_acted = true;
	int rc = apply_actions(driver, plan, &err);

	failure_lines_note_actions(&driver->failure_lines, driver->backend, driver->job, plan);
	tell_notes(driver, plan);
	if (rc < 0) {
		end_pass(driver, &err);
		return;
	}
	outcome->is_finished = plan->is_job_drained;
	outcome->wake_at = plan->n_actions || is_new ? driver->pass.now : plan->wake_at;
	if (plan->is_job_expired && !is_new)
		remove_expired(driver);
	else
		end_pass(driver, NULL);
}

/* Writing. */

static void on_written(int64_t version, const struct err *err, void *data)
{
	struct driver *driver = data;

	/* A write that failed may have been done all the same, far away. */
	driver->is_status_untold = err != NULL;
	if (err && (err->code == ERR_CONFLICT || err->code == ERR_NOT_FOUND)) {
		log_info("job '%s': deciding again: %s", driver->log_name, err->text);
		driver->pass.outcome.wake_at = driver->pass.now; /* it was changed or removed */
		failure_lines_add_again(&driver->failure_lines);
		end_pass(driver, NULL);
	} else if (err) {
		end_pass(driver, err);
	} else {
		log_debug("job '%s': status written as version %" PRId64, driver->log_name,
			  version);
		driver->pass.stop.reason = NULL;
		driver->pass.written = version;
		driver->is_ahead = false;
		driver->written_at = driver->pass.now;
		act(driver);
	}
}

/* Whether the status is to be written now. What can wait is looked at again when it no longer can.
 */
static bool has_to_write(struct driver *driver)
{
	struct pass *pass = &driver->pass;
	struct plan *plan = &pass->plan;
	bool is_new = plan->is_status_changed || pass->is_document_changed;

	if (!is_new && !driver->is_ahead)
		return false;
	pass->change = record_change(driver->store, driver->job, &plan->status, pass->arena);
	if (pass->is_document_changed)
		pass->change.document = pass->record.document;
	if (!driver->store->is_small)
		return is_new;
	driver->is_ahead = write_is_needed(&pass->change, &pass->record);
	if (!driver->is_ahead)
		return false;
	msec until = msec_min(driver->written_at + WRITE_PAUSE, driver->changed_at + WRITE_QUIET);

	if (pass->now < until &&
	    !write_is_urgent(plan, &driver->status, &pass->change, &pass->record)) {
		plan_wake_at(plan, until);
		return false;
	}
	write_leave_out(&pass->change, &pass->record);
	return true;
}

static void carry_out(struct driver *driver)
{
	struct pass *pass = &driver->pass;
	struct plan *plan = &pass->plan;

	if (driver->written_at == MSEC_UNSET || driver->written_at > pass->now)
		driver->written_at = pass->now; /* by whom was before, or the clock was set back */
	if (plan->is_status_changed || driver->changed_at > pass->now)
		driver->changed_at = pass->now;
	log_debug("job '%s': version %" PRId64 ": %zu actions, %zu notes%s%s", driver->log_name,
		  pass->record.version, plan->n_actions, plan->n_notes,
		  plan->is_status_changed ? ", a new status" : "",
		  pass->is_document_changed ? ", asked to stop" : "");
	failure_lines_add(&driver->failure_lines, driver->backend, driver->job, plan, pass->arena);
	if (has_to_write(driver))
		store_begin_change(driver->store, driver->job->name, pass->record.version,
				   &pass->change, on_written, driver);
	else
		act(driver);
}

/* Looking. */

static int add_stop(struct driver *driver, struct err *err)
{
	struct pass *pass = &driver->pass;

	if (!driver->stop.reason)
		return 0;
	pass->stop = driver->stop;
	driver->stop.reason = NULL;
	int rc = record_add_stop(&pass->record, pass->stop.reason, pass->stop.grace,
				 &pass->is_document_changed, err);

	if (rc == 0 && !pass->is_document_changed)
		pass->stop.reason = NULL; /* somebody has asked before */
	return rc;
}

static int decide(struct driver *driver, struct err *err)
{
	struct pass *pass = &driver->pass;
	struct observed observed = {0};
	int rc = add_stop(driver, err);

	if (rc == 0)
		rc = read_record(driver, &pass->record, err);
	if (rc == 0)
		rc = driver->backend->functions->observe(driver->backend, driver->job, pass->arena,
							 &observed, err);
	status_move_times(&driver->status, observed.clock_step);
	observed.is_first_look = !driver->has_acted;
	if (rc == 0)
		reconcile_decide(driver->job, &driver->status, &observed, pass->now, pass->arena,
				 &pass->plan);
	return rc;
}

void driver_look(struct driver *driver, msec now)
{
	struct pass *pass = &driver->pass;
	struct err err = {0};

	if (driver->is_passing)
		return;
	driver->is_passing = true;
	*pass = (struct pass){
		.arena = arena_new(), .now = now, .outcome.wake_at = now + RETRY_AFTER};
	int rc =
		driver->store->functions->get(driver->store, driver->job_name, &pass->record, &err);

	if (rc == ERR_NOT_FOUND) {
		pass->outcome = (struct driver_outcome){.wake_at = MSEC_NEVER, .is_gone = true};
		end_pass(driver, NULL);
		return;
	}
	pass->outcome.version = pass->record.version;
	if (rc == 0)
		rc = decide(driver, &err);
	if (rc < 0)
		end_pass(driver, &err);
	else
		carry_out(driver);
}

void driver_ask_to_stop(struct driver *driver, enum stop_reason reason, msec grace)
{
	driver->stop = (struct stop_request){.reason = stop_reason_words[reason], .grace = grace};
}

/* New jobs. */

static struct store_record first_record(const struct job *job, bool is_small,
					const char *supervisor, const struct observed *observed,
					msec now)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct status status;
	struct plan plan;

	reconcile_begin(job, now, arena, &status);
	if (!observed)
		return record_new(job, &status, is_small, supervisor, now);
	reconcile_decide(job, &status, observed, now, arena, &plan);
	return record_new(job, &plan.status, is_small, supervisor, now);
}

int driver_create_job(struct store *store, const struct job *job, const char *supervisor,
		      const struct observed *observed, msec now, struct err *err)
{
	struct store_record record CLEANUP(store_record_done) =
		first_record(job, store->is_small, supervisor, observed, now);
	int64_t version;

	return store->functions->create(store, &record, &version, err);
}

int driver_replace_job(struct store *store, const struct job *job, const char *old_uid,
		       const char *supervisor, const struct observed *observed, msec now,
		       struct err *err)
{
	struct store_record record CLEANUP(store_record_done) =
		first_record(job, store->is_small, supervisor, observed, now);
	int64_t version;

	return store->functions->replace(store, job->name, old_uid, &record, &version, err);
}
