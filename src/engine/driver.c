/* One pass after the other for one job: all effects of a decision, in their order.
 *
 * The driver remembers nothing that it could not read again. What it keeps (the parsed document,
 * the parsed status) is kept by its text and version, so that a pass in which nothing changed is
 * cheap; a new driver goes on where the old one was lost. */
#include "engine/driver.h"

#include "base/mem.h"
#include "base/text.h"
#include "core/limits.h"
#include "core/reconcile.h"
#include "engine/record.h"

/* How soon to try again when the store or the back end says no. */
#define RETRY_AFTER MSEC_PER_SECOND

struct driver {
	struct store *store;
	struct backend *backend;
	struct driver_listener listener;

	char *document; /* the text that `job` was read from; NULL: none yet */
	struct job *job;
	char *status_uid; /* of which job, */
	int64_t status_version; /* and of which version, `status` is */
	struct arena *status_arena;
	struct status status;
	bool is_status_untold; /* it was to be written, and perhaps it was */
};

struct driver *driver_new(struct store *store, struct backend *backend,
			  const struct driver_listener *listener)
{
	struct driver *driver = mem_new(sizeof(*driver));

	driver->store = store;
	driver->backend = backend;
	if (listener)
		driver->listener = *listener;
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
	driver->status_uid = NULL;
	arena_free(TAKE(driver->status_arena));
}

void driver_free(struct driver *driver)
{
	if (!driver)
		return;
	forget_job(driver);
	forget_status(driver);
	mem_free_any(&driver);
}

static int read_job(struct driver *driver, const struct store_record *record, struct err *err)
{
	if (text_equals(driver->document, record->document) &&
	    text_equals(driver->job->uid, record->uid))
		return 0;
	forget_job(driver);
	int rc = record_read_job(record, &driver->job, err);

	if (rc < 0)
		return rc;
	driver->document = mem_copy_text(record->document);
	return 0;
}

static int read_status(struct driver *driver, const struct store_record *record, struct err *err)
{
	if (driver->status_version == record->version &&
	    text_equals(driver->status_uid, record->uid))
		return 0;
	forget_status(driver);
	driver->status_arena = arena_new();
	int rc = record_read_status(record, driver->status_arena, &driver->status, err);

	if (rc < 0)
		return rc;
	driver->status_uid = mem_copy_text(record->uid);
	driver->status_version = record->version;
	return 0;
}

static int read_record(struct driver *driver, const struct store_record *record, struct err *err)
{
	int rc = read_job(driver, record, err);

	return rc < 0 ? rc : read_status(driver, record, err);
}

/* What the failed attempt said last. Without its log the failure is told all the same. */
static void add_last_lines(struct driver *driver, struct arena *arena, struct failure *failure)
{
	const struct backend_functions *functions = driver->backend->functions;
	const char **lines = NULL;
	size_t count = 0;

	if (functions->last_lines(driver->backend, driver->job, failure->role, failure->index,
				  failure->attempt, LIMIT_LAST_LINES, arena, &lines, &count,
				  NULL) < 0)
		return;
	failure->last_lines = lines;
	failure->n_last_lines = count;
}

static void tell_status(struct driver *driver, const struct status *status)
{
	driver->is_status_untold = false;
	if (driver->listener.on_status)
		driver->listener.on_status(driver->job, status, driver->listener.data);
}

/* A write that failed may have been done all the same, far away. */
static int write_status(struct driver *driver, const struct store_record *record,
			const struct status *status, struct err *err)
{
	int64_t version;
	int rc = record_write_status(driver->store, driver->job, record->version, status, NULL,
				     &version, err);

	driver->is_status_untold = rc < 0;
	if (rc == 0)
		tell_status(driver, status);
	return rc;
}

/* Each action is begun, also when one before it was refused: what ends a replica must not wait for
 * what starts another. */
static int apply_actions(struct driver *driver, const struct plan *plan, struct err *err)
{
	int rc = 0;

	for (size_t i = 0; i < plan->n_actions; i++) {
		int refused = driver->backend->functions->apply(driver->backend, driver->job,
								&plan->actions[i], rc ? NULL : err);

		if (refused < 0 && rc == 0)
			rc = refused;
	}
	return rc;
}

static void tell(const struct driver *driver, const struct plan *plan)
{
	if (!driver->listener.on_note)
		return;
	for (size_t i = 0; i < plan->n_notes; i++)
		driver->listener.on_note(driver->job, &plan->notes[i], driver->listener.data);
}

static int remove_expired(struct driver *driver, const struct store_record *record,
			  struct driver_outcome *outcome, struct err *err)
{
	int rc = driver->store->functions->remove(driver->store, record->name, record->uid, err);

	if (rc < 0 && rc != ERR_NOT_FOUND)
		return rc;
	outcome->is_gone = true;
	outcome->wake_at = MSEC_NEVER;
	return 0;
}

/* Write, act, tell. */
static int carry_out(struct driver *driver, const struct store_record *record, struct plan *plan,
		     struct arena *arena, msec now, struct driver_outcome *outcome, struct err *err)
{
	if (plan->is_failure_new)
		add_last_lines(driver, arena, plan->status.failure);
	int rc = plan->is_status_changed ? write_status(driver, record, &plan->status, err) : 0;

	if (rc == ERR_CONFLICT || rc == ERR_NOT_FOUND) {
		outcome->wake_at = now; /* somebody changed or removed the job: look again */
		return 0;
	}
	if (rc < 0)
		return rc;
	if (driver->is_status_untold)
		tell_status(driver, &driver->status);
	rc = apply_actions(driver, plan, err);
	tell(driver, plan);
	if (rc < 0)
		return rc;
	outcome->is_finished = plan->is_job_drained;
	outcome->wake_at = plan->n_actions || plan->is_status_changed ? now : plan->wake_at;
	return plan->is_job_expired && !plan->is_status_changed
		       ? remove_expired(driver, record, outcome, err)
		       : 0;
}

static int pass_on_record(struct driver *driver, const struct store_record *record, msec now,
			  struct driver_outcome *outcome, struct err *err)
{
	struct arena *arena CLEANUP(arena_cleanup) = NULL;
	struct observed observed = {0};
	struct plan plan;
	int rc = read_record(driver, record, err);

	if (rc < 0)
		return rc;
	arena = arena_new();
	rc = driver->backend->functions->observe(driver->backend, driver->job, arena, &observed,
						 err);
	if (rc < 0)
		return rc;
	reconcile_decide(driver->job, &driver->status, &observed, now, arena, &plan);
	return carry_out(driver, record, &plan, arena, now, outcome, err);
}

int driver_pass(struct driver *driver, const char *job_name, msec now,
		struct driver_outcome *ret_outcome, struct err *err)
{
	struct store_record record CLEANUP(store_record_done) = {0};
	int rc = driver->store->functions->get(driver->store, job_name, &record, err);

	*ret_outcome = (struct driver_outcome){.wake_at = now + RETRY_AFTER};
	if (rc == ERR_NOT_FOUND) {
		*ret_outcome = (struct driver_outcome){.wake_at = MSEC_NEVER, .is_gone = true};
		return 0;
	}
	if (rc < 0)
		return rc;
	ret_outcome->version = record.version;
	return pass_on_record(driver, &record, now, ret_outcome, err);
}

static struct store_record first_record(const struct job *job, const char *supervisor,
					const struct observed *observed, msec now)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct status status;
	struct plan plan;

	reconcile_begin(job, now, arena, &status);
	if (!observed)
		return record_new(job, &status, supervisor, now);
	reconcile_decide(job, &status, observed, now, arena, &plan);
	return record_new(job, &plan.status, supervisor, now);
}

int driver_create_job(struct store *store, const struct job *job, const char *supervisor,
		      const struct observed *observed, msec now, struct err *err)
{
	struct store_record record CLEANUP(store_record_done) =
		first_record(job, supervisor, observed, now);
	int64_t version;

	return store->functions->create(store, &record, &version, err);
}

int driver_replace_job(struct store *store, const struct job *job, const char *old_uid,
		       const char *supervisor, const struct observed *observed, msec now,
		       struct err *err)
{
	struct store_record record CLEANUP(store_record_done) =
		first_record(job, supervisor, observed, now);
	int64_t version;

	return store->functions->replace(store, job->name, old_uid, &record, &version, err);
}
