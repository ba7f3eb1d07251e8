/* Everything here only translates, as in engine/supervision.c: what the mirror saw, a signal or a
 * timer ask for a pass of the driver, and what the driver says goes to the console. */
#include "engine/supervision_kube.h"

#include "base/mem.h"
#include "base/text.h"
#include "engine/backend_kube.h"
#include "engine/finished_job.h"
#include "engine/record.h"
#include "engine/registration_kube.h"
#include "engine/state_folder.h"
#include "engine/store_kube.h"
#include "engine/telling.h"
#include "kube/mirror.h"
#include "kube/objects.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define EXIT_OWN_FAULT 125
#define EXIT_BY_SIGNAL 128

static const struct kube_resource config_maps = {"", "v1", "configmaps", false};

struct cluster_supervision {
	const struct supervision_kube_request *request;
	struct job *job;
	char *folder; /* of its logs */
	msec created;
	struct loop *loop;
	struct kube_api *api;
	struct store *store;
	struct backend *backend;
	struct driver *driver;
	struct kube_mirror *owner; /* the ConfigMap, as others change it */
	struct loop_watch *timer;
	struct loop_watch *signals[4];
	struct telling telling;
	int64_t version;
	int n_interrupts;
	bool is_recorded; /* there is something to delete */
	bool is_finished; /* the job is; what is left of it is waited for */
	bool is_ending; /* and now for the terminal alone */
};

/* The end. */

static void on_drained(void *data)
{
	struct cluster_supervision *supervision = data;

	loop_stop(supervision->loop);
}

/* The owner goes, and the cluster takes along all that it owns. */
static void remove_objects(struct cluster_supervision *supervision)
{
	const struct job *job = supervision->job;
	struct err err = {0};
	int rc = 0;

	if (supervision->is_recorded)
		rc = supervision->store->functions->remove(supervision->store, job->name, job->uid,
							   &err);
	if (rc < 0 && rc != ERR_NOT_FOUND)
		telling_say(&supervision->telling, err.text);
	supervision->is_recorded = false;
}

/* How it ended, and its logs, are to be had here afterwards. */
static void remember_here(struct cluster_supervision *supervision)
{
	struct store_record record CLEANUP(store_record_done) = {0};
	struct err err = {0};
	int rc = supervision->store->functions->get(supervision->store, supervision->job->name,
						    &record, &err);

	if (rc == 0)
		rc = finished_job_remember(supervision->request->state_folder, &record, &err);
	if (rc < 0 && rc != ERR_NOT_FOUND)
		telling_say(&supervision->telling, err.text);
}

static void close_console(struct cluster_supervision *supervision)
{
	struct telling *telling = &supervision->telling;

	supervision->is_ending = true;
	loop_timer_arm(supervision->timer, MSEC_NEVER);
	if (telling->console)
		console_finish(telling->console, &telling->status, on_drained, supervision);
	else
		loop_stop(supervision->loop);
}

/* The job has ended: what is left of it goes, and is waited for. */
static void clean_up(struct cluster_supervision *supervision)
{
	if (!backend_kube_is_quiet(supervision->backend))
		return;
	if (supervision->is_recorded) {
		remember_here(supervision);
		remove_objects(supervision);
	}
	if (backend_kube_is_empty(supervision->backend))
		close_console(supervision);
}

/* Passes. */

static void ask_for_pass(struct cluster_supervision *supervision)
{
	if (!supervision->is_ending && supervision->timer)
		loop_timer_arm(supervision->timer, loop_now());
}

static void on_news(const char *job_name, void *data)
{
	(void) job_name;
	ask_for_pass(data);
}

static void on_output(const char *job_name, void *data)
{
	struct cluster_supervision *supervision = data;

	(void) job_name;
	telling_show_output(&supervision->telling);
}

static void on_trouble(const char *job_name, const char *sentence, void *data)
{
	struct cluster_supervision *supervision = data;

	(void) job_name;
	telling_say(&supervision->telling, sentence);
}

/* Somebody deleted the job's ConfigMap, and the cluster ends what it owned. */
static void tell_gone(struct cluster_supervision *supervision)
{
	if (status_is_finished(&supervision->telling.status))
		return;
	telling_say(&supervision->telling,
		    "somebody deleted the job's ConfigMap, and all Pods with it");
	supervision->telling.status.exit_code = EXIT_OWN_FAULT;
}

static void pass(void *data)
{
	struct cluster_supervision *supervision = data;
	struct driver_outcome outcome;
	struct err err = {0};

	if (!backend_kube_is_ready(supervision->backend))
		return; /* news come when it is */
	if (supervision->is_finished) {
		clean_up(supervision);
		return;
	}
	int rc = driver_pass(supervision->driver, supervision->job->name, loop_now(), &outcome,
			     &err);

	telling_say_trouble(&supervision->telling, rc < 0 ? err.text : NULL);
	if (outcome.version)
		supervision->version = outcome.version;
	if (outcome.is_gone)
		tell_gone(supervision);
	supervision->is_finished = outcome.is_finished || outcome.is_gone;
	loop_timer_arm(supervision->timer, supervision->is_finished ? loop_now() : outcome.wake_at);
}

/* The owner. */

static void *see_owner(const struct json *object, void *before, void *data)
{
	struct cluster_supervision *supervision = data;

	(void) before;
	store_kube_saw(supervision->store, object);
	return supervision;
}

static void release_owner(void *kept, void *data)
{
	(void) kept, (void) data;
}

static void on_owner(const char *name, void *data)
{
	struct cluster_supervision *supervision = data;

	if (!kube_mirror_get(supervision->owner, name))
		store_kube_saw_gone(supervision->store, supervision->job->name);
	ask_for_pass(supervision);
}

static void on_owner_synced(void *data)
{
	ask_for_pass(data);
}

static void watch_owner(struct cluster_supervision *supervision)
{
	char *name CLEANUP(mem_free_text) = objects_owner_name(supervision->job);
	char *selector CLEANUP(mem_free_text) = mem_format("metadata.name=%s", name);
	const struct kube_mirror_settings settings = {
		.resource = &config_maps,
		.namespace_name = supervision->job->name_space,
		.field_selector = selector,
		.project = see_owner,
		.release = release_owner,
		.on_change = on_owner,
		.on_synced = on_owner_synced,
		.data = supervision,
	};

	supervision->owner = kube_mirror_new(supervision->loop, supervision->api, &settings);
}

/* Being asked to end. */

static void ask_to_stop(struct cluster_supervision *supervision, enum stop_reason reason,
			msec grace)
{
	struct err err = {0};
	int rc = record_ask_to_stop(supervision->store, supervision->job->name,
				    stop_reason_words[reason], grace, &err);

	if (rc < 0)
		telling_say_trouble(&supervision->telling, err.text);
	ask_for_pass(supervision);
}

/* Without waiting for anything more. */
static void leave(struct cluster_supervision *supervision, int signal_number)
{
	struct status *status = &supervision->telling.status;

	if (!status_is_finished(status))
		status->exit_code = EXIT_BY_SIGNAL + signal_number;
	loop_stop(supervision->loop);
}

/* The second Ctrl-C leaves no time to save, the third one does not wait for the cluster. */
static void interrupt(struct cluster_supervision *supervision)
{
	switch (supervision->n_interrupts++) {
	case 0:
		ask_to_stop(supervision, STOP_INTERRUPTED, -1);
		break;
	case 1:
		ask_to_stop(supervision, STOP_INTERRUPTED, 0);
		break;
	default:
		leave(supervision, SIGINT);
		break;
	}
}

static void on_signal(int number, void *data)
{
	struct cluster_supervision *supervision = data;

	if (supervision->is_ending || supervision->is_finished ||
	    !backend_kube_is_ready(supervision->backend))
		leave(supervision, number);
	else if (number == SIGINT)
		interrupt(supervision);
	else if (number == SIGQUIT)
		ask_to_stop(supervision, STOP_INTERRUPTED, 0);
	else
		ask_to_stop(supervision, number == SIGHUP ? STOP_HANGUP : STOP_TERMINATED, -1);
}

/* Setting up. */

/* A signal that was ignored when we began (nohup, `&` in a script) stays ignored. */
static void watch_signals(struct cluster_supervision *supervision)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction action;

	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		if (sigaction(numbers[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			supervision->signals[i] = loop_watch_signal(supervision->loop, numbers[i],
								    on_signal, supervision);
}

static int connect_loop(const struct supervision_kube_request *request, struct loop *loop,
			struct kube_api **ret_api, struct err *err)
{
	struct kube_login *login CLEANUP(kube_login_cleanup) = NULL;
	int rc = request->login(loop, &login, err, request->data);

	if (rc == 0)
		rc = kube_api_new(loop, login, ret_api, err);
	if (rc == 0)
		login = NULL;
	return rc;
}

static int open_store(struct cluster_supervision *supervision, struct err *err)
{
	struct loop *loop = NULL;
	struct kube_api *api = NULL;
	int rc = loop_new(&loop, err);

	if (rc < 0)
		return rc;
	rc = connect_loop(supervision->request, loop, &api, err);
	if (rc < 0) {
		loop_free(loop);
		return rc;
	}
	supervision->store = store_kube_new(loop, api, supervision->job->name_space);
	return 0;
}

/* The job is known from here on by the uid that the cluster gave its owner. */
static int record_job(struct cluster_supervision *supervision, struct err *err)
{
	const struct supervision_kube_request *request = supervision->request;
	int rc;

	supervision->created = loop_now();
	rc = registration_kube_register(supervision->store, supervision->job,
					request->replaces_finished, supervision->created, err);
	if (rc < 0)
		return rc;
	supervision->is_recorded = true;
	return registration_kube_make_files(supervision->loop, supervision->api, supervision->job,
					    request->files, request->n_files, err);
}

static int make_console(struct cluster_supervision *supervision, struct err *err)
{
	const struct supervision_kube_request *request = supervision->request;
	const struct console_settings settings = {
		.loop = supervision->loop,
		.log_folder = supervision->folder,
		.lines_fd = request->prints_json ? STDERR_FILENO : STDOUT_FILENO,
		.chatter_fd = STDERR_FILENO,
		.is_quiet = request->is_quiet,
		.color = request->color,
	};

	return console_new(&settings, supervision->job, &supervision->telling.console, err);
}

static int make_folder(struct cluster_supervision *supervision, struct err *err)
{
	const char *state_folder = supervision->request->state_folder;
	int rc = state_folder_make_job(state_folder, supervision->job->uid, err);

	if (rc < 0)
		return rc;
	supervision->folder = state_folder_job(state_folder, supervision->job->uid);
	supervision->telling.log = job_log_open(supervision->folder);
	return 0;
}

/* Everything that can fail; after it, the job is seen through. */
static int set_up(struct cluster_supervision *supervision, struct err *err)
{
	int rc = loop_new(&supervision->loop, err);

	if (rc < 0)
		return rc;
	rc = connect_loop(supervision->request, supervision->loop, &supervision->api, err);
	if (rc == 0)
		rc = open_store(supervision, err);
	if (rc == 0)
		rc = registration_kube_check_rights(supervision->loop, supervision->api,
						    supervision->job, err);
	if (rc == 0)
		rc = record_job(supervision, err);
	if (rc == 0)
		rc = make_folder(supervision, err);
	if (rc == 0)
		rc = make_console(supervision, err);
	return rc;
}

static void begin(struct cluster_supervision *supervision)
{
	const struct driver_listener listener = telling_listener(&supervision->telling);
	const struct backend_kube_settings settings = {
		.loop = supervision->loop,
		.api = supervision->api,
		.job = supervision->job,
		.log_folder = supervision->folder,
		.on_news = on_news,
		.on_output = on_output,
		.on_trouble = on_trouble,
		.data = supervision,
	};

	watch_signals(supervision);
	supervision->timer = loop_new_timer(supervision->loop, pass, supervision);
	supervision->backend = backend_kube_new(&settings);
	supervision->driver = driver_new(supervision->store, supervision->backend, &listener);
	watch_owner(supervision);
}

static void tear_down(struct cluster_supervision *supervision)
{
	for (size_t i = 0; i < ARRAY_LEN(supervision->signals); i++)
		loop_watch_free(supervision->signals[i]);
	loop_watch_free(supervision->timer);
	kube_mirror_free(supervision->owner);
	driver_free(supervision->driver);
	if (supervision->backend)
		supervision->backend->functions->free(supervision->backend);
	telling_done(&supervision->telling);
	kube_api_free(supervision->api);
	if (supervision->store)
		supervision->store->functions->free(supervision->store);
	if (supervision->loop)
		loop_free(supervision->loop);
	free(supervision->folder);
}

int supervision_kube_run(const struct supervision_kube_request *request, int *ret_exit_code,
			 struct err *err)
{
	struct cluster_supervision supervision CLEANUP(tear_down) = {
		.request = request,
		.job = request->job,
		.telling = {.status = {.exit_code = EXIT_OWN_FAULT}},
	};
	int rc = set_up(&supervision, err);

	if (rc < 0) {
		remove_objects(&supervision);
		return rc;
	}
	begin(&supervision);
	loop_run(supervision.loop);
	remove_objects(&supervision);
	if (request->prints_json)
		telling_print(&supervision.telling, supervision.job->uid, supervision.created,
			      supervision.version);
	*ret_exit_code = supervision.telling.status.exit_code;
	return 0;
}
