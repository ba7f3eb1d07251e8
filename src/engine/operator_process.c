/* For all namespaces, or for each that is served, one mirror of the TFJobs and one cache of their
 * Pods and Services; and a queue of the jobs that are to be looked at. A job that has ended, and of
 * which nothing is left to do, keeps its record alone. */
#include "engine/operator.h"

#include "base/mem.h"
#include "base/text.h"
#include "core/expiry.h"
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
#include "kube/tfjob_definition.h"

#include <stdlib.h>
#include <string.h>

#define LOOKS_IN_ONE_TURN 32 /* then others have theirs: answers, signals */
#define FIRST_PAUSE MSEC_PER_SECOND /* after what fails; then twice as long, up to */
#define LONGEST_PAUSE (60 * MSEC_PER_SECOND)
#define MANAGER "kubeflow.org/training-operator"
#define REFUSED "FailedValidation" /* as training-operator names it, and never uses it */

/* What is watched as one: a namespace, or all of them. */
struct scope {
	struct controller *controller;
	const char *namespace_name; /* KUBE_ALL_NAMESPACES: all */
	struct job_cache *cache;
	struct kube_mirror *jobs; /* of struct served_job */
	bool is_synced; /* the jobs were listed once */
};

struct controller {
	const struct operator_settings *settings;
	struct loop *loop;
	struct kube_api *api;
	struct scope *scopes;
	size_t n_scopes;
	struct queue *queue;
	struct loop_watch *timer;
	struct end_signals signals;
	struct tfjob_events *events;
	struct lease_keeper *lease; /* NULL: nobody else acts */
	enum lease_standing told; /* of which was spoken last */
	struct exporter *metrics, *health;
	struct metrics_jobs counts;
	struct metrics_passes passes;
	int64_t n_errors; /* passes that failed */
	bool is_away; /* the server was not reached, which was told, and no pass has ended well
			 since */
	bool is_ending;
	struct err fault; /* what it ends with; code 0: it was asked to */
	char *last_trouble;
	struct err err; /* with which it cannot begin */
};

struct served_job {
	struct controller *controller;
	struct scope *scope;
	char *key; /* NAMESPACE/NAME */
	char *name_space; /* its turn is that of its namespace */
	char *uid;
	struct store *store;
	struct job *job; /* as it was when work on it began; NULL: nothing is at work */
	struct backend *backend;
	struct driver *driver;
	struct refusal *refusal; /* that is being written; NULL: none is */
	char *trouble; /* that was told of it last; NULL: none was */
	int restarts; /* of its status, as far as they were counted; -1: none was seen */
	int64_t pass_start; /* in microseconds */
	bool is_passing; /* its driver is at work, and the queue waits for it */
	bool is_end_counted;
	bool is_over; /* what is at work may go */
	bool is_going; /* somebody deletes it: what is its own goes with it, and nothing is made */
};

static bool is_in(const struct scope *scope, const char *key)
{
	size_t len = strlen(scope->namespace_name);

	return len == 0 || (strncmp(key, scope->namespace_name, len) == 0 && key[len] == '/');
}

/* In a mirror of one namespace objects are known by their names alone. */
static struct served_job *find(const struct controller *controller, const char *key)
{
	for (size_t i = 0; i < controller->n_scopes; i++) {
		const struct scope *scope = &controller->scopes[i];

		if (is_in(scope, key))
			return kube_mirror_get(scope->jobs,
					       *scope->namespace_name ? strchr(key, '/') + 1 : key);
	}
	return NULL;
}

struct walk {
	size_t scope, place;
};

/* Begin with zeros; NULL behind the last one. */
static struct served_job *next_job(const struct controller *controller, struct walk *walk)
{
	for (; walk->scope < controller->n_scopes; walk->scope++, walk->place = 0) {
		struct served_job *job =
			kube_mirror_next(controller->scopes[walk->scope].jobs, &walk->place);

		if (job)
			return job;
	}
	return NULL;
}

static size_t count_jobs(const struct controller *controller)
{
	size_t count = 0;

	for (size_t i = 0; i < controller->n_scopes; i++)
		count += kube_mirror_count(controller->scopes[i].jobs);
	return count;
}

static void say(struct controller *controller, const char *sentence)
{
	if (text_keep(&controller->last_trouble, sentence))
		controller->settings->say(sentence, controller->settings->data);
}

/* A server that is not reached is told of once, whatever was asked of it for whom. */
static bool is_worth_telling(struct controller *controller, const struct err *err)
{
	bool was_away = controller->is_away;

	controller->is_away |= err->code == ERR_UNREACHABLE;
	return !was_away || err->code != ERR_UNREACHABLE;
}

static void see_server(struct controller *controller)
{
	if (controller->is_away)
		say(controller, "the API server responds again");
	controller->is_away = false;
}

static void say_trouble(struct controller *controller, const struct err *err)
{
	if (is_worth_telling(controller, err))
		say(controller, err->text);
	else
		log_info("%s", err->text);
}

static void say_trouble_of_job(const struct served_job *job, const struct err *err)
{
	char *sentence CLEANUP(mem_free_text) = mem_format("job '%s': %s", job->key, err->text);
	const struct operator_settings *settings = job->controller->settings;

	if (is_worth_telling(job->controller, err))
		settings->say(sentence, settings->data);
	else
		log_info("%s", sentence);
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

static void end(struct controller *controller);

/* Nothing that is done would be right. */
static void end_for(struct controller *controller, const struct err *fault)
{
	if (controller->fault.code)
		return;
	controller->fault = *fault;
	controller->fault.code = ERR_INVALID; /* of what people set up */
	end(controller);
}

/* Told once, and on the job itself, where its owner looks. The definition of TFJobs that the
 * cluster has may be another one. */
static void on_failed(struct served_job *job, const struct job *own, const struct err *err)
{
	const struct note note = {
		.level = NOTE_WARNING, .reason = "ReconcileError", .sentence = err->text};

	job->controller->n_errors++;
	if (err->code == ERR_UNSUPPORTED) {
		end_for(job->controller, err);
		return;
	}
	if (!text_keep(&job->trouble, err->text))
		return;
	say_trouble_of_job(job, err);
	if (err->code != ERR_UNREACHABLE)
		tfjob_events_send(job->controller->events, own, &note);
}

static void tell_removed(const struct served_job *job, const struct job *own)
{
	char *sentence CLEANUP(mem_free_text) = mem_format("Deleted job: %s", own->name);
	const struct note note = {.reason = "SuccessfulDeleteJob", .sentence = sentence};

	tfjob_events_send(job->controller->events, own, &note);
}

static void on_passed(const struct driver_outcome *outcome, const struct err *err, void *data)
{
	struct served_job *job = data;

	job->is_passing = false;
	metrics_add_pass(&job->controller->passes, loop_monotonic_microseconds() - job->pass_start);
	if (outcome->is_finished)
		backend_kube_end_pod_group(job->backend);
	if (outcome->is_removed)
		tell_removed(job, job->job);
	job->is_over =
		outcome->is_gone || (outcome->is_finished && outcome->wake_at == MSEC_NEVER &&
				     backend_kube_is_quiet(job->backend));
	queue_done(job->controller->queue, job->key, err != NULL, loop_now());
	if (!err) {
		see_server(job->controller);
		look_at(job, job->is_over ? loop_now() : outcome->wake_at);
	} else {
		on_failed(job, job->job, err);
	}
	arm(job->controller);
}

/* An end has two notes under the policy ExitCode. */
static void count_note(struct served_job *job, const struct note *note)
{
	static const struct {
		const char *reason;
		enum metrics_job_event event;
	} rows[] = {
		{"TFJobSucceeded", METRICS_JOB_SUCCESSFUL},
		{"TFJobFailed", METRICS_JOB_FAILED},
		{"TFJob" REFUSED, METRICS_JOB_FAILED},
		{"TFJobRestarting", METRICS_JOB_RESTARTED},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		bool is_end = rows[i].event != METRICS_JOB_RESTARTED;

		if (!text_equals(note->reason, rows[i].reason) || (is_end && job->is_end_counted))
			continue;
		job->is_end_counted |= is_end;
		metrics_count_job(&job->controller->counts, job->name_space, rows[i].event);
	}
}

static void on_note(const struct job *own, const struct note *note, void *data)
{
	struct served_job *job = data;

	count_note(job, note);
	if (!text_equals(note->reason, "ReplicaWaits")) /* its Pods' own Events say so */
		tfjob_events_send(job->controller->events, own, note);
}

static void on_status(const struct job *own, const struct status *status, void *data)
{
	struct served_job *job = data;
	const char *reason = status->failure ? status->failure->reason : NULL;

	(void) own;
	if (job->restarts >= 0 && status->restarts > job->restarts)
		metrics_count_restarts(&job->controller->counts, reason,
				       status->restarts - job->restarts);
	job->restarts = status->restarts;
}

static void on_trouble(const struct err *err, void *data)
{
	say_trouble_of_job(data, err);
}

static void end_work(struct served_job *job)
{
	driver_free(TAKE(job->driver));
	if (job->backend)
		job->backend->functions->free(TAKE(job->backend));
	job_free(TAKE(job->job));
	job->is_over = false;
}

static const char *name_of(const struct served_job *job)
{
	return strchr(job->key, '/') + 1;
}

static int read_job(struct served_job *job, struct err *err)
{
	struct store_record record CLEANUP(store_record_done) = {0};
	int rc = job->store->functions->get(job->store, name_of(job), &record, err);

	return rc < 0 ? rc : record_read_job(&record, &job->job, err);
}

static void make_parts(struct served_job *job)
{
	struct controller *controller = job->controller;
	const struct backend_kube_settings backend = {
		.loop = controller->loop,
		.api = controller->api,
		.cache = job->scope->cache,
		.job = job->job,
		.is_tfjob = true,
		.manner = controller->settings->manner,
		.gang = controller->settings->gang,
		.on_news = on_news,
		.on_trouble = on_trouble,
		.events = controller->events,
		.data = job,
	};

	job->backend = backend_kube_new(&backend);
	const struct driver_settings driver = {
		.store = job->store,
		.backend = job->backend,
		.job_name = job->job->name,
		.log_name = job->key,
		.listener = {.on_note = on_note, .on_status = on_status, .data = job},
		.on_passed = on_passed,
		.data = job,
	};

	job->driver = driver_new(&driver);
}

static bool is_ours(const struct job *job)
{
	return !job->managed_by || text_equals(job->managed_by, MANAGER);
}

/* What nothing can be made of is Failed, and says why: it never waits in silence. */

static char *fault_of(const struct job *job)
{
	struct faults faults CLEANUP(faults_done) = {0};

	if (job->n_roles == 0)
		return mem_copy_text("spec.tfReplicaSpecs: Required value: has no role");
	return objects_check_names(job, &faults) ? NULL : mem_copy_text(faults.list[0].sentence);
}

/* While it is written, and its Events are sent once it is; or while the job is deleted. */
struct refusal {
	struct arena *arena;
	struct job *job;
	struct plan plan;
	bool is_removal; /* it was written, and the job's time to live is over */
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
	struct served_job *job = data;
	struct refusal *refusal = TAKE(job->refusal);

	(void) version;
	if (!err && refusal->is_removal)
		tell_removed(job, refusal->job);
	if (err && err->code == ERR_NOT_FOUND)
		err = NULL;
	for (size_t i = 0; i < refusal->plan.n_notes && !err; i++)
		on_note(refusal->job, &refusal->plan.notes[i], job);
	if (err && err->code != ERR_CONFLICT)
		on_failed(job, refusal->job, err);
	refusal_free(refusal);
	/* What came meanwhile was passed over; after a conflict it is known by now. */
	look_at(job, loop_now() + (err && err->code != ERR_CONFLICT ? FIRST_PAUSE : 0));
}

static void write_refusal(struct served_job *job, const struct store_record *record,
			  struct status *status, const char *fault)
{
	struct refusal *refusal = job->refusal;
	struct arena *arena = refusal->arena;

	if (status->n_conditions == 0)
		reconcile_begin(refusal->job, loop_now(), arena, status);
	reconcile_lost(refusal->job, status, REFUSED, arena_copy_text(arena, fault), loop_now(),
		       arena, &refusal->plan);
	const struct store_change change =
		record_change(job->store, refusal->job, &refusal->plan.status, arena);

	store_begin_change(job->store, refusal->job->name, record->version, &change, on_refused,
			   job);
}

static void delete_or_wait(struct served_job *job, const struct status *status)
{
	msec expires_at = expiry_of_job(job->refusal->job, status);

	if (loop_now() >= expires_at) {
		job->refusal->is_removal = true;
		store_begin_remove(job->store, name_of(job), job->uid, on_refused, job);
		return;
	}
	refusal_free(TAKE(job->refusal));
	look_at(job, expires_at);
}

static void tell_unread(struct served_job *job, const struct err *fault)
{
	if (text_keep(&job->trouble, fault->text))
		say_trouble_of_job(job, fault);
}

/* Once it is written, the job's time to live counts. */
static void begin_refusal(struct served_job *job, const struct store_record *record,
			  const char *fault)
{
	struct refusal *refusal = mem_new(sizeof(*refusal));
	struct status status;
	struct err err = {0};

	refusal->arena = arena_new();
	if (record_read_status(record, refusal->arena, &status, &err) < 0) {
		tell_unread(job, &err);
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

static bool is_finished(const struct served_job *job)
{
	struct store_record record CLEANUP(store_record_done) = {0};
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct status status;

	return job->store->functions->get(job->store, name_of(job), &record, NULL) == 0 &&
	       record_read_status(&record, arena, &status, NULL) == 0 &&
	       status_is_finished(&status);
}

/* Once it has ended it is cleaned up as any other. */
static bool refuse(struct served_job *job)
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

/* What cannot be read has no roles for us; what nobody could write a status to is told here. */
static void refuse_unread(struct served_job *job, const struct err *fault)
{
	struct store_record record CLEANUP(store_record_done) = {0};

	if (job->refusal)
		return;
	if (job->store->functions->get(job->store, name_of(job), &record, NULL) < 0 ||
	    record_read_bare_job(&record, &job->job, NULL) < 0)
		tell_unread(job, fault);
	else if (is_ours(job->job))
		begin_refusal(job, &record, fault->text);
}

/* It has ended, and neither its Pods nor the clock ask for anything more: most jobs of a cluster.
 */
static bool is_settled(const struct served_job *job)
{
	return job->job->clean_policy == CLEAN_NONE && job->job->ttl_after_finished < 0 &&
	       is_finished(job);
}

/* False where there is nothing to be done for it. */
static bool begin_work(struct served_job *job)
{
	struct err err = {0};

	if (job->driver)
		return true;
	bool is_read = read_job(job, &err) == 0;

	if (!is_read)
		refuse_unread(job, &err);
	if (!is_read || !is_ours(job->job) || is_settled(job) || refuse(job)) {
		job_free(TAKE(job->job));
		return false;
	}
	make_parts(job);
	return true;
}

/* What is being given back is not held any more, whatever its time. */
static bool may_act(const struct controller *controller)
{
	return !controller->is_ending &&
	       (!controller->lease || lease_keeper_standing(controller->lease) == LEASE_HELD);
}

/* The pass ends in on_passed; where there is none, it has ended. */
static void look(struct served_job *job)
{
	bool has_work = !job->is_over && !job->is_going;

	if (has_work && may_act(job->controller) && begin_work(job) &&
	    backend_kube_is_ready(job->backend)) {
		job->is_passing = true;
		job->pass_start = loop_monotonic_microseconds();
		driver_look(job->driver, loop_now());
		return;
	}
	if (!has_work)
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
	const struct scope *scope = data;
	struct controller *controller = scope->controller;

	if (!controller->is_ending)
		metrics_count_job(&controller->counts, job->name_space, METRICS_JOB_DELETED);
	if (job->is_passing)
		queue_done(controller->queue, job->key, false, loop_now());
	end_work(job);
	queue_remove(controller->queue, job->key);
	store_cleanup(&job->store);
	refusal_free(job->refusal);
	free(job->trouble);
	free(job->key);
	free(job->name_space);
	free(job->uid);
	free(job);
}

static struct served_job *served_job_new(struct scope *scope, const struct json *object)
{
	struct controller *controller = scope->controller;
	const struct json *metadata = json_get(object, "metadata");
	const char *name_space = json_as_string(json_get(metadata, "namespace"), "");
	const char *uid = json_as_string(json_get(metadata, "uid"), "");
	struct served_job *job = mem_new(sizeof(*job));

	job->controller = controller;
	job->scope = scope;
	job->restarts = -1;
	job->key = mem_format("%s/%s", name_space, json_as_string(json_get(metadata, "name"), ""));
	job->name_space = mem_copy_text(name_space);
	job->uid = mem_copy_text(uid);
	job->store = store_kube_of_tfjobs(controller->loop, controller->api, name_space);
	store_kube_keep_to(job->store, uid);
	return job;
}

static void *project(const struct json *object, void *before, void *data)
{
	struct scope *scope = data;
	struct controller *controller = scope->controller;
	const char *uid = json_as_string(json_get_path(object, "metadata", "uid", NULL), "");
	struct served_job *job = before;
	struct store_record record CLEANUP(store_record_done) = {0};
	struct err err = {0};

	if (job && !text_equals(job->uid, uid)) {
		release(job, scope);
		job = NULL;
	}
	if (store_kube_tfjobs.read(object, &record, &err) < 0) {
		say(controller, err.text);
		if (job)
			release(job, scope);
		return NULL;
	}
	if (!job)
		job = served_job_new(scope, object);
	if (!before && scope->is_synced)
		metrics_count_job(&controller->counts, job->name_space, METRICS_JOB_CREATED);
	store_kube_saw(job->store, object);
	job->is_going = json_get_path(object, "metadata", "deletionTimestamp", NULL);
	look_at(job, loop_now());
	return job;
}

static void on_progress(void *data)
{
	const struct scope *scope = data;

	see_server(scope->controller);
}

/* The rest project has seen to. */
static void on_change(const char *name, void *data)
{
	(void) name;
	on_progress(data);
}

static void on_synced(void *data)
{
	struct scope *scope = data;

	scope->is_synced = true;
	see_server(scope->controller);
	log_info("%zu TFJobs are known%s%s", kube_mirror_count(scope->jobs),
		 *scope->namespace_name ? " of namespace " : "", scope->namespace_name);
}

static void on_watch_trouble(const struct err *err, void *data)
{
	const struct scope *scope = data;

	say_trouble(scope->controller, err);
}

static void watch_scope(struct scope *scope)
{
	struct controller *controller = scope->controller;
	const struct kube_mirror_settings jobs = {
		.resource = &kube_tfjobs,
		.namespace_name = scope->namespace_name,
		.project = project,
		.release = release,
		.on_change = on_change,
		.on_synced = on_synced,
		.on_progress = on_progress,
		.on_trouble = on_watch_trouble,
		.data = scope,
	};
	const struct job_cache_settings cache = {
		.loop = controller->loop,
		.api = controller->api,
		.namespace_name = scope->namespace_name,
		.is_of_tfjobs = true,
		.pod_groups = controller->settings->gang ? gang_resource(controller->settings->gang)
							 : NULL,
		.on_trouble = on_watch_trouble,
		.data = scope,
	};

	scope->cache = job_cache_new(&cache);
	/* The first job does not wait for their lists. */
	job_cache_watch(scope->cache, JOB_CACHE_PODS);
	job_cache_watch(scope->cache, JOB_CACHE_SERVICES);
	scope->jobs = kube_mirror_new(controller->loop, controller->api, &jobs);
}

static void watch_jobs(struct controller *controller)
{
	static const char *const all[] = {KUBE_ALL_NAMESPACES, NULL};
	const char *const *given = controller->settings->namespaces;
	const char *const *namespaces = *given ? given : all;

	while (namespaces[controller->n_scopes])
		controller->n_scopes++;
	controller->scopes = mem_new_array(controller->n_scopes, sizeof(*controller->scopes));
	for (size_t i = 0; i < controller->n_scopes; i++) {
		controller->scopes[i] =
			(struct scope){.controller = controller, .namespace_name = namespaces[i]};
		watch_scope(&controller->scopes[i]);
	}
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
	struct walk walk = {0};

	while ((job = next_job(controller, &walk))) {
		if (job->is_passing)
			queue_done(controller->queue, job->key, false, loop_now());
		job->is_passing = false;
		end_work(job);
	}
}

static void look_at_all(struct controller *controller)
{
	struct served_job *job;
	struct walk walk = {0};

	while ((job = next_job(controller, &walk)))
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

static void on_lease_trouble(const struct err *err, void *data)
{
	say_trouble(data, err);
}

static int watch_lease(struct controller *controller, struct err *err)
{
	const struct lease_keeper_settings settings = {
		.loop = controller->loop,
		.api = controller->api,
		.name = controller->settings->lease_name,
		.made_at = MSEC_UNSET,
		.may_be_first = true,
		.on_change = on_lease,
		.on_trouble = on_lease_trouble,
		.data = controller,
	};

	if (!settings.name)
		return 0;
	int rc = lease_keeper_new(&settings, &controller->lease, err);

	if (rc == 0)
		kube_api_set_permit(controller->api, may_change, controller);
	return rc;
}

/* The kind of PodGroups has to be there: without it no job would ever start. */

static void on_pod_groups(struct json *object, const struct kube_status *status,
			  const struct err *err, void *data)
{
	struct controller *controller = data;

	(void) object, (void) status;
	if (err)
		controller->err = *err;
	loop_stop(controller->loop);
}

static int check_gang(struct controller *controller, struct err *err)
{
	static const struct kube_parameter parameters[] = {{"limit", "1"}, {0}};
	const struct gang *gang = controller->settings->gang;

	if (!gang)
		return 0;
	const struct kube_resource *resource = gang_resource(gang);
	const struct kube_request request = {
		.verb = KUBE_LIST,
		.resource = resource,
		.namespace_name = *controller->settings->namespaces
					  ? *controller->settings->namespaces
					  : KUBE_ALL_NAMESPACES,
		.parameters = parameters,
	};
	struct kube_call *call =
		kube_call_new(controller->api, &request, on_pod_groups, controller);

	(void) call; /* it ends with its answer */
	loop_run(controller->loop);
	if (controller->err.code == ERR_NOT_FOUND)
		return err_set(err, ERR_NOT_FOUND,
			       "the cluster has no %s.%s/%s for --gang-scheduler-name: install "
			       "the scheduler that brings them first%s",
			       resource->plural, resource->group, resource->version,
			       gang->kind == GANG_KUBERNETES
				       ? ", or the feature gates GenericWorkload and GangScheduling"
				       : "");
	return controller->err.code ? err_set(err, controller->err.code, "%s", controller->err.text)
				    : 0;
}

/* The definition of TFJobs. Where it may not be read, the first write of a status shows it. */

static void on_definition(struct json *object, const struct kube_status *status,
			  const struct err *err, void *data)
{
	struct controller *controller = data;
	struct err fault = {0};

	(void) status;
	if (err && err->code == ERR_NOT_FOUND)
		say(controller, "TFJobs are unknown to this cluster: 'muster operator install', or "
				"kubectl apply -f deploy/crd.yaml, says what they are");
	else if (err)
		log_info("the definition of TFJobs is not known: %s", err->text);
	else if (tfjob_definition_check(object, &fault) < 0)
		end_for(controller, &fault);
}

static void ask_for_definition(struct controller *controller)
{
	const struct kube_request request = {
		.verb = KUBE_GET, .resource = &kube_definitions, .name = TFJOB_DEFINITION};
	struct kube_call *call =
		kube_call_new(controller->api, &request, on_definition, controller);

	(void) call; /* it ends with its answer, or with the API */
}

/* The process. */

/* The Lease is left to others first. */
static void end(struct controller *controller)
{
	if (!controller->lease || controller->is_ending) {
		loop_stop(controller->loop);
		return;
	}
	controller->is_ending = true;
	end_all_work(controller);
	lease_keeper_release(controller->lease);
}

static void on_signal(int number, void *data)
{
	(void) number;
	end(data);
}

/* Passes are those of all jobs, of which many are under way at once, and not the exporter's. */
static void write_metrics(const struct metrics_passes *of_exporter, struct text *text, void *data)
{
	const struct controller *controller = data;
	const struct metrics_operator now = {
		.n_jobs = count_jobs(controller),
		.n_queued = queue_depth(controller->queue, loop_now()),
		.n_errors = controller->n_errors,
	};

	(void) of_exporter;
	metrics_write_jobs(&controller->counts, &now, &controller->passes, text);
}

static bool is_ready(void *data)
{
	const struct controller *controller = data;

	for (size_t i = 0; i < controller->n_scopes; i++)
		if (!controller->scopes[i].is_synced)
			return false;
	return true;
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
	for (size_t i = 0; i < controller->n_scopes; i++) {
		kube_mirror_free(controller->scopes[i].jobs);
		job_cache_free(controller->scopes[i].cache);
	}
	free(controller->scopes);
	tfjob_events_free(controller->events);
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
	controller.events = tfjob_events_new(controller.loop, controller.api);
	controller.queue = queue_new(FIRST_PAUSE, LONGEST_PAUSE);
	controller.timer = loop_new_timer(controller.loop, on_timer, &controller);
	rc = check_gang(&controller, err);
	if (rc < 0)
		return rc;
	end_signals_watch(&controller.signals, controller.loop, on_signal, &controller);
	ask_for_definition(&controller);
	watch_jobs(&controller);
	rc = watch_lease(&controller, err);
	if (rc < 0)
		return rc;
	loop_run(controller.loop);
	return err_copy(err, &controller.fault);
}
