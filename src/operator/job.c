/* A finished job with nothing left to do keeps only its record. */
#include "base/backoff.h"
#include "base/mem.h"
#include "cluster/store.h"
#include "cluster/store_record.h"
#include "io/loop.h"
#include "jobs/record.h"
#include "kube/objects.h"
#include "operator/state.h"
#include "reconcile/finish.h"
#include "reconcile/reconcile.h"
#include "reconcile/waiting_reason.h"

/* A TFJob that cannot be run. */

static char *fault_of(const struct job *job)
{
	struct faults faults CLEANUP(faults_done) = {0};

	if (job->n_roles == 0)
		return mem_copy_text(
			"spec.tfReplicaSpecs: Required value: must have at least one role");
	return objects_check_names(job, &faults) ? NULL : mem_copy_text(faults.list[0].sentence);
}

/* Exists while the status is written and its Events are sent; or while the job is deleted. */
struct refusal {
	struct arena *arena;
	struct job *job;
	struct plan plan;
	bool is_removal; /* it was written, and the job's time to live has passed */
};

static void refusal_free(struct refusal *refusal)
{
	if (!refusal)
		return;
	arena_free(refusal->arena);
	job_free(refusal->job);
	free(refusal);
}

static void on_refused(int64_t version, const struct err *err, void *data)
{
	struct managed_job *job = data;
	struct refusal *refusal = TAKE(job->refusal);
	bool is_removed = refusal->is_removal && (!err || err->code == ERR_NOT_FOUND);
	bool has_failed = err && err->code != ERR_CONFLICT && err->code != ERR_NOT_FOUND;

	(void) version;
	if (!err && refusal->is_removal)
		operator_report_removed(job, refusal->job);
	if (err && err->code == ERR_NOT_FOUND)
		err = NULL;
	for (size_t i = 0; i < refusal->plan.n_notes && !err; i++)
		operator_send_event(refusal->job, &refusal->plan.notes[i], job);
	if (has_failed)
		operator_failed(job, refusal->job, err);
	job->n_refusal_failures = has_failed ? job->n_refusal_failures + 1 : 0;
	refusal_free(refusal);
	/* Changes that arrived meanwhile were ignored; after a conflict the new state is known by
	 * now. */
	if (!is_removed)
		operator_enqueue(job, loop_instant_after(backoff_pause(OPERATOR_FIRST_PAUSE,
								       OPERATOR_LONGEST_PAUSE,
								       job->n_refusal_failures)));
}

static void write_refusal(struct managed_job *job, const struct store_record *record,
			  struct status *status, const char *fault)
{
	struct refusal *refusal = job->refusal;
	struct arena *arena = refusal->arena;

	if (status->n_conditions == 0)
		reconcile_begin(refusal->job, loop_now(), arena, status);
	reconcile_lost(refusal->job, status, OPERATOR_REFUSED, arena_copy_text(arena, fault),
		       loop_now(), arena, &refusal->plan);
	const struct store_change change =
		record_change(job->store, refusal->job, &refusal->plan.status, arena);

	store_begin_change(job->store, refusal->job->name, record->version, &change, on_refused,
			   job);
}

static void delete_or_wait(struct managed_job *job, const struct status *status)
{
	msec expires_at = expiry_of_job(job->refusal->job, status);

	if (loop_now() >= expires_at) {
		job->refusal->is_removal = true;
		store_begin_remove(job->store, managed_job_name(job), job->uid, on_refused, job);
		return;
	}
	refusal_free(TAKE(job->refusal));
	operator_enqueue(job, loop_instant_of(expires_at));
}

static void report_unread_job(struct managed_job *job, const struct err *fault)
{
	if (text_keep(&job->trouble, fault->text))
		operator_report_job_error(job, fault);
}

/* Once it is written, the job's time to live applies. */
static void begin_refusal(struct managed_job *job, const struct store_record *record,
			  const char *fault)
{
	struct refusal *refusal = mem_new(sizeof(*refusal));
	struct status status;
	struct err err = {0};

	refusal->arena = arena_new();
	if (record_read_status(record, refusal->arena, &status, &err) < 0) {
		report_unread_job(job, &err);
		refusal_free(refusal);
		return;
	}
	refusal->job = TAKE(job->job);
	job->refusal = refusal;
	if (status_is_finished(&status))
		delete_or_wait(job, &status);
	else
		write_refusal(job, record, &status, fault);
}

static bool is_finished(const struct managed_job *job)
{
	struct store_record record CLEANUP(store_record_done) = {0};
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct status status;

	return job->store->functions->get(job->store, managed_job_name(job), &record, NULL) == 0 &&
	       record_read_status(&record, arena, &status, NULL) == 0 &&
	       status_is_finished(&status);
}

/* Marks a TFJob that cannot be run as Failed, with the reason: it never waits silently. Returns
 * false if the job is valid, or has finished and is cleaned up as any other. */
static bool refuse(struct managed_job *job)
{
	struct store_record record CLEANUP(store_record_done) = {0};
	char *fault CLEANUP(mem_free_text) = fault_of(job->job);

	if (!fault || is_finished(job))
		return false;
	if (!job->refusal &&
	    job->store->functions->get(job->store, job->job->name, &record, NULL) == 0)
		begin_refusal(job, &record, fault);
	return true;
}

/* The same for a TFJob that cannot be parsed. If no status could be written, it is only reported in
 * the log. */
static void refuse_unread(struct managed_job *job, const struct err *fault)
{
	struct store_record record CLEANUP(store_record_done) = {0};

	if (job->refusal)
		return;
	if (job->store->functions->get(job->store, managed_job_name(job), &record, NULL) < 0 ||
	    record_read_bare_job(&record, &job->job, NULL) < 0)
		report_unread_job(job, fault);
	else if (operator_manages(job->job))
		begin_refusal(job, &record, fault->text);
}

/* Passes. */

static void on_managed_job_news(void *data)
{
	operator_enqueue(data, loop_monotonic_now());
}

static void on_passed(const struct reconciler_outcome *outcome, const struct err *err, void *data)
{
	struct managed_job *job = data;

	job->is_passing = false;
	metrics_add_pass(&job->controller->passes, loop_monotonic_microseconds() - job->pass_start);
	if (outcome->is_finished)
		backend_kube_end_pod_group(job->backend);
	if (outcome->is_removed)
		operator_report_removed(job, job->job);
	job->is_over =
		outcome->is_gone || (outcome->is_finished && outcome->wake_at == MSEC_NEVER &&
				     backend_kube_is_quiet(job->backend));
	queue_done(job->controller->queue, job->key, err != NULL, loop_monotonic_now());
	if (!err) {
		operator_clear_outage(job->controller);
		free(TAKE(job->trouble));
		operator_enqueue(job, job->is_over ? loop_monotonic_now()
						   : loop_instant_of(outcome->wake_at));
	} else {
		operator_failed(job, job->job, err);
	}
	operator_arm(job->controller);
}

static void on_status(const struct job *own, const struct status *status, void *data)
{
	struct managed_job *job = data;
	const char *reason = status->failure ? status->failure->reason : NULL;
	struct text sentence CLEANUP(text_done) = {0};

	(void) own;
	if (job->restarts >= 0 && status->restarts > job->restarts)
		metrics_count_restarts(&job->controller->counts, reason,
				       status->restarts - job->restarts);
	job->restarts = status->restarts;
	const char *waits_for =
		status_is_finished(status) ? NULL : waiting_reason_add_first(status, "", &sentence);

	json_free(TAKE(job->waiting));
	if (waits_for)
		job->waiting =
			json_new_texts("reason", waits_for, "message", text_of(&sentence), NULL);
}

static void on_unread(const struct job *own, const struct err *err, void *data)
{
	struct err told = *err;

	err_prefix(&told, "ignoring an edit that is not allowed; the job continues unchanged");
	operator_failed(data, own, &told);
}

static void on_managed_job_trouble(const struct err *err, void *data)
{
	operator_report_job_error(data, err);
}

void managed_job_end_work(struct managed_job *job)
{
	pod_starter_free(TAKE(job->starter));
	reconciler_free(TAKE(job->reconciler));
	if (job->backend)
		job->backend->functions->free(TAKE(job->backend));
	job_free(TAKE(job->job));
	json_free(TAKE(job->waiting));
	job->is_over = false;
}

static void make_starter(struct managed_job *job)
{
	const struct pod_starter_settings settings = {
		.api = job->controller->api,
		.cache = job->scope->cache,
		.job = job->job,
		.on_trouble = on_managed_job_trouble,
		.data = job,
	};

	if (job->job->pod_server_port)
		job->starter = pod_starter_new(&settings);
}

static void make_parts(struct managed_job *job, const char *document)
{
	struct controller *controller = job->controller;
	const struct backend_kube_settings backend = {
		.api = controller->api,
		.cache = job->scope->cache,
		.job = job->job,
		.is_tfjob = true,
		.manner = controller->settings->manner,
		.gang = controller->settings->gang,
		.on_news = on_managed_job_news,
		.on_trouble = on_managed_job_trouble,
		.events = controller->events,
		.data = job,
	};

	job->backend = backend_kube_new(&backend);
	const struct reconciler_settings reconciler = {
		.store = job->store,
		.backend = job->backend,
		.job_name = job->job->name,
		.job = job->job,
		.document = document,
		.log_name = job->key,
		.listener = {.on_note = operator_send_event,
			     .on_status = on_status,
			     .on_unread = on_unread,
			     .data = job},
		.on_passed = on_passed,
		.data = job,
	};

	job->reconciler = reconciler_new(&reconciler);
	make_starter(job);
}

/* Returns false if there is nothing to do for it. */
static bool begin_work(struct managed_job *job)
{
	struct store_record record CLEANUP(store_record_done) = {0};
	struct err err = {0};

	if (job->reconciler)
		return true;
	bool is_read =
		job->store->functions->get(job->store, managed_job_name(job), &record, &err) == 0 &&
		record_read_job(&record, &job->job, &err) == 0;

	/* It has finished, and neither its Pods nor the clock require anything more: most jobs of a
	 * cluster. */
	bool is_settled = is_read && job->job->clean_policy == CLEAN_NONE &&
			  job->job->ttl_after_finished < 0 && is_finished(job);

	if (!is_read)
		refuse_unread(job, &err);
	if (!is_read || !operator_manages(job->job) || is_settled || refuse(job)) {
		job_free(TAKE(job->job));
		return false;
	}
	make_parts(job, record.document);
	return true;
}

/* A pass ends in on_passed; if there is no work, it has ended on return. */
void managed_job_reconcile(struct managed_job *job)
{
	struct controller *controller = job->controller;
	bool has_work = !job->is_over && !job->is_terminating;
	bool may_act = operator_may_act(controller);

	if (has_work && may_act && job->scope->jobs->reflection.is_synced && begin_work(job) &&
	    backend_kube_is_ready(job->backend)) {
		job->is_passing = true;
		job->pass_start = loop_monotonic_microseconds();
		reconciler_run_pass(job->reconciler, loop_now());
		return;
	}
	if (!has_work)
		managed_job_end_work(job);
	queue_done(controller->queue, job->key, false, loop_monotonic_now());
	/* The Lease is overdue, and may be held again before that is reported. */
	if (has_work && !may_act && controller->told == LEASE_HELD)
		operator_enqueue(job, loop_instant_after(OPERATOR_FIRST_PAUSE));
}

struct managed_job *managed_job_new(struct scope *scope, const struct json *object)
{
	struct controller *controller = scope->controller;
	const struct json *metadata = json_get(object, "metadata");
	const char *name_space = json_get_string(metadata, "namespace", "");
	const char *uid = json_get_string(metadata, "uid", "");
	struct managed_job *job = mem_new(sizeof(*job));

	job->controller = controller;
	job->scope = scope;
	job->restarts = -1;
	job->key = mem_format("%s/%s", name_space, json_get_string(metadata, "name", ""));
	job->name_space = mem_copy_text(name_space);
	job->uid = mem_copy_text(uid);
	job->store = store_kube_of_tfjobs(controller->api, name_space);
	store_kube_keep_to(job->store, uid);
	return job;
}

void managed_job_report_removed(const struct managed_job *job)
{
	if (job->refusal && job->refusal->is_removal)
		operator_report_removed(job, job->refusal->job);
	else if (job->reconciler && reconciler_is_removing(job->reconciler))
		operator_report_removed(job, job->job);
}

void managed_job_free(struct managed_job *job)
{
	managed_job_end_work(job);
	store_cleanup(&job->store);
	refusal_free(job->refusal);
	free(job->trouble);
	free(job->key);
	free(job->name_space);
	free(job->uid);
	free(job);
}
