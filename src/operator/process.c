/* Has one mirror of the TFJobs and one cache of their Pods and Services, for all namespaces or for
 * each managed one, and a queue of the jobs to reconcile. */
#include "base/mem.h"
#include "cluster/store.h"
#include "cluster/store_record.h"
#include "io/log.h"
#include "io/loop.h"
#include "kube/wait.h"
#include "operator/state.h"

#define PASSES_AT_ONCE 32 /* then answers and signals are handled */

/* A mirror of one namespace names objects without the namespace. */
static struct managed_job *find_managed_job(const struct controller *controller, const char *key)
{
	for (size_t i = 0; i < controller->n_scopes; i++) {
		const struct scope *scope = &controller->scopes[i];
		size_t len = strlen(scope->namespace_name);

		if (len == 0)
			return mirror_table_get(&scope->jobs->table, key);
		if (strncmp(key, scope->namespace_name, len) == 0 && key[len] == '/')
			return mirror_table_get(&scope->jobs->table, key + len + 1);
	}
	return NULL;
}

struct walk {
	size_t scope;
	const void *place;
};

const struct json *operator_waiting_reason(const struct controller *controller,
					   const struct json *tfjob)
{
	const struct json *metadata = json_get(tfjob, "metadata");
	char *key CLEANUP(mem_free_text) =
		mem_format("%s/%s", json_get_string(metadata, "namespace", ""),
			   json_get_string(metadata, "name", ""));
	const struct managed_job *job = find_managed_job(controller, key);

	return job && text_equals(job->uid, json_get_string(metadata, "uid", NULL)) ? job->waiting
										    : NULL;
}

/* Zero the walk to begin; NULL at the end. */
static struct managed_job *next_job(const struct controller *controller, struct walk *walk)
{
	for (; walk->scope < controller->n_scopes; walk->scope++, walk->place = NULL) {
		struct managed_job *job = mirror_table_next(
			&controller->scopes[walk->scope].jobs->table, &walk->place);

		if (job)
			return job;
	}
	return NULL;
}

static void on_timer(void *data)
{
	struct controller *controller = data;
	const char *key;

	for (int i = 0; i < PASSES_AT_ONCE; i++) {
		key = queue_take(controller->queue, loop_monotonic_now());
		if (!key)
			break;
		struct managed_job *job = find_managed_job(controller, key);

		if (job)
			managed_job_reconcile(job);
		else
			queue_done(controller->queue, key, false, loop_monotonic_now());
	}
	operator_arm(controller);
}

static void enqueue_all_jobs(struct controller *controller)
{
	struct managed_job *job;
	struct walk walk = {0};

	while ((job = next_job(controller, &walk)))
		operator_enqueue(job, loop_monotonic_now());
}

/* The TFJobs, as observed on the cluster. */

/* Of several operators only the leader counts. */
static void count_job(const struct managed_job *job, enum metrics_job_event event)
{
	struct controller *controller = job->controller;

	if (operator_may_act(controller) && !job->is_of_others)
		metrics_count_job(&controller->counts, job->name_space, event);
}

/* Whatever its result, nothing more is decided from it. */
static void drop_pass(struct managed_job *job)
{
	if (!job->is_passing)
		return;
	job->is_passing = false;
	queue_done(job->controller->queue, job->key, false, loop_monotonic_now());
	operator_arm(job->controller);
}

static void release_managed_job(void *kept, void *data)
{
	struct managed_job *job = kept;
	const struct scope *scope = data;
	struct controller *controller = scope->controller;

	count_job(job, METRICS_JOB_DELETED);
	managed_job_report_removed(job);
	drop_pass(job);
	managed_job_end_work(job); /* which may request another pass */
	queue_remove(controller->queue, job->key);
	managed_job_free(job);
}

static void *project(const struct json *object, void *before, void *data)
{
	struct scope *scope = data;
	struct controller *controller = scope->controller;
	const char *uid = json_as_string(json_get_path(object, "metadata", "uid", NULL), "");
	struct managed_job *job = before;
	struct store_record record CLEANUP(store_record_done) = {0};
	struct err err = {0};

	if (job && !text_equals(job->uid, uid)) {
		release_managed_job(job, scope);
		job = NULL;
	}
	if (store_kube_tfjobs.read(object, &record, &err) < 0) {
		operator_report(controller, err.text);
		if (job)
			release_managed_job(job, scope);
		return NULL;
	}
	if (!job)
		job = managed_job_new(scope, object);
	const struct json *manager = json_get_path(object, "spec", "runPolicy", "managedBy", NULL);

	job->is_of_others = !operator_is_manager(json_as_string(manager, NULL));
	/* It was created after the first list, or no operator has written to it yet. */
	if (!before && (scope->is_synced || !json_get_path(object, "status", "conditions", NULL)))
		count_job(job, METRICS_JOB_CREATED);
	store_kube_observe(job->store, object);
	job->is_over = false; /* of the previous work */
	job->is_terminating = json_get_path(object, "metadata", "deletionTimestamp", NULL);
	operator_enqueue(job, loop_monotonic_now());
	return job;
}

static void on_tfjob_watch_progress(void *data)
{
	const struct scope *scope = data;

	operator_clear_outage(scope->controller);
}

/* `project` has handled the rest of the change. */
static void on_tfjob_change(const char *name, void *data)
{
	(void) name;
	on_tfjob_watch_progress(data);
}

static void on_tfjobs_synced(void *data)
{
	struct scope *scope = data;

	scope->is_synced = true;
	operator_clear_outage(scope->controller);
	log_info("%zu TFJobs are known%s%s", scope->jobs->table.count,
		 *scope->namespace_name ? " of namespace " : "", scope->namespace_name);
	enqueue_all_jobs(scope->controller); /* which had to wait for this list */
}

static void on_watch_trouble(const struct err *err, void *data)
{
	const struct scope *scope = data;

	operator_report_error(scope->controller, err);
}

static void watch_scope(struct scope *scope)
{
	struct controller *controller = scope->controller;
	const struct kube_mirror_settings jobs = {
		.resource = &kube_tfjobs,
		.namespace_name = scope->namespace_name,
		.project = project,
		.release = release_managed_job,
		.on_change = on_tfjob_change,
		.on_synced = on_tfjobs_synced,
		.on_progress = on_tfjob_watch_progress,
		.on_trouble = on_watch_trouble,
		.data = scope,
	};
	const struct job_cache_settings cache = {
		.api = controller->api,
		.namespace_name = scope->namespace_name,
		.is_of_tfjobs = true,
		.pod_groups = controller->settings->gang ? gang_resource(controller->settings->gang)
							 : NULL,
		.on_trouble = on_watch_trouble,
		.data = scope,
	};

	scope->cache = job_cache_new(&cache);
	/* Watched now, so that the first job does not wait for the lists. */
	job_cache_watch(scope->cache, JOB_CACHE_PODS);
	job_cache_watch(scope->cache, JOB_CACHE_SERVICES);
	scope->jobs = kube_mirror_new(controller->api, &jobs);
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

static bool may_operator_change(void *data)
{
	return operator_may_act(data);
}

/* Another operator may have acted since, so the state of each job's work is stale. */
static void end_all_work(struct controller *controller)
{
	struct managed_job *job;
	struct walk walk = {0};

	while ((job = next_job(controller, &walk))) {
		drop_pass(job);
		managed_job_end_work(job);
	}
}

static void report_leader_standing(struct controller *controller, enum lease_standing standing)
{
	char *other CLEANUP(mem_free_text) = lease_keeper_supervisor(controller->lease);
	char *sentence CLEANUP(mem_free_text) =
		standing == LEASE_HELD
			? mem_copy_text("became the leader: this operator now serves the TFJobs")
		: standing == LEASE_OVERDUE
			? mem_copy_text(
				  "could not renew the leader Lease in time; this operator does "
				  "nothing until it holds the Lease again")
			: mem_format("%s is the leader; this operator is waiting",
				     other ? other : "another operator");

	operator_report(controller, sentence);
}

/* While this process was paused or disconnected, a watch may have been silent while another
 * operator acted. After a loss of the Lease nothing is decided on earlier observations. */
static void begin_all_work(struct controller *controller)
{
	for (size_t i = 0; i < controller->n_scopes && controller->has_held; i++) {
		job_cache_list_again(controller->scopes[i].cache);
		kube_mirror_list_again(controller->scopes[i].jobs);
	}
	controller->has_held = true;
	enqueue_all_jobs(controller);
}

static void on_lease(void *data)
{
	struct controller *controller = data;
	enum lease_standing standing = lease_keeper_standing(controller->lease);

	if (controller->is_ending) {
		if (controller->lease->is_done)
			loop_stop(controller->api->loop);
		return;
	}
	if (standing == controller->told ||
	    (standing == LEASE_UNSETTLED && controller->told != LEASE_HELD))
		return;
	controller->told = standing;
	report_leader_standing(controller, standing);
	if (standing == LEASE_HELD)
		begin_all_work(controller);
	else
		end_all_work(controller);
}

static void on_lease_trouble(const struct err *err, void *data)
{
	operator_report_error(data, err);
}

static int watch_lease(struct controller *controller, struct err *err)
{
	const struct lease_keeper_settings settings = {
		.api = controller->api,
		.name = controller->settings->lease_name,
		.made_at = INSTANT_UNSET,
		.may_be_first = true,
		.on_change = on_lease,
		.on_trouble = on_lease_trouble,
		.data = controller,
	};

	if (!settings.name)
		return 0;
	int rc = lease_keeper_new(&settings, &controller->lease, err);

	if (rc < 0)
		return rc;
	controller->api->permit = may_operator_change;
	controller->api->permit_data = controller;
	return 0;
}

/* The kind PodGroup must exist: without it no job would ever start. */

static int check_gang(struct controller *controller, struct err *err)
{
	static const struct kube_parameter parameters[] = {{"limit", "1"}, {0}};
	const struct gang *gang = controller->settings->gang;

	if (!gang)
		return 0;
	const struct kube_resource *resource = gang_resource(gang);
	const char *first = *controller->settings->namespaces;
	const struct kube_request request = {
		KUBE_LIST, resource, first ? first : KUBE_ALL_NAMESPACES, .parameters = parameters};
	struct err own = {0};

	if (kube_wait(controller->api, &request, NULL, &own) == ERR_NOT_FOUND)
		return err_set(err, ERR_NOT_FOUND,
			       "the cluster has no %s.%s/%s for --gang-scheduler-name; install the "
			       "scheduler that defines them first%s",
			       resource->plural, resource->group, resource->version,
			       gang->kind == GANG_KUBERNETES
				       ? ", or the feature gates GenericWorkload and GangScheduling"
				       : "");
	return err_copy(err, &own);
}

/* The definition of TFJobs. If it may not be read, the first write of a status shows the
 * problem. */

static void on_definition(const struct kube_result *result, void *data)
{
	struct controller *controller = data;
	const struct err *err = result->err;
	struct err fault = {0};

	if (err && err->code == ERR_NOT_FOUND)
		operator_report(controller,
				"the cluster has no definition of TFJobs; add it: 'muster "
				"operator install', or kubectl apply -f deploy/crd.yaml");
	else if (err)
		log_info("cannot read the definition of TFJobs: %s", err->text);
	else if (tfjob_definition_check(result->object, &fault) < 0)
		operator_stop_for(controller, &fault);
}

static void ask_for_definition(struct controller *controller)
{
	const struct kube_request request = {
		.verb = KUBE_GET, .resource = &kube_definitions, .name = TFJOB_DEFINITION};
	/* It ends with its answer, or with the API. */
	kube_call_start(NULL, controller->api, &request, on_definition, controller);
}

/* The process. */

/* Releases the Lease first. */
static void stop_operator(struct controller *controller)
{
	if (!controller->lease || controller->is_ending) {
		loop_stop(controller->api->loop);
		return;
	}
	controller->is_ending = true;
	end_all_work(controller);
	lease_keeper_release(controller->lease);
}

static void on_operator_signal(int number, void *data)
{
	(void) number;
	stop_operator(data);
}

void operator_write_metrics(const struct controller *controller, struct text *text)
{
	struct metrics_operator now = {
		.n_queued = queue_depth(controller->queue, loop_monotonic_now()),
		.n_errors = controller->n_errors,
	};

	for (size_t i = 0; i < controller->n_scopes; i++)
		now.n_jobs += controller->scopes[i].jobs->table.count;
	metrics_write_jobs(&controller->counts, &now, &controller->passes, text);
}

/* The passes are those of all jobs, many of them concurrent, not the exporter's. */
static void write_metrics(const struct metrics_passes *of_exporter, struct text *text, void *data)
{
	(void) of_exporter;
	operator_write_metrics(data, text);
}

static bool is_ready(void *data)
{
	const struct controller *controller = data;

	for (size_t i = 0; i < controller->n_scopes; i++)
		if (!controller->scopes[i].is_synced)
			return false;
	return true;
}

bool operator_is_leading(const struct controller *controller)
{
	return is_ready((void *) controller) && operator_may_act(controller);
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

	return exporter_new(controller->api->loop, &settings, ret_exporter, err);
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
	free(controller->last_trouble);
}

int operator_run(const struct operator_settings *settings, struct err *err)
{
	struct controller controller CLEANUP(controller_done) = {.settings = settings,
								 .end = stop_operator};
	int rc = kube_api_connect(NULL, settings->log_in, settings->log_in_data, &controller.api,
				  err);

	if (rc == 0)
		rc = make_exporter(&controller, settings->metrics, &controller.metrics, err);
	if (rc == 0)
		rc = make_exporter(&controller, settings->health, &controller.health, err);
	if (rc < 0)
		return rc;
	controller.events = tfjob_events_new(controller.api);
	controller.queue = queue_new(OPERATOR_FIRST_PAUSE, OPERATOR_LONGEST_PAUSE, OPERATOR_PASSES);
	controller.timer = loop_new_timer(controller.api->loop, on_timer, &controller);
	rc = check_gang(&controller, err);
	if (rc < 0)
		return rc;
	end_signals_watch(&controller.signals, controller.api->loop, on_operator_signal,
			  &controller);
	ask_for_definition(&controller);
	watch_jobs(&controller);
	rc = watch_lease(&controller, err);
	const struct operator_host host = {controller.api, &controller};

	if (rc == 0 && settings->start_http_server)
		rc = settings->start_http_server(&host, settings->http_server_data, err);
	if (rc < 0)
		return rc;
	loop_run(controller.api->loop);
	if (settings->end_front)
		settings->end_front(settings->http_server_data);
	return err_copy(err, &controller.fault);
}
