/* Setting up, with the creation of a job, and taking down. */
#include "base/exit_code.h"
#include "base/mem.h"
#include "cluster/backend.h"
#include "cluster/registration.h"
#include "cluster/store.h"
#include "cluster/supervision_state.h"
#include "jobs/cluster_job_record.h"
#include "jobs/reconciler.h"
#include "jobs/record.h"
#include "jobs/registration.h"
#include "jobs/state_folder.h"
#include "kube/objects.h"
#include "kube/rights.h"
#include "kube/wait.h"
#include "logs/folder.h"
#include "reconcile/reconcile.h"
#include "spec/pod_security.h"

#include <unistd.h>

/* Between tries to create a Secret. */
#define PAUSE (MSEC_PER_SECOND / 2)
#define MOST_TRIES 20

static void on_startup(const struct startup *startup, void *data)
{
	const struct supervision *base = data;

	reporter_show_startup(&base->reporter, startup);
}

/* As kubectl prints them; between the lines of the job's output. */
static void on_warning(const char *sentence, void *data)
{
	struct cluster_supervision *supervision = data;
	const struct supervision_kube_request *request = supervision->request;
	struct text told CLEANUP(text_done) = {0};

	text_add(&told, "Warning: ");
	pod_place_add(request->pod_files, request->n_pod_files, sentence, &told);
	reporter_print_message(&supervision->base.reporter, text_of(&told));
}

/* The connections of the job's creation are then used to create its Pods. */
static int open_store(struct cluster_supervision *supervision, struct err *err)
{
	const struct supervision_kube_request *request = supervision->request;
	const char *namespace_name =
		request->job ? request->job->name_space : request->namespace_name;
	int rc = loop_new(&supervision->base.loop, err);

	if (rc == 0)
		rc = kube_api_connect(supervision->base.loop, request->log_in, request->data,
				      &supervision->api, err);
	if (rc == 0)
		supervision->base.store =
			(request->is_tfjob ? store_kube_of_tfjobs
					   : store_kube_new)(supervision->api, namespace_name);
	return rc;
}

static int check_for_signal(struct cluster_supervision *supervision, struct err *err)
{
	end_signals_take(&supervision->base.signals);
	return supervision->ended_by ? err_set(err, ERR_REFUSED, "interrupted") : 0;
}

/* The permissions that some jobs need. */
static const struct kube_right secret_rights[] = {{KUBE_CREATE, &kube_secrets}};
static const struct kube_right exec_rights[] = {
	{KUBE_GET, &kube_pods},
	{KUBE_GET, &kube_pods, "exec"},
	{KUBE_CREATE, &kube_pods, "exec"},
};
#define WITHOUT_POLICY "or use --no-network-policy, which needs no rights on networkpolicies"
static const struct kube_right network_policy_rights[] = {
	{KUBE_CREATE, &kube_network_policies, NULL, WITHOUT_POLICY},
	{KUBE_LIST, &kube_network_policies, NULL, WITHOUT_POLICY},
	{KUBE_WATCH, &kube_network_policies, NULL, WITHOUT_POLICY},
};
/* And those that all need. */
static const struct kube_right job_rights[] = {
	{KUBE_CREATE, &kube_config_maps}, {KUBE_GET, &kube_config_maps},
	{KUBE_LIST, &kube_config_maps},   {KUBE_WATCH, &kube_config_maps},
	{KUBE_PATCH, &kube_config_maps},  {KUBE_DELETE, &kube_config_maps},
	{KUBE_CREATE, &kube_services},    {KUBE_LIST, &kube_services},
	{KUBE_WATCH, &kube_services},     {KUBE_CREATE, &kube_pods},
	{KUBE_LIST, &kube_pods},          {KUBE_WATCH, &kube_pods},
	{KUBE_DELETE, &kube_pods},        {KUBE_GET, &kube_pods, "log"},
	{KUBE_CREATE, &kube_leases},      {KUBE_GET, &kube_leases},
	{KUBE_PATCH, &kube_leases},       {KUBE_DELETE, &kube_leases},
};

struct rights {
	struct kube_right list[ARRAY_LEN(secret_rights) + ARRAY_LEN(job_rights) +
			       ARRAY_LEN(network_policy_rights) + ARRAY_LEN(exec_rights)];
	size_t count;
};

static void add_rights(struct rights *rights, const struct kube_right *list, size_t count,
		       bool are_needed)
{
	for (size_t i = 0; i < count && are_needed; i++)
		rights->list[rights->count++] = list[i];
}

/* Its owner was deleted or is an earlier job of this name: it is deleted with that owner. */
static bool is_of_earlier_job(const struct json *service, const struct job *job)
{
	const struct json *metadata = json_get(service, "metadata");
	const struct json *labels = json_get(metadata, "labels");
	const char *manager = json_get_string(labels, OBJECTS_LABEL_MANAGED_BY, NULL);

	return text_equals(manager, OBJECTS_MANAGED_BY) &&
	       text_equals(json_get_string(labels, OBJECTS_LABEL_JOB, NULL), job->name) &&
	       json_count(json_get(metadata, "ownerReferences")) > 0;
}

static int check_service(const struct json *services, const struct job *job, struct err *err)
{
	const struct json *items = json_get(services, "items");

	if (json_count(items) == 0 || is_of_earlier_job(json_at(items, 0), job))
		return 0;
	return err_set(err, ERR_EXISTS,
		       "Service '%s' in namespace '%s' does not belong to job '%s', whose Pods "
		       "need a Service of that name to find each other; choose another --name, or "
		       "delete it if it is not used (kubectl -n %s delete service %s)",
		       job->name, job->name_space, job->name, job->name_space, job->name);
}

/* All calls run in one wait. A list, because a user who runs jobs may list Services, but may not be
 * permitted to get one. */
static int check_before_run(const struct cluster_supervision *supervision, struct err *err)
{
	const struct job *job = supervision->request->job;
	char *selector CLEANUP(mem_free_text) = mem_format("metadata.name=%s", job->name);
	const struct kube_parameter parameters[] = {{"fieldSelector", selector}, {0}};
	const struct kube_request list = {KUBE_LIST, &kube_services, job->name_space,
					  .parameters = parameters};
	struct json *services CLEANUP(json_cleanup) = NULL;
	struct rights rights = {0};

	add_rights(&rights, secret_rights, ARRAY_LEN(secret_rights),
		   supervision->request->secret->name);
	add_rights(&rights, job_rights, ARRAY_LEN(job_rights), true);
	add_rights(&rights, network_policy_rights, ARRAY_LEN(network_policy_rights),
		   job->has_network_policy);
	add_rights(&rights, exec_rights, ARRAY_LEN(exec_rights), job->n_fetches > 0);
	int rc = kube_rights_check(supervision->api, job->name_space, rights.list, rights.count,
				   &list, &services, err);

	return rc < 0 ? rc : check_service(services, job, err);
}

static int replace_finished(const struct cluster_supervision *supervision,
			    const struct observed *observed, struct err *err)
{
	const struct supervision_kube_request *request = supervision->request;
	struct store *store = supervision->base.store;
	const struct job *job = request->job;
	struct store_record old CLEANUP(store_record_done) = {0};
	int rc = store->functions->get(store, job->name, &old, err);

	if (rc == ERR_INVALID)
		return err_set(err, ERR_EXISTS,
			       "ConfigMap '%s.job' in namespace '%s' does not belong to muster; "
			       "choose another --name",
			       job->name, job->name_space);
	if (rc < 0)
		return rc;
	if (!record_is_finished(&old))
		return err_set(err, ERR_EXISTS,
			       "job '%s' already exists in namespace '%s' and has not ended; "
			       "choose another --name, or stop it: muster stop %s",
			       job->name, job->name_space, request->base.job_words);
	if (!request->replaces_finished)
		return err_set(err, ERR_EXISTS,
			       "job '%s' already exists in namespace '%s' and has ended; use "
			       "--replace to replace it, or choose another --name",
			       job->name, job->name_space);
	return reconciler_create_job(store, job, old.uid, "", observed, supervision->base.created,
				     err);
}

/* From here on, the uid that the cluster gave the job's owner identifies the job. The uid that it
 * has before is a mark by which its record is found should the answer be lost. With its status,
 * any supervisor may start the job's Pods immediately, also if this process is killed. */
static int register_job(struct cluster_supervision *supervision, struct err *err)
{
	const struct supervision_kube_request *request = supervision->request;
	bool is_whole = !request->secret->name && request->n_files == 0;
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	const struct observed new = backend_kube_observe_new(request->job, arena);
	const struct observed *observed = is_whole ? &new : NULL;
	struct store_record record CLEANUP(store_record_done) = {0};
	struct supervision *base = &supervision->base;

	base->created = loop_now();
	supervision->made_at = loop_monotonic_now();
	job_uid_set_new(base->job);
	int rc = reconciler_create_job(base->store, base->job, NULL, "", observed, base->created,
				       err);

	if (rc == ERR_EXISTS)
		rc = replace_finished(supervision, observed, err);
	if (rc == 0)
		rc = base->store->functions->get(base->store, base->job->name, &record, err);
	if (rc == 0)
		job_set_uid(base->job, record.uid);
	return rc;
}

static void on_registration_timer(void *data)
{
	loop_stop(data);
}

static void wait_for(struct loop *loop, msec pause)
{
	struct loop_watch *timer = loop_new_timer(loop, on_registration_timer, loop);

	loop_timer_arm_after(timer, pause);
	loop_run(loop);
	loop_watch_free(timer);
}

static int create_secret(const struct cluster_supervision *supervision, struct err *err)
{
	const struct job_secret *secret = supervision->request->secret;
	const struct job *job = supervision->base.job;
	struct kube_api *api = supervision->api;

	if (!secret->name)
		return 0;
	struct json *object CLEANUP(json_cleanup) = objects_secret_new(job, secret, job->uid);
	const struct kube_request create = {KUBE_CREATE, &kube_secrets, job->name_space,
					    .body = object};

	int rc = kube_wait(api, &create, NULL, err);

	/* An earlier job's Secret is deleted a moment after that job, and no watch reports it: the
	 * permission to create Secrets does not include reading them. */
	for (int i = 0; rc == ERR_EXISTS && i < MOST_TRIES; i++) {
		wait_for(api->loop, PAUSE);
		rc = kube_wait(api, &create, NULL, err);
	}
	return rc;
}

static int make_job(struct cluster_supervision *supervision, struct err *err)
{
	const struct supervision_kube_request *request = supervision->request;
	int rc = register_job(supervision, err);

	if (rc < 0)
		return rc;
	supervision->is_recorded = true;
	rc = check_for_signal(supervision, err);
	if (rc == 0)
		rc = create_secret(supervision, err);
	return rc < 0 ? rc
		      : registration_kube_create_files(supervision->api, supervision->base.job,
						       request->files, request->n_files, err);
}

/* The permission to write ConfigMaps must not give the permission to have Pods created with the
 * permissions of the supervisor. */
static void on_foreign_change(const char *fields, void *data)
{
	struct cluster_supervision *supervision = data;
	char *sentence CLEANUP(mem_free_text) =
		mem_format("job '%s' was changed on the cluster (%s); muster ignores the change "
			   "and keeps creating Pods from the original template",
			   supervision->base.job->name, fields);

	if (supervision->folder) {
		reporter_print_error(&supervision->base.reporter, sentence);
		return;
	}
	free(supervision->foreign_change);
	supervision->foreign_change = TAKE(sentence);
}

static void pin_supervised_record(struct cluster_supervision *supervision, const struct job *pinned)
{
	struct supervision *base = &supervision->base;

	store_kube_keep_to(base->store, base->job->uid);
	store_kube_pin(base->store, pinned->document, on_foreign_change, supervision);
}

static char *words_of_lines(const char *lines)
{
	struct text words CLEANUP(text_done) = {0};

	for (const char *at = lines; *at; at++) {
		if (*at != '\n')
			text_add_char(&words, *at);
		else if (at[1])
			text_add(&words, ", ");
	}
	return text_take(&words);
}

static int check_reach(const struct cluster_supervision *supervision, struct err *err)
{
	const struct supervision_kube_request *request = supervision->request;
	struct text reach CLEANUP(text_done) = {0};

	pod_privileges_describe(supervision->base.job, &reach);
	if (request->trusts || reach.len == 0)
		return 0;
	char *list CLEANUP(mem_free_text) = words_of_lines(text_of(&reach));
	return err_set(err, ERR_CONFLICT,
		       "job '%s' was created elsewhere, and its Pods would run with your rights; "
		       "use --trust to allow that. They ask for: %s",
		       supervision->base.job->name, list);
}

/* This machine's record of the document is used; without one, the present document. */
static int pin_found(struct cluster_supervision *supervision, struct err *err)
{
	const struct supervision_kube_request *request = supervision->request;
	const struct job *found = supervision->found_job;
	struct job *known CLEANUP(job_cleanup) = NULL;
	int rc = cluster_job_record_read(request->base.state_folder, request->place, found->name,
					 found->uid, &known, err);

	if (rc == ERR_NOT_FOUND)
		rc = check_reach(supervision, err);
	if (rc == 0)
		pin_supervised_record(supervision, known ? known : found);
	return rc;
}

static int read_found(struct cluster_supervision *supervision, struct err *err)
{
	struct store *store = supervision->base.store;
	struct store_record record CLEANUP(store_record_done) = {0};
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct status status = {0};

	job_free(TAKE(supervision->found_job));
	int rc = store->functions->get(store, supervision->request->attach_to, &record, err);

	if (rc == 0)
		rc = record_read(&record, arena, &supervision->found_job, &status, err);
	supervision->base.job = supervision->found_job;
	supervision->base.created = record.created;
	supervision->has_started = status.n_replicas > 0 || status_is_finished(&status);
	return rc;
}

static int find_supervised_job(struct cluster_supervision *supervision, struct err *err)
{
	int rc = read_found(supervision, err);

	if (rc == 0)
		rc = pin_found(supervision, err);
	if (rc == 0)
		rc = read_found(supervision, err);
	if (rc == 0 && supervision->base.job->has_network_policy)
		rc = kube_rights_check(supervision->api, supervision->base.job->name_space,
				       network_policy_rights, ARRAY_LEN(network_policy_rights),
				       NULL, NULL, err);
	if (rc < 0)
		return rc;
	supervision->is_recorded = true;
	return check_for_signal(supervision, err);
}

static int make_or_find_job(struct cluster_supervision *supervision, struct err *err)
{
	const struct supervision_kube_request *request = supervision->request;
	const struct job *job = request->job;
	int rc;

	/* Its operator acts for a TFJob: it is not pinned, and we change nothing. */
	if (request->is_tfjob) {
		rc = read_found(supervision, err);
		if (rc == 0)
			store_kube_keep_to(supervision->base.store, supervision->base.job->uid);
		return rc < 0 ? rc : check_for_signal(supervision, err);
	}
	rc = job ? check_before_run(supervision, err)
		 : kube_rights_check(supervision->api, request->namespace_name, job_rights,
				     ARRAY_LEN(job_rights), NULL, NULL, err);
	if (rc == 0)
		rc = check_for_signal(supervision, err);
	if (rc == 0)
		rc = job ? make_job(supervision, err) : find_supervised_job(supervision, err);
	if (rc == 0)
		rc = check_for_signal(supervision, err);
	if (rc == 0 && job)
		pin_supervised_record(supervision, job);
	return rc;
}

static int make_cluster_job_folder(struct cluster_supervision *supervision, struct err *err)
{
	const char *state_folder = supervision->request->base.state_folder;
	int rc = state_folder_create_job(state_folder, supervision->base.job->uid, err);

	if (rc < 0)
		return rc;
	supervision->folder = state_folder_job(state_folder, supervision->base.job->uid);
	reporter_begin(&supervision->base.reporter, supervision->folder);
	if (is_attached(supervision))
		return attached_logs_create(supervision->folder, &supervision->log_folder, err);
	supervision->log_folder = mem_copy_text(supervision->folder);
	return 0;
}

/* Everything that can fail; after it, the job is supervised. */
static int set_up_cluster_supervision(struct cluster_supervision *supervision, struct err *err)
{
	struct supervision *base = &supervision->base;
	int rc = open_store(supervision, err);

	if (rc < 0)
		return rc;
	supervision_watch_signals(base);
	rc = supervision_create_exporter(base, err);
	if (rc == 0)
		rc = make_or_find_job(supervision, err);
	if (rc == 0)
		rc = make_cluster_job_folder(supervision, err);
	if (rc == 0)
		rc = supervision_create_console(base, supervision->log_folder, NULL, err);
	if (rc == 0 && supervision->foreign_change)
		reporter_print_error(&base->reporter, supervision->foreign_change);
	kube_api_on_warning(supervision->api, on_warning, supervision);
	if (rc == 0 && is_attached(supervision))
		rc = supervision_kube_report_status(supervision, err);
	if (rc == 0 && supervision->request->is_tfjob)
		supervision_kube_only_follow(supervision);
	else if (rc == 0)
		rc = supervision_kube_watch_lease(supervision, err);
	/* Other programs leave what runs on a cluster alone when they are interrupted. */
	if (rc == 0 && !is_attached(supervision) && !supervision->is_detached &&
	    isatty(STDERR_FILENO))
		reporter_print_message(
			&base->reporter,
			"Ctrl-C also stops the job on the cluster; to keep it running, close "
			"the terminal or start it with -d");
	return rc == 0 ? check_for_signal(supervision, err) : rc;
}

static void on_cluster_trouble(const struct err *err, void *data)
{
	supervision_on_trouble(err->text, data);
}

static void make_backend(struct cluster_supervision *supervision)
{
	struct supervision *base = &supervision->base;
	const struct job_cache_settings cache = {
		.api = supervision->api,
		.namespace_name = base->job->name_space,
		.job_name = base->job->name,
		.is_of_tfjobs = supervision->request->is_tfjob,
	};

	supervision->cache = job_cache_new(&cache);
	reporter_create_copies(&base->reporter, base->request->copy_pattern,
			       &base->request->style.streams, base->job);
	const struct backend_kube_settings settings = {
		.api = supervision->api,
		.cache = supervision->cache,
		.job = base->job,
		.is_tfjob = supervision->request->is_tfjob,
		.log_folder = supervision->log_folder,
		.copies = base->reporter.copies,
		.secret = supervision->request->secret,
		.is_new = !is_attached(supervision),
		.on_news = supervision_request_pass,
		.on_output = supervision_on_output,
		.on_startup = on_startup,
		.on_trouble = on_cluster_trouble,
		.holds = supervision_kube_holds,
		.data = base,
	};

	base->backend = backend_kube_new(&settings);
}

/* Nothing more is started for the job. */
static void end_work(struct cluster_supervision *supervision)
{
	supervision_kube_cancel_fetch(supervision);
	job_follower_free(TAKE(supervision->owner));
	if (supervision->base.store)
		store_let_go(supervision->base.store, supervision);
	supervision_end_work(&supervision->base);
	job_cache_free(TAKE(supervision->cache));
}

static void free_cluster_supervision(struct cluster_supervision *supervision)
{
	struct supervision *base = &supervision->base;

	end_work(supervision);
	lease_keeper_free(supervision->lease);
	store_cleanup(&base->store);
	base->store = NULL;
	kube_api_free(supervision->api);
	supervision_done(base);
	job_free(supervision->found_job);
	if (is_attached(supervision) && supervision->log_folder)
		attached_logs_end(supervision->folder, supervision->log_folder,
				  has_supervised(supervision));
	free(supervision->log_folder);
	free(supervision->folder);
	free(supervision->foreign_change);
}

/* Deletes the objects created by this process, unless another process holds the Lease by now. If
 * there never was a Lease, no other process can. */
static void undo_registration(struct cluster_supervision *supervision)
{
	const struct job *job = supervision->base.job;
	struct store *store = supervision->base.store;
	struct err err = {0};

	if (!supervision->is_recorded || is_attached(supervision) ||
	    supervision->failure.code == ERR_CONFLICT)
		return;
	if (!supervision->lease || !lease_keeper_has_seen(supervision->lease))
		supervision->is_fenced = false;
	int rc = store->functions->remove(store, job->name, job->uid, &err);

	if (rc < 0 && rc != ERR_NOT_FOUND)
		reporter_print_message(&supervision->base.reporter, err.text);
	else
		supervision->is_recorded = false;
}

/* The status of a job that continues without us is recorded on this machine. */
static void leave_here(struct cluster_supervision *supervision)
{
	const struct err *failure = &supervision->failure;

	if (supervision->is_recorded && has_supervised(supervision))
		supervision_kube_update_record(supervision);
	else
		supervision_kube_finish_record(supervision, RECONCILE_SUPERVISOR_LOST,
					       failure->code ? failure->text
							     : "muster did not wait for its end");
}

static int supervise_cluster_job(background_started_fn started, void *background,
				 int *ret_exit_code, struct err *err, void *data)
{
	const struct supervision_kube_request *request = data;
	struct cluster_supervision supervision CLEANUP(free_cluster_supervision) = {
		.base = {.request = &request->base,
			 .parts = &supervision_kube_parts,
			 .data = &supervision,
			 .job = request->job,
			 .started = started,
			 .background = background},
		.request = request,
		.is_detached = request->base.is_detached,
	};
	struct supervision *base = &supervision.base;
	int rc = set_up_cluster_supervision(&supervision, err);

	if (rc < 0) {
		undo_registration(&supervision);
		if (!supervision.ended_by)
			return rc;
		/* A signal ended it before any Pod was started: nothing failed. */
		*ret_exit_code = EXIT_BY_SIGNAL + supervision.ended_by;
		return 0;
	}
	make_backend(&supervision);
	supervision_kube_watch_owner(&supervision);
	supervision_run(base); /* the Lease may be ours already */
	end_work(&supervision);
	undo_registration(&supervision);
	leave_here(&supervision);
	if (supervision.failure.code)
		return err_set(err, (enum err_code) supervision.failure.code, "%s",
			       supervision.failure.text);
	*ret_exit_code = supervision_finish(base);
	if (*ret_exit_code == 0)
		*ret_exit_code = supervision.fetch_exit_code;
	if (supervision.ended_by && !status_is_finished(&base->reporter.status))
		*ret_exit_code = EXIT_BY_SIGNAL + supervision.ended_by;
	return 0;
}

int supervision_kube_run(const struct supervision_kube_request *request, int *ret_exit_code,
			 struct err *err)
{
	return background_run(request->base.is_detached, supervise_cluster_job, (void *) request,
			      ret_exit_code, err);
}
