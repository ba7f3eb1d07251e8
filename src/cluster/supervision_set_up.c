/* Setting up, and taking down. */
#include "base/exit_code.h"
#include "base/mem.h"
#include "cluster/backend.h"
#include "cluster/registration.h"
#include "cluster/store.h"
#include "cluster/supervision_state.h"
#include "jobs/cluster_job_record.h"
#include "jobs/state_folder.h"
#include "logs/folder.h"
#include "reconcile/reconcile.h"
#include "spec/pod_security.h"

#include <unistd.h>

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

static const char *namespace_of(const struct cluster_supervision *supervision)
{
	const struct supervision_kube_request *request = supervision->request;

	return request->job ? request->job->name_space : request->namespace_name;
}

/* The connections of the job's creation are then used to create its Pods. */
static int open_store(struct cluster_supervision *supervision, struct err *err)
{
	const struct supervision_kube_request *request = supervision->request;
	int rc = loop_new(&supervision->base.loop, err);

	if (rc == 0)
		rc = kube_api_connect(supervision->base.loop, request->log_in, request->data,
				      &supervision->api, err);
	if (rc == 0)
		supervision->base.store =
			(request->is_tfjob ? store_kube_of_tfjobs : store_kube_new)(
				supervision->api, namespace_of(supervision));
	return rc;
}

static int check_for_signal(struct cluster_supervision *supervision, struct err *err)
{
	end_signals_take(&supervision->base.signals);
	return supervision->ended_by ? err_set(err, ERR_REFUSED, "interrupted") : 0;
}

/* From here on, the uid that the cluster gave the job's owner identifies the job. */
static int register_job(struct cluster_supervision *supervision, struct err *err)
{
	const struct supervision_kube_request *request = supervision->request;
	bool is_whole = !request->secret->name && request->n_files == 0;
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	const struct observed observed = backend_kube_observe_new(request->job, arena);

	supervision->base.created = loop_now();
	supervision->made_at = loop_monotonic_now();
	return registration_kube_register(supervision->base.store, supervision->base.job,
					  request->base.job_words, request->replaces_finished,
					  is_whole ? &observed : NULL, supervision->base.created,
					  err);
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
		rc = registration_kube_create_secret(supervision->api, supervision->base.job,
						     request->secret, err);
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
	job_free(TAKE(supervision->found_job));
	int rc = registration_kube_find(supervision->base.store, supervision->request->attach_to,
					&supervision->found_job, &supervision->base.created,
					&supervision->has_started, err);

	supervision->base.job = supervision->found_job;
	return rc;
}

static int find_supervised_job(struct cluster_supervision *supervision, struct err *err)
{
	int rc = read_found(supervision, err);

	if (rc == 0)
		rc = pin_found(supervision, err);
	if (rc == 0)
		rc = read_found(supervision, err);
	if (rc == 0)
		rc = registration_kube_check_network_policy(supervision->api, supervision->base.job,
							    err);
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
	rc = job ? registration_kube_check_before_run(supervision->api, job, request->secret->name,
						      err)
		 : registration_kube_check_before_attach(supervision->api,
							 namespace_of(supervision), err);

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
