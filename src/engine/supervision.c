/* One job seen through by the process that is the parent of its workers.
 *
 * Everything here only translates: an exit, a wake-up, a signal or a timer ask for a pass of the
 * driver, and what the driver says goes to the console, the job's own log and its watchers. */
#include "engine/supervision.h"

#include "base/mem.h"
#include "core/limits.h"
#include "core/reconcile.h"
#include "engine/backend_local.h"
#include "engine/control.h"
#include "engine/driver.h"
#include "engine/end_signals.h"
#include "engine/exporter.h"
#include "engine/record.h"
#include "engine/registration.h"
#include "engine/reporter.h"
#include "engine/resumption.h"
#include "engine/settle.h"
#include "engine/state_folder.h"
#include "io/descriptor_limit.h"
#include "io/process.h"
#include "store/store_retrying.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define EXIT_OWN_FAULT 125
#define RETRY_AFTER MSEC_PER_SECOND
/* A pipe, and a log with its index, that is written and, at times, shown. */
#define DESCRIPTORS_PER_REPLICA 5
#define DESCRIPTORS_BESIDES 40 /* the store, the loop, the socket, the first three … */
/* One INT may come twice: timeout(1) sends it to its child and to the group of it. */
#define SAME_KEY_PRESS ((msec) 200)

struct supervision {
	const struct supervisor_request *request;
	const char *name;
	const char *uid;
	char *folder; /* of this job */
	rlim_t descriptor_limit; /* as we found it, and as replicas get it */
	msec created;
	struct loop *loop;
	struct store *store;
	struct backend *backend;
	struct driver *driver;
	struct control *control;
	struct unkept *unkept; /* lines that reach the terminal alone */
	struct reporter reporter;
	struct exporter *exporter; /* NULL: nobody asked for it */
	struct loop_watch *timer;
	struct loop_watch *outer_gone;
	struct end_signals signals;

	loop_fn on_started; /* NULL once it was called */
	void *on_started_data;
	char *replaced_uid; /* the job whose name we took; its folder is still there */
	msec interrupted_at; /* of the monotonic clock; 0: not yet */
	bool is_ending;
	bool is_gone; /* nobody remembers the job any more: its logs go, too */
	int64_t told_version;
};

/* Telling. */

static void on_store_trouble(const char *sentence, void *data)
{
	struct supervision *supervision = data;
	char *told CLEANUP(mem_free_text) =
		sentence ? mem_format("%s; the job goes on, and this is tried again", sentence)
			 : mem_copy_text("the state of the job is written again");

	reporter_say(&supervision->reporter, told);
}

static void on_output(const char *job_name, void *data)
{
	struct supervision *supervision = data;

	(void) job_name;
	reporter_show_output(&supervision->reporter);
}

static void on_trouble(const char *job_name, const char *sentence, void *data)
{
	struct supervision *supervision = data;

	(void) job_name;
	reporter_say(&supervision->reporter, sentence);
}

/* Passes. */

static void ask_for_pass(struct supervision *supervision)
{
	if (!supervision->is_ending)
		loop_timer_arm(supervision->timer, loop_now());
}

static void on_news(const char *job_name, void *data)
{
	(void) job_name;
	ask_for_pass(data);
}

static void on_wake(void *data)
{
	ask_for_pass(data);
}

/* Once the first replicas were started: what was no hurry before. */
static void on_first_start(struct supervision *supervision)
{
	loop_fn on_started = supervision->on_started;
	char *replaced_uid CLEANUP(mem_free_text) = TAKE(supervision->replaced_uid);
	struct err err = {0};

	supervision->on_started = NULL;
	if (on_started)
		on_started(supervision->on_started_data);
	if (replaced_uid &&
	    state_folder_remove_job(supervision->request->state_folder, replaced_uid, &err) < 0)
		reporter_say(&supervision->reporter, err.text);
}

static void tell_version(struct supervision *supervision, int64_t version)
{
	if (version == supervision->told_version)
		return;
	supervision->told_version = version;
	control_tell_version(supervision->control, version);
}

static void on_drained(void *data)
{
	struct supervision *supervision = data;

	loop_stop(supervision->loop);
}

/* The job is over, and so is our work for it: nobody looks after it from here on. */
static void end(struct supervision *supervision)
{
	supervision->is_ending = true;
	loop_timer_arm(supervision->timer, MSEC_NEVER);
	on_first_start(supervision);
	struct err err = {0};

	state_folder_give_back(supervision->folder);
	/* From the moment when the record says so the job may be resumed, and its folder is not
	 * ours. All who listen are let go behind that: they find what is true then. */
	control_close(supervision->control);
	int rc = record_end_supervision(supervision->store, supervision->name, supervision->uid,
					&err);
	control_free(TAKE(supervision->control));
	if (rc < 0 && rc != ERR_NOT_FOUND)
		reporter_say(&supervision->reporter, err.text);
	if (store_retrying_is_behind(supervision->store))
		reporter_say(&supervision->reporter,
			     "how the job ended could not be written: `muster ps` will show "
			     "it as lost");
	if (supervision->reporter.console)
		console_finish(supervision->reporter.console, &supervision->reporter.status,
			       on_drained, supervision);
	else
		loop_stop(supervision->loop);
}

/* Somebody took the record away under a job that runs. */
static void give_up(struct supervision *supervision)
{
	backend_local_kill_all(supervision->backend);
	reporter_end(&supervision->reporter, supervision->request->job, RECONCILE_DELETED,
		     "its record was deleted, so its processes were ended");
}

static void on_passed(const struct driver_outcome *outcome, const struct err *err, void *data)
{
	struct supervision *supervision = data;
	msec wake_at = outcome->wake_at;

	exporter_end_pass(supervision->exporter);
	reporter_say_trouble(&supervision->reporter, err ? err->text : NULL);
	tell_version(supervision, outcome->version);
	if (outcome->is_gone && !status_is_finished(&supervision->reporter.status))
		give_up(supervision);
	if (outcome->is_finished || outcome->is_gone) {
		supervision->is_gone = outcome->is_gone;
		end(supervision);
		return;
	}
	if (wake_at > loop_now())
		on_first_start(supervision);
	if (store_retrying_is_behind(supervision->store))
		wake_at = msec_min(wake_at, loop_now() + RETRY_AFTER);
	loop_timer_arm(supervision->timer, wake_at);
}

static void look(void *data)
{
	struct supervision *supervision = data;

	exporter_begin_pass(supervision->exporter);
	driver_look(supervision->driver, loop_now());
}

/* Being asked to end. */

static void kill_now(struct supervision *supervision)
{
	backend_local_kill_all(supervision->backend);
	ask_for_pass(supervision);
}

static void ask_to_stop(struct supervision *supervision, enum stop_reason reason)
{
	driver_ask_to_stop(supervision->driver, reason, -1);
	ask_for_pass(supervision);
}

static void interrupt(struct supervision *supervision)
{
	msec now = loop_monotonic_now();
	msec before = supervision->interrupted_at;

	if (before && now - before < SAME_KEY_PRESS)
		return;
	supervision->interrupted_at = now;
	if (before) {
		kill_now(supervision);
		return;
	}
	reporter_say_stopping(&supervision->reporter, supervision->request->job, "processes");
	ask_to_stop(supervision, STOP_INTERRUPTED);
}

static void on_signal(int number, void *data)
{
	struct supervision *supervision = data;

	if (supervision->is_ending) {
		/* Only the terminal is waited for now, and a user that asks to stop does not want
		 * to see it. */
		loop_stop(supervision->loop);
	} else if (number == SIGINT) {
		interrupt(supervision);
	} else if (number == SIGQUIT) {
		ask_to_stop(supervision, STOP_INTERRUPTED);
		kill_now(supervision);
	} else {
		ask_to_stop(supervision, number == SIGHUP ? STOP_HANGUP : STOP_TERMINATED);
	}
}

/* The outer process was killed: nobody would end our workers if we were killed next. */
static void on_outer_gone(void *data)
{
	struct supervision *supervision = data;
	struct err err = {0};

	loop_watch_enable(supervision->outer_gone, false);
	backend_local_kill_all(supervision->backend);
	supervision->is_ending = true;
	supervision->reporter.status.exit_code = EXIT_OWN_FAULT;
	if (settle_job(supervision->store, supervision->name, supervision->uid, &err) < 0)
		reporter_say(&supervision->reporter, err.text);
	loop_stop(supervision->loop);
}

/* Setting up. */

static int record_job(struct supervision *supervision, struct err *err)
{
	const struct supervisor_request *request = supervision->request;

	supervision->created = loop_now();
	if (request->is_resumed)
		return resumption_register(supervision->store, request->job, supervision->created,
					   err);
	return registration_register(supervision->store, request->job, request->replaces_finished,
				     supervision->created, &supervision->replaced_uid, err);
}

static int make_backend(struct supervision *supervision, struct err *err)
{
	char *jobs CLEANUP(mem_free_text) = state_folder_jobs(supervision->request->state_folder);
	const struct backend_local_settings settings = {
		.loop = supervision->loop,
		.store = supervision->store,
		.gpus = supervision->request->gpus,
		.jobs_folder = jobs,
		.unkept = supervision->unkept,
		.rotate_at = LIMIT_LOG_FILE,
		.descriptor_limit = supervision->descriptor_limit,
		.on_news = on_news,
		.on_output = on_output,
		.on_trouble = on_trouble,
		.data = supervision,
	};

	return backend_local_new(&settings, &supervision->backend, err);
}

static int make_console(struct supervision *supervision, struct err *err)
{
	const struct supervisor_request *request = supervision->request;
	const struct console_settings settings = {
		.loop = supervision->loop,
		.log_folder = supervision->folder,
		.unkept = supervision->unkept,
		.lines_fd = request->prints_json ? STDERR_FILENO : STDOUT_FILENO,
		.chatter_fd = STDERR_FILENO,
		.job_words = request->job_words,
		.is_quiet = request->is_quiet,
		.color = request->color,
	};

	if (request->is_detached)
		return 0;
	return console_new(&settings, request->job, &supervision->reporter.console, err);
}

static void make_driver(struct supervision *supervision)
{
	const struct driver_settings settings = {
		.store = supervision->store,
		.backend = supervision->backend,
		.job_name = supervision->name,
		.listener = reporter_listener(&supervision->reporter),
		.on_passed = on_passed,
		.data = supervision,
	};

	supervision->driver = driver_new(&settings);
	supervision->timer = loop_new_timer(supervision->loop, look, supervision);
}

static void watch_ends(struct supervision *supervision, const struct guard *guard)
{
	end_signals_watch(&supervision->signals, supervision->loop, on_signal, supervision);
	supervision->outer_gone = loop_watch_readable(supervision->loop, guard->outer_gone_fd,
						      on_outer_gone, supervision);
}

/* As far up as it goes, and not only for the replicas of now: the job may be scaled up. */
static int raise_descriptor_limit(struct supervision *supervision, struct err *err)
{
	size_t n_replicas = (size_t) job_replica_count(supervision->request->job);

	if (descriptor_limit_raise(DESCRIPTORS_BESIDES + DESCRIPTORS_PER_REPLICA * n_replicas,
				   &supervision->descriptor_limit, err) < 0)
		return err_prefix(err, "job '%s' with %zu replicas", supervision->name, n_replicas);
	return 0;
}

static int open_store(struct supervision *supervision, struct err *err)
{
	struct store *store;
	int rc = store_sqlite_open(supervision->request->state_folder, &store, err);

	if (rc == 0)
		supervision->store = store_retrying_new(store, on_store_trouble, supervision);
	return rc;
}

/* The folder, where the job was started: relative paths of its command mean something there. */
static int make_folder(struct supervision *supervision, struct err *err)
{
	const struct supervisor_request *request = supervision->request;

	if (request->is_resumed)
		return state_folder_return_to_start(supervision->folder, supervision->name, err);
	int rc = state_folder_make_job(request->state_folder, supervision->uid, err);

	if (rc == 0)
		state_folder_keep_start(supervision->folder);
	return rc;
}

static int make_control(struct supervision *supervision, struct err *err)
{
	return control_new(supervision->loop, supervision->folder, on_wake, supervision,
			   &supervision->control, err);
}

/* Of a job that is resumed the record comes first: two may try, and one socket is there to have. */
static int make_control_and_record(struct supervision *supervision, struct err *err)
{
	bool is_resumed = supervision->request->is_resumed;
	int rc = is_resumed ? record_job(supervision, err) : make_control(supervision, err);

	if (rc == 0 && is_resumed)
		control_remove_left(supervision->folder);
	if (rc == 0)
		rc = is_resumed ? make_control(supervision, err) : record_job(supervision, err);
	return rc;
}

/* Everything that can fail, in the order in which it can be undone; the record comes last, so that
 * a job that is to be seen has a supervisor that can be reached. */
static int set_up(struct supervision *supervision, const struct guard *guard, struct err *err)
{
	int rc = process_need_proc(err);

	if (rc == 0)
		rc = loop_new(&supervision->loop, err);
	if (rc < 0)
		return rc;
	/* First, so that a Ctrl-C from now on ends the job in order and not this process. */
	watch_ends(supervision, guard);
	rc = raise_descriptor_limit(supervision, err);
	if (rc == 0)
		rc = open_store(supervision, err);
	if (rc == 0)
		rc = make_folder(supervision, err);
	if (rc == 0)
		state_folder_reserve(supervision->folder);
	if (rc == 0)
		rc = make_backend(supervision, err);
	if (rc == 0)
		rc = make_console(supervision, err);
	if (rc == 0)
		rc = exporter_new(supervision->loop, supervision->request->metrics,
				  supervision->request->job, &supervision->reporter.status,
				  &supervision->exporter, err);
	if (rc == 0)
		rc = make_control_and_record(supervision, err);
	return rc;
}

static void tear_down(struct supervision *supervision)
{
	end_signals_done(&supervision->signals);
	loop_watch_free(supervision->outer_gone);
	loop_watch_free(supervision->timer);
	driver_free(supervision->driver);
	if (supervision->backend)
		supervision->backend->functions->free(supervision->backend);
	control_free(supervision->control);
	exporter_free(supervision->exporter);
	reporter_done(&supervision->reporter);
	if (supervision->loop)
		loop_free(supervision->loop);
	if (supervision->store)
		supervision->store->functions->free(supervision->store);
	unkept_free(supervision->unkept);
	free(supervision->replaced_uid);
	free(supervision->folder);
}

/* What cannot be removed stays; there is nobody to tell who could do more about it. */
static void remove_folder(const struct supervision *supervision)
{
	int ignored =
		state_folder_remove_job(supervision->request->state_folder, supervision->uid, NULL);

	(void) ignored;
}

int supervision_run(const struct supervisor_request *request, const struct guard *guard,
		    loop_fn on_started, void *data, int *ret_exit_code, struct err *err)
{
	struct supervision supervision CLEANUP(tear_down) = {
		.request = request,
		.name = request->job->name,
		.uid = request->job->uid,
		.folder = state_folder_job(request->state_folder, request->job->uid),
		.unkept = unkept_new(),
		.on_started = on_started,
		.on_started_data = data,
		.reporter = {.status = {.exit_code = EXIT_OWN_FAULT}},
	};
	int rc = set_up(&supervision, guard, err);

	if (rc < 0) {
		if (!request->is_resumed)
			remove_folder(&supervision);
		return rc;
	}
	reporter_begin(&supervision.reporter, supervision.folder);
	if (request->is_resumed)
		job_log_add(supervision.reporter.log, supervision.created, "Normal", "TFJobResumed",
			    "the job is resumed");
	make_driver(&supervision);
	ask_for_pass(&supervision);
	loop_run(supervision.loop);
	if (request->prints_json)
		reporter_print(&supervision.reporter, supervision.uid, supervision.created,
			       supervision.told_version);
	if (supervision.is_gone)
		remove_folder(&supervision);
	*ret_exit_code = supervision.reporter.status.exit_code;
	return 0;
}
