/* One mirror of the TFJobs, one cache of their Pods and Services, and a queue of the jobs that are
 * to be looked at. A job that has ended, and of which nothing is left to do, keeps its record
 * alone. */
#include "engine/operator.h"

#include "base/mem.h"
#include "base/text.h"
#include "core/queue.h"
#include "core/reconcile.h"
#include "engine/backend_kube.h"
#include "engine/driver.h"
#include "engine/end_signals.h"
#include "engine/exporter.h"
#include "engine/record.h"
#include "engine/store_kube.h"
#include "engine/store_tfjob_record.h"
#include "engine/tfjob_events.h"
#include "io/log.h"
#include "kube/job_cache.h"
#include "kube/lease_keeper.h"
#include "kube/mirror.h"
#include "kube/objects.h"
#include "kube/resources.h"

#include <stdlib.h>
#include <string.h>

#define LOOKS_IN_ONE_TURN 32 /* then others have theirs: answers, signals */
#define FIRST_PAUSE MSEC_PER_SECOND /* after what fails; then twice as long, up to */
#define LONGEST_PAUSE (60 * MSEC_PER_SECOND)
#define MANAGER "kubeflow.org/training-operator"
#define REFUSED "FailedValidation" /* as training-operator names it, and never uses it */

struct controller {
	const struct operator_settings *settings;
	struct loop *loop;
	struct kube_api *api;
	struct job_cache *cache;
	struct kube_mirror *jobs; /* of struct served_job */
	struct queue *queue;
	struct loop_watch *timer;
	struct end_signals signals;
	struct lease_keeper *lease; /* NULL: nobody else acts */
	enum lease_standing told; /* of which was spoken last */
	struct exporter *metrics, *health;
	struct metrics_jobs counts;
	bool is_synced; /* the jobs were listed once */
	bool is_ending;
	char *last_trouble;
};

struct served_job {
	struct controller *controller;
	char *key; /* NAMESPACE/NAME */
	char *name_space; /* its turn is that of its namespace */
	char *uid;
	struct store *store;
	struct job *job; /* as it was when work on it began; NULL: nothing is at work */
	struct backend *backend;
	struct driver *driver;
	bool is_passing; /* its driver is at work, and the queue waits for it */
	bool is_over; /* what is at work may go */
};

/* In a mirror of one namespace objects are known by their names alone. */
static struct served_job *find(const struct controller *controller, const char *key)
{
	bool is_of_all = text_equals(controller->settings->namespace_name, KUBE_ALL_NAMESPACES);

	return kube_mirror_get(controller->jobs, is_of_all ? key : strchr(key, '/') + 1);
}

static void say(struct controller *controller, const char *sentence)
{
	if (text_equals(controller->last_trouble, sentence))
		return;
	free(controller->last_trouble);
	controller->last_trouble = mem_copy_text(sentence);
	controller->settings->say(sentence, controller->settings->data);
}

/* Looking. */

static void arm(struct controller *controller)
{
	loop_timer_arm(controller->timer, queue_wake_at(controller->queue));
}

static void look_at(struct served_job *job, msec due)
{
	if (due != MSEC_NEVER)
		queue_add(job->controller->queue, job->name_space, job->key, due);
	arm(job->controller);
}

static void on_news(void *data)
{
	look_at(data, loop_now());
}

static void on_passed(const struct driver_outcome *outcome, const struct err *err, void *data)
{
	struct served_job *job = data;

	if (err)
		log_info("job '%s': %s", job->key, err->text);
	job->is_passing = false;
	exporter_end_pass(job->controller->metrics);
	job->is_over = outcome->is_gone || (outcome->is_finished && outcome->wake_at == MSEC_NEVER);
	queue_done(job->controller->queue, job->key, err != NULL, loop_now());
	if (!err)
		look_at(job, job->is_over ? loop_now() : outcome->wake_at);
	arm(job->controller);
}

static void count_note(const struct served_job *job, const struct note *note)
{
	static const struct {
		const char *reason;
		enum metrics_job_event event;
	} rows[] = {
		{"TFJobSucceeded", METRICS_JOB_SUCCESSFUL},
		{"TFJobFailed", METRICS_JOB_FAILED},
		{"TFJobRestarting", METRICS_JOB_RESTARTED},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (text_equals(note->reason, rows[i].reason))
			metrics_count_job(&job->controller->counts, job->name_space, rows[i].event);
}

static void on_note(const struct job *own, const struct note *note, void *data)
{
	const struct served_job *job = data;

	count_note(job, note);
	tfjob_event_send(job->controller->api, own, note);
}

static void on_trouble(const char *sentence, void *data)
{
	struct served_job *job = data;
	char *told CLEANUP(mem_free_text) = mem_format("job '%s': %s", job->key, sentence);

	say(job->controller, told);
}

static void end_work(struct served_job *job)
{
	driver_free(TAKE(job->driver));
	if (job->backend)
		job->backend->functions->free(TAKE(job->backend));
	job_free(TAKE(job->job));
	job->is_over = false;
}

static int read_job(struct served_job *job, struct err *err)
{
	struct store_record record CLEANUP(store_record_done) = {0};
	char *name = strchr(job->key, '/') + 1;
	int rc = job->store->functions->get(job->store, name, &record, err);

	return rc < 0 ? rc : record_read_job(&record, &job->job, err);
}

static void make_parts(struct served_job *job)
{
	struct controller *controller = job->controller;
	const struct backend_kube_settings backend = {
		.loop = controller->loop,
		.api = controller->api,
		.cache = controller->cache,
		.job = job->job,
		.is_tfjob = true,
		.cluster_domain = controller->settings->cluster_domain,
		.on_news = on_news,
		.on_trouble = on_trouble,
		.data = job,
	};

	job->backend = backend_kube_new(&backend);
	const struct driver_settings driver = {
		.store = job->store,
		.backend = job->backend,
		.job_name = job->job->name,
		.listener = {.on_note = on_note, .data = job},
		.on_passed = on_passed,
		.data = job,
	};

	job->driver = driver_new(&driver);
}

/* What nothing can be made of is Failed, and says why: it never waits in silence. */

static char *fault_of(const struct job *job)
{
	struct faults faults CLEANUP(faults_done) = {0};

	if (job->n_roles == 0)
		return mem_copy_text("spec.tfReplicaSpecs: Required value: has no role");
	return objects_check_names(job, &faults) ? NULL : mem_copy_text(faults.list[0].sentence);
}

static void on_refused(int64_t version, const struct err *err, void *data)
{
	(void) version;
	if (err && err->code != ERR_CONFLICT) /* then it comes as a change, and is refused again */
		on_trouble(err->text, data);
}

static void write_refusal(struct served_job *job, const struct store_record *record,
			  const char *fault, struct arena *arena)
{
	struct status status;
	struct plan plan;

	if (record_read_status(record, arena, &status, NULL) < 0 || status_is_finished(&status))
		return;
	if (status.n_conditions == 0)
		reconcile_begin(job->job, loop_now(), arena, &status);
	reconcile_lost(job->job, &status, REFUSED, fault, loop_now(), arena, &plan);
	const struct store_change change = record_change(job->store, job->job, &plan.status, arena);

	store_begin_change(job->store, job->job->name, record->version, &change, on_refused, job);
	for (size_t i = 0; i < plan.n_notes; i++)
		on_note(job->job, &plan.notes[i], job);
}

static bool refuse(struct served_job *job)
{
	struct store_record record CLEANUP(store_record_done) = {0};
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	char *fault CLEANUP(mem_free_text) = fault_of(job->job);

	if (fault && job->store->functions->get(job->store, job->job->name, &record, NULL) == 0)
		write_refusal(job, &record, fault, arena);
	return fault;
}

static bool is_ours(const struct job *job)
{
	return !job->managed_by || text_equals(job->managed_by, MANAGER);
}

/* False where there is nothing to be done for it. */
static bool begin_work(struct served_job *job)
{
	struct err err = {0};

	if (job->driver)
		return true;
	if (read_job(job, &err) < 0) {
		on_trouble(err.text, job);
		return false;
	}
	if (!is_ours(job->job) || refuse(job)) {
		job_free(TAKE(job->job));
		return false;
	}
	make_parts(job);
	return true;
}

static bool may_act(const struct controller *controller)
{
	return !controller->lease || lease_keeper_standing(controller->lease) == LEASE_HELD;
}

/* The pass ends in on_passed; where there is none, it has ended. */
static void look(struct served_job *job)
{
	if (!job->is_over && may_act(job->controller) && begin_work(job) &&
	    backend_kube_is_ready(job->backend)) {
		job->is_passing = true;
		exporter_begin_pass(job->controller->metrics);
		driver_look(job->driver, loop_now());
		return;
	}
	if (job->is_over)
		end_work(job);
	queue_done(job->controller->queue, job->key, false, loop_now());
}

static void on_timer(void *data)
{
	struct controller *controller = data;
	const char *key;

	for (int i = 0; i < LOOKS_IN_ONE_TURN; i++) {
		key = queue_take(controller->queue, loop_now());
		if (!key)
			break;
		struct served_job *job = find(controller, key);

		if (job)
			look(job);
		else
			queue_done(controller->queue, key, false, loop_now());
	}
	arm(controller);
}

/* The TFJobs, as the cluster shows them. */

static void release(void *kept, void *data)
{
	struct served_job *job = kept;
	struct controller *controller = data;

	if (!controller->is_ending)
		metrics_count_job(&controller->counts, job->name_space, METRICS_JOB_DELETED);
	if (job->is_passing)
		queue_done(controller->queue, job->key, false, loop_now());
	end_work(job);
	queue_remove(controller->queue, job->key);
	store_cleanup(&job->store);
	free(job->key);
	free(job->name_space);
	free(job->uid);
	free(job);
}

static struct served_job *served_job_new(struct controller *controller, const struct json *object)
{
	const struct json *metadata = json_get(object, "metadata");
	const char *name_space = json_as_string(json_get(metadata, "namespace"), "");
	const char *uid = json_as_string(json_get(metadata, "uid"), "");
	struct served_job *job = mem_new(sizeof(*job));

	job->controller = controller;
	job->key = mem_format("%s/%s", name_space, json_as_string(json_get(metadata, "name"), ""));
	job->name_space = mem_copy_text(name_space);
	job->uid = mem_copy_text(uid);
	job->store = store_kube_of_tfjobs(controller->loop, controller->api, name_space);
	store_kube_keep_to(job->store, uid);
	return job;
}

static void *project(const struct json *object, void *before, void *data)
{
	struct controller *controller = data;
	const char *uid = json_as_string(json_get_path(object, "metadata", "uid", NULL), "");
	struct served_job *job = before;
	struct store_record record CLEANUP(store_record_done) = {0};
	struct err err = {0};

	if (job && !text_equals(job->uid, uid)) {
		release(job, controller);
		job = NULL;
	}
	if (store_kube_tfjobs.read(object, &record, &err) < 0) {
		say(controller, err.text);
		if (job)
			release(job, controller);
		return NULL;
	}
	if (!job)
		job = served_job_new(controller, object);
	if (!before && controller->is_synced)
		metrics_count_job(&controller->counts, job->name_space, METRICS_JOB_CREATED);
	store_kube_saw(job->store, object);
	look_at(job, loop_now());
	return job;
}

static void on_change(const char *name, void *data)
{
	(void) name, (void) data; /* project has seen to it */
}

static void on_synced(void *data)
{
	struct controller *controller = data;

	controller->is_synced = true;
	log_info("%zu TFJobs are known", kube_mirror_count(controller->jobs));
}

static void on_jobs_trouble(const struct err *err, void *data)
{
	say(data, err->text);
}

static void watch_jobs(struct controller *controller)
{
	const struct kube_mirror_settings jobs = {
		.resource = &kube_tfjobs,
		.namespace_name = controller->settings->namespace_name,
		.project = project,
		.release = release,
		.on_change = on_change,
		.on_synced = on_synced,
		.on_trouble = on_jobs_trouble,
		.data = controller,
	};
	const struct job_cache_settings cache = {
		.loop = controller->loop,
		.api = controller->api,
		.namespace_name = controller->settings->namespace_name,
		.is_of_tfjobs = true,
	};

	controller->cache = job_cache_new(&cache);
	controller->jobs = kube_mirror_new(controller->loop, controller->api, &jobs);
}

/* The Lease. */

static bool may_change(const struct kube_request *request, void *data)
{
	return request->resource == &kube_leases || may_act(data);
}

/* Another may have acted since: what is kept of a job's work is of no use any more. */
static void end_all_work(struct controller *controller)
{
	struct served_job *job;
	size_t place = 0;

	while ((job = kube_mirror_next(controller->jobs, &place))) {
		if (job->is_passing)
			queue_done(controller->queue, job->key, false, loop_now());
		job->is_passing = false;
		end_work(job);
	}
}

static void look_at_all(struct controller *controller)
{
	struct served_job *job;
	size_t place = 0;

	while ((job = kube_mirror_next(controller->jobs, &place)))
		look_at(job, loop_now());
}

static void tell_standing(struct controller *controller, enum lease_standing standing)
{
	char *other CLEANUP(mem_free_text) = lease_keeper_supervisor(controller->lease);
	char *sentence CLEANUP(mem_free_text) =
		standing == LEASE_HELD ? mem_copy_text("TFJobs are served from here from now on")
		: standing == LEASE_OVERDUE
			? mem_copy_text("the Lease could not be renewed in time: nothing is done "
					"until it is held again")
			: mem_format("TFJobs are served by %s; this one waits",
				     other ? other : "another operator");

	say(controller, sentence);
}

static void on_lease(void *data)
{
	struct controller *controller = data;
	enum lease_standing standing = lease_keeper_standing(controller->lease);

	if (controller->is_ending) {
		if (lease_keeper_is_done(controller->lease))
			loop_stop(controller->loop);
		return;
	}
	if (standing == controller->told || standing == LEASE_UNSETTLED)
		return;
	controller->told = standing;
	tell_standing(controller, standing);
	if (standing == LEASE_HELD)
		look_at_all(controller);
	else
		end_all_work(controller);
}

static int watch_lease(struct controller *controller, struct err *err)
{
	const struct lease_keeper_settings settings = {
		.loop = controller->loop,
		.api = controller->api,
		.name = controller->settings->lease_name,
		.made_at = MSEC_UNSET,
		.on_change = on_lease,
		.on_trouble = on_jobs_trouble,
		.data = controller,
	};

	if (!settings.name)
		return 0;
	int rc = lease_keeper_new(&settings, &controller->lease, err);

	if (rc == 0)
		kube_api_set_permit(controller->api, may_change, controller);
	return rc;
}

/* The process. */

static void on_signal(int number, void *data)
{
	struct controller *controller = data;

	(void) number;
	if (!controller->lease || controller->is_ending) {
		loop_stop(controller->loop);
		return;
	}
	controller->is_ending = true;
	end_all_work(controller);
	lease_keeper_release(controller->lease);
}

static void write_metrics(const struct metrics_passes *passes, struct text *text, void *data)
{
	const struct controller *controller = data;
	const struct metrics_operator now = {
		.n_jobs = kube_mirror_count(controller->jobs),
		.n_queued = queue_count(controller->queue),
	};

	metrics_write_jobs(&controller->counts, &now, passes, text);
}

static bool is_ready(void *data)
{
	const struct controller *controller = data;

	return controller->is_synced;
}

static int make_exporter(struct controller *controller, const struct listening *listening,
			 struct exporter **ret_exporter, struct err *err)
{
	const struct exporter_settings settings = {
		.listening = listening,
		.write = write_metrics,
		.is_ready = is_ready,
		.data = controller,
	};

	return exporter_new(controller->loop, &settings, ret_exporter, err);
}

static void controller_done(struct controller *controller)
{
	controller->is_ending = true;
	lease_keeper_free(controller->lease);
	exporter_free(controller->metrics);
	exporter_free(controller->health);
	metrics_jobs_done(&controller->counts);
	kube_mirror_free(controller->jobs);
	job_cache_free(controller->cache);
	queue_free(controller->queue);
	loop_watch_free(controller->timer);
	end_signals_done(&controller->signals);
	kube_api_free(controller->api);
	loop_free(controller->loop);
	free(controller->last_trouble);
}

int operator_run(const struct operator_settings *settings, struct err *err)
{
	struct controller controller CLEANUP(controller_done) = {.settings = settings};
	int rc = loop_new(&controller.loop, err);

	if (rc == 0)
		rc = kube_api_connect(controller.loop, settings->log_in, settings->log_in_data,
				      &controller.api, err);
	if (rc == 0)
		rc = make_exporter(&controller, settings->metrics, &controller.metrics, err);
	if (rc == 0)
		rc = make_exporter(&controller, settings->health, &controller.health, err);
	if (rc < 0)
		return rc;
	controller.queue = queue_new(FIRST_PAUSE, LONGEST_PAUSE);
	controller.timer = loop_new_timer(controller.loop, on_timer, &controller);
	end_signals_watch(&controller.signals, controller.loop, on_signal, &controller);
	watch_jobs(&controller);
	rc = watch_lease(&controller, err);
	if (rc < 0)
		return rc;
	loop_run(controller.loop);
	return 0;
}
