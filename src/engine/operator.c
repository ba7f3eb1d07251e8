/* One mirror of the TFJobs, one cache of their Pods and Services, and a queue of the jobs that are
 * to be looked at. A job that has ended, and of which nothing is left to do, keeps its record
 * alone. */
#include "engine/operator.h"

#include "base/mem.h"
#include "base/text.h"
#include "core/queue.h"
#include "engine/backend_kube.h"
#include "engine/driver.h"
#include "engine/end_signals.h"
#include "engine/record.h"
#include "engine/store_kube.h"
#include "engine/store_tfjob_record.h"
#include "engine/tfjob_events.h"
#include "io/log.h"
#include "kube/job_cache.h"
#include "kube/mirror.h"
#include "kube/resources.h"

#include <stdlib.h>
#include <string.h>

#define LOOKS_IN_ONE_TURN 32 /* then others have theirs: answers, signals */
#define FIRST_PAUSE MSEC_PER_SECOND /* after what fails; then twice as long, up to */
#define LONGEST_PAUSE (60 * MSEC_PER_SECOND)
#define MANAGER "kubeflow.org/training-operator"

struct operator
{
	const struct operator_settings *settings;
	struct loop *loop;
	struct kube_api *api;
	struct job_cache *cache;
	struct kube_mirror *jobs; /* of struct served_job */
	struct queue *queue;
	struct loop_watch *timer;
	struct end_signals signals;
	char *last_trouble;
};

struct served_job {
	struct operator* operator;
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
static struct served_job *find(const struct operator* operator, const char * key)
{
	bool is_of_all = text_equals(operator->settings->namespace_name, KUBE_ALL_NAMESPACES);

	return kube_mirror_get(operator->jobs, is_of_all ? key : strchr(key, '/') + 1);
}

static void say(struct operator* operator, const char * sentence)
{
	if (text_equals(operator->last_trouble, sentence))
		return;
	free(operator->last_trouble);
	operator->last_trouble = mem_copy_text(sentence);
	operator->settings->say(sentence, operator->settings->data);
}

/* Looking. */

static void arm(struct operator* operator)
{
	loop_timer_arm(operator->timer, queue_wake_at(operator->queue));
}

static void look_at(struct served_job *job, msec due)
{
	if (due != MSEC_NEVER)
		queue_add(job->operator->queue, job->name_space, job->key, due);
	arm(job->operator);
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
	job->is_over = outcome->is_gone || (outcome->is_finished && outcome->wake_at == MSEC_NEVER);
	queue_done(job->operator->queue, job->key, err != NULL, loop_now());
	if (!err)
		look_at(job, job->is_over ? loop_now() : outcome->wake_at);
	arm(job->operator);
}

static void on_note(const struct job *own, const struct note *note, void *data)
{
	const struct served_job *job = data;

	tfjob_event_send(job->operator->api, own, note);
}

static void on_trouble(const char *sentence, void *data)
{
	struct served_job *job = data;
	char *told CLEANUP(mem_free_text) = mem_format("job '%s': %s", job->key, sentence);

	say(job->operator, told);
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
	struct operator* operator= job->operator;
	const struct backend_kube_settings backend = {
		.loop = operator->loop,
		.api = operator->api,
		.cache = operator->cache,
		.job = job->job,
		.is_tfjob = true,
		.cluster_domain = operator->settings->cluster_domain,
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
	if (!is_ours(job->job)) {
		job_free(TAKE(job->job));
		return false;
	}
	make_parts(job);
	return true;
}

/* The pass ends in on_passed; where there is none, it has ended. */
static void look(struct served_job *job)
{
	if (!job->is_over && begin_work(job) && backend_kube_is_ready(job->backend)) {
		job->is_passing = true;
		driver_look(job->driver, loop_now());
		return;
	}
	if (job->is_over)
		end_work(job);
	queue_done(job->operator->queue, job->key, false, loop_now());
}

static void on_timer(void *data)
{
	struct operator* operator= data;
	const char *key;

	for (int i = 0; i < LOOKS_IN_ONE_TURN; i++) {
		key = queue_take(operator->queue, loop_now());
		if (!key)
			break;
		struct served_job *job = find(operator, key);

		if (job)
			look(job);
		else
			queue_done(operator->queue, key, false, loop_now());
	}
	arm(operator);
}

/* The TFJobs, as the cluster shows them. */

static void release(void *kept, void *data)
{
	struct served_job *job = kept;
	struct operator* operator= data;

	if (job->is_passing)
		queue_done(operator->queue, job->key, false, loop_now());
	end_work(job);
	queue_remove(operator->queue, job->key);
	store_cleanup(&job->store);
	free(job->key);
	free(job->name_space);
	free(job->uid);
	free(job);
}

static struct served_job *served_job_new(struct operator* operator, const struct json * object)
{
	const struct json *metadata = json_get(object, "metadata");
	const char *name_space = json_as_string(json_get(metadata, "namespace"), "");
	const char *uid = json_as_string(json_get(metadata, "uid"), "");
	struct served_job *job = mem_new(sizeof(*job));

	job->operator= operator;
	job->key = mem_format("%s/%s", name_space, json_as_string(json_get(metadata, "name"), ""));
	job->name_space = mem_copy_text(name_space);
	job->uid = mem_copy_text(uid);
	job->store = store_kube_of_tfjobs(operator->loop, operator->api, name_space);
	store_kube_keep_to(job->store, uid);
	return job;
}

static void *project(const struct json *object, void *before, void *data)
{
	struct operator* operator= data;
	const char *uid = json_as_string(json_get_path(object, "metadata", "uid", NULL), "");
	struct served_job *job = before;
	struct store_record record CLEANUP(store_record_done) = {0};
	struct err err = {0};

	if (job && !text_equals(job->uid, uid)) {
		release(job, operator);
		job = NULL;
	}
	if (store_kube_tfjobs.read(object, &record, &err) < 0) {
		say(operator, err.text);
		if (job)
			release(job, operator);
		return NULL;
	}
	if (!job)
		job = served_job_new(operator, object);
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
	struct operator* operator= data;

	log_info("%zu TFJobs are known", kube_mirror_count(operator->jobs));
}

static void on_jobs_trouble(const struct err *err, void *data)
{
	say(data, err->text);
}

static void watch_jobs(struct operator* operator)
{
	const struct kube_mirror_settings jobs = {
		.resource = &kube_tfjobs,
		.namespace_name = operator->settings->namespace_name,
		.project = project,
		.release = release,
		.on_change = on_change,
		.on_synced = on_synced,
		.on_trouble = on_jobs_trouble,
		.data = operator, };
	const struct job_cache_settings cache = {
		.loop = operator->loop,
		.api = operator->api,
		.namespace_name = operator->settings->namespace_name,
		.is_of_tfjobs = true,
	};

	operator->cache = job_cache_new(&cache);
	operator->jobs = kube_mirror_new(operator->loop, operator->api, &jobs);
}

/* The process. */

static void on_signal(int number, void *data)
{
	struct operator* operator= data;

	(void) number;
	loop_stop(operator->loop);
}

static void operator_done(struct operator* operator)
{
	kube_mirror_free(operator->jobs);
	job_cache_free(operator->cache);
	queue_free(operator->queue);
	loop_watch_free(operator->timer);
	end_signals_done(&operator->signals);
	kube_api_free(operator->api);
	loop_free(operator->loop);
	free(operator->last_trouble);
}

int operator_run(const struct operator_settings *settings, struct err *err)
{
	struct operator operator CLEANUP(operator_done) = {.settings = settings};
	int rc = loop_new(&operator.loop, err);

	if (rc == 0)
		rc = kube_api_connect(operator.loop, settings->log_in, settings->log_in_data,
				      &operator.api, err);
	if (rc < 0)
		return rc;
	operator.queue = queue_new(FIRST_PAUSE, LONGEST_PAUSE);
	operator.timer = loop_new_timer(operator.loop, on_timer, &operator);
	end_signals_watch(&operator.signals, operator.loop, on_signal, &operator);
	watch_jobs(&operator);
	loop_run(operator.loop);
	return 0;
}
