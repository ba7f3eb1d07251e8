/* The two processes of a supervisor. The inner one is the parent of the workers: a supervision
 * (supervise/supervision.h) with the store of this machine, the local back end, and the versions
 * for clients of the control socket. */
#include "local/supervision.h"

#include "base/exit_code.h"
#include "io/file.h"
#include "io/guard.h"
#include "io/log.h"
#include "io/own_group.h"
#include "io/private_network.h"
#include "io/process.h"
#include "jobs/orphaned_job.h"
#include "jobs/processes.h"
#include "jobs/record.h"
#include "jobs/registration.h"
#include "jobs/state_folder.h"
#include "jobs/supervisor_id.h"
#include "local/control.h"
#include "local/gpu_metrics.h"
#include "reconcile/reconcile.h"

#include <signal.h>

#define RETRY_AFTER MSEC_PER_SECOND
/* A pipe, and a log with its index and a copy, which is written and at times read. */
#define DESCRIPTORS_PER_LOG 6
#define DESCRIPTORS_BESIDES 40 /* the store, the loop, the socket, the first three … */
/* One SIGINT may arrive twice: timeout(1) sends it to its child and to the child's group. */
#define SAME_KEY_PRESS ((msec) 200)

struct local_supervision {
	struct supervision base;
	const struct supervisor_request *request;
	char *folder; /* of this job */
	struct private_network network;
	struct store *jobs; /* of this machine; that of the supervision is for its own job alone */
	struct backend *processes; /* the local back end, of the supervision or of its agent */
	rlim_t descriptor_limit; /* ours, and that of replicas */
	struct control *control;
	bool is_driver_silent; /* that of the GPUs */
	struct unsaved_output *unsaved_output; /* lines that were only printed on the terminal */
	struct loop_watch *outer_gone;

	char *replaced_uid; /* the replaced job of this name; its directory still exists */
	instant interrupted_at; /* INSTANT_UNSET: not yet */
	bool is_gone; /* the job's record was deleted: delete its logs, too */
};

static void on_store_trouble(const char *sentence, void *data)
{
	struct supervision *base = data;
	char *told CLEANUP(mem_free_text) =
		sentence ? mem_format("%s; the job keeps running, and muster retries", sentence)
			 : mem_copy_text("the state of the job can be saved again");

	reporter_print_message(&base->reporter, told);
}

/* Reconcile passes. */

/* Less urgent steps, after the first replicas were started. */
static void on_first_start(struct local_supervision *supervision)
{
	struct supervision *base = &supervision->base;
	char *replaced_uid CLEANUP(mem_free_text) = TAKE(supervision->replaced_uid);
	struct err err = {0};

	supervision_report_started(base);
	if (replaced_uid &&
	    state_folder_remove_job(base->request->state_folder, replaced_uid, &err) < 0)
		reporter_print_message(&base->reporter, err.text);
}

/* For a launcher of torch.distributed.elastic that started us, or a program that reads as one. */
static void export_error(struct local_supervision *supervision)
{
	struct supervision *base = &supervision->base;
	const struct failure *failure = base->reporter.status.failure;
	const char *file = getenv("TORCHELASTIC_ERROR_FILE");
	struct err err;

	if (file && *file && failure && failure->role && !failure->machine &&
	    base->reporter.status.exit_code > 0 &&
	    backend_local_export_error(supervision->processes, failure, file, &err) < 0)
		reporter_print_message(&base->reporter, err.text);
}

/* The job has finished, and so has our work for it: removes its supervisor from the record. */
static void finish_local_supervision(struct local_supervision *supervision)
{
	struct supervision *base = &supervision->base;
	struct reporter *reporter = &base->reporter;
	struct err err = {0};

	on_first_start(supervision);
	export_error(supervision);
	state_folder_give_back(supervision->folder);
	supervision_end_exporter(base); /* a command that waits for the end finds it closed */
	/* Once the record says so, the job may be resumed, and its directory is no longer ours. All
	 * clients are disconnected after that: they then read the final status. */
	control_close(supervision->control);
	int rc = record_set_supervisor(base->store, base->job->name, base->job->uid, "", &err);
	control_free(TAKE(supervision->control));
	if (rc < 0 && rc != ERR_NOT_FOUND)
		reporter_print_message(reporter, err.text);
	if (store_retrying_is_behind(base->store))
		reporter_print_message(
			reporter,
			"cannot save the result of the job: `muster ps` will show it as lost");
	supervision_close(base);
}

static void finish_local_pass(const struct reconciler_outcome *outcome, void *data)
{
	struct local_supervision *supervision = data;
	struct supervision *base = &supervision->base;
	msec wake_at = outcome->wake_at;

	control_send_version(supervision->control, base->version);
	if (outcome->is_gone && !status_is_finished(&base->reporter.status)) {
		backend_local_kill_all(supervision->processes);
		reporter_end(&base->reporter, base->job, RECONCILE_DELETED,
			     "its record was deleted, so muster stopped its processes");
	}
	if (outcome->is_finished || outcome->is_gone) {
		supervision->is_gone = outcome->is_gone;
		finish_local_supervision(supervision);
		return;
	}
	if (wake_at > loop_now())
		on_first_start(supervision);
	if (store_retrying_is_behind(base->store))
		wake_at = msec_min(wake_at, loop_now() + RETRY_AFTER);
	loop_timer_arm_wall(base->timer, wake_at);
}

/* Stop requests. */

static void on_local_run_hurry(void *data)
{
	struct local_supervision *supervision = data;

	backend_local_kill_all(supervision->processes);
	supervision_request_pass(&supervision->base);
}

static void add_gpu_metrics(struct text *text, void *data)
{
	struct local_supervision *supervision = data;
	struct supervision *base = &supervision->base;

	if (!supervision->is_driver_silent)
		supervision->is_driver_silent =
			!gpu_metrics_write(base->job, &base->reporter.status, text);
}

static void pass_on_signal(int number, void *data)
{
	struct local_supervision *supervision = data;
	struct supervision *base = &supervision->base;

	if (guard_was_sent_to_all(loop_signal_sender()))
		return;
	size_t count = job_processes_signal(base->job->uid, number);
	const char *name = sigabbrev_np(number);

	if (count == 0)
		reporter_sayf(&base->reporter,
			      "SIG%s has no effect: no process of the job handles it", name);
	else
		reporter_sayf(&base->reporter, "SIG%s was passed on to %zu process%s", name, count,
			      count == 1 ? "" : "es");
}

static bool on_local_run_signal(int number, void *data)
{
	struct local_supervision *supervision = data;
	instant now = loop_monotonic_now(), before = supervision->interrupted_at;

	if (guard_was_sent_to_all(loop_signal_sender()))
		backend_local_note_signal(supervision->processes, number);
	if (number != SIGINT)
		return false;
	if (instant_is_set(before) && instant_since(before, now) < SAME_KEY_PRESS)
		return true;
	supervision->interrupted_at = now;
	return false;
}

/* A stop goes on, by this process alone: Python kills a program soon after Ctrl-C, while workers
 * still save (subprocess.run, Jupyter). False: no stop was requested. */
static bool continue_stop(struct supervision *base)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct store_record record CLEANUP(store_record_done) = {0};
	struct job *job CLEANUP(job_cleanup) = NULL;
	char *supervisor CLEANUP(mem_free_text) = NULL;
	struct status status;

	return base->store->functions->get(base->store, base->job->name, &record, NULL) == 0 &&
	       record_read(&record, arena, &job, &status, NULL) == 0 && job->stop_reason &&
	       supervisor_id_write_own(true, &supervisor, NULL) == 0 &&
	       record_set_supervisor(base->store, base->job->name, base->job->uid, supervisor,
				     NULL) == 0;
}

/* The outer process was killed: if we were killed next, no process would kill our workers. */
static void on_local_outer_killed(void *data)
{
	struct local_supervision *supervision = data;
	struct supervision *base = &supervision->base;
	struct err err = {0};

	loop_watch_enable(supervision->outer_gone, false);
	if (continue_stop(base))
		return;
	backend_local_kill_all(supervision->processes);
	base->phase = SUPERVISION_CLOSING;
	base->reporter.status.exit_code = EXIT_INTERNAL;
	if (orphaned_job_clean_up(base->store, base->job->name, base->job->uid, &err) < 0)
		reporter_print_message(&base->reporter, err.text);
	loop_stop(base->loop);
}

/* Setting up. */

static int record_job(struct local_supervision *supervision, struct err *err)
{
	const struct supervisor_request *request = supervision->request;
	struct supervision *base = &supervision->base;

	base->created = loop_now();
	if (request->is_resumed)
		return resumption_register(base->store, request->job, base->created, err);
	return registration_register(base->store, request->job, request->replaces_finished,
				     base->created, &supervision->replaced_uid, err);
}

static int make_backend(struct local_supervision *supervision, struct err *err)
{
	const struct supervisor_request *request = supervision->request;
	struct supervision *base = &supervision->base;
	const struct agent_settings agent_settings = {
		.request = request->agent,
		.loop = base->loop,
		.claims = base->store->claims,
		.on_news = supervision_request_pass,
		.on_trouble = supervision_on_trouble,
		.data = base,
	};
	struct agent *agent = NULL;
	int rc = request->agent ? agent_new(&agent_settings, &agent, err) : 0;

	if (rc < 0)
		return rc;
	char *jobs CLEANUP(mem_free_text) = state_folder_jobs(request->base.state_folder);
	const struct backend_local_settings settings = {
		.loop = base->loop,
		.claims = base->store->claims,
		.store = supervision->jobs,
		.gpus = request->gpus,
		.network = request->job->has_private_network ? &supervision->network : NULL,
		.join_world = agent ? agent_join_world : NULL,
		.world_data = agent,
		.jobs_folder = jobs,
		.state_folder = request->base.state_folder,
		.unsaved_output = supervision->unsaved_output,
		.copies = base->reporter.copies,
		.keeps_streams_apart = request->base.style.streams.are_apart,
		.input = request->input,
		.has_terminals = request->has_terminals,
		.name_columns = request->name_columns,
		.rotate_at = LIMIT_LOG_FILE,
		.descriptor_limit = supervision->descriptor_limit,
		.on_news = supervision_request_pass,
		.on_output = supervision_on_output,
		.on_trouble = supervision_on_trouble,
		.data = base,
	};

	supervision->processes = backend_local_new(&settings);
	base->backend =
		agent ? agent_accept(agent, supervision->processes) : supervision->processes;
	return 0;
}

/* To the maximum, and not only for the present replicas: the job may be scaled up. */
static int raise_descriptor_limit(struct local_supervision *supervision, struct err *err)
{
	const struct supervisor_request *request = supervision->request;
	const struct job *job = request->job;
	size_t n_replicas = (size_t) job_replica_count(job);
	size_t n_logs = n_replicas * (request->base.style.streams.are_apart ? 2 : 1);

	if (descriptor_limit_raise(DESCRIPTORS_BESIDES + DESCRIPTORS_PER_LOG * n_logs,
				   &supervision->descriptor_limit, err) < 0)
		return err_prefix(err, "job '%s' with %zu replicas", job->name, n_replicas);
	return 0;
}

/* The directory, where the job was started: relative paths of its command depend on it. */
static int make_local_job_folder(struct local_supervision *supervision, struct err *err)
{
	const struct supervisor_request *request = supervision->request;

	if (request->is_resumed)
		return state_folder_return_to_start(supervision->folder, request->job->name, err);
	int rc = state_folder_create_job(request->base.state_folder, request->job->uid, err);

	if (rc == 0)
		state_folder_keep_start(supervision->folder);
	return rc;
}

static int make_control(struct local_supervision *supervision, struct err *err)
{
	return control_new(supervision->base.loop, supervision->folder, supervision_request_pass,
			   &supervision->base, &supervision->control, err);
}

/* For a resumed job the record comes first: two processes may try, and there is only one socket. */
static int make_control_and_record(struct local_supervision *supervision, struct err *err)
{
	bool is_resumed = supervision->request->is_resumed;
	int rc = is_resumed ? record_job(supervision, err) : make_control(supervision, err);

	if (rc == 0 && is_resumed)
		control_remove_left(supervision->folder);
	if (rc == 0)
		rc = is_resumed ? make_control(supervision, err) : record_job(supervision, err);
	return rc;
}

/* Everything that can fail, in an order that can be undone. The record comes last, so that a
 * visible job has a supervisor that can be reached. */
static int set_up_local_supervision(struct local_supervision *supervision,
				    const struct guard *guard, struct err *err)
{
	struct supervision *base = &supervision->base;
	int rc = process_need_proc(err);

	if (rc == 0)
		rc = loop_new(&base->loop, err);
	if (rc < 0)
		return rc;
	/* First: a Ctrl-C from now on stops the job gracefully. */
	supervision_watch_signals(base);
	supervision->outer_gone = loop_watch_readable(base->loop, guard->outer_gone_fd,
						      on_local_outer_killed, supervision);
	rc = raise_descriptor_limit(supervision, err);
	if (rc == 0)
		rc = store_sqlite_open(base->request->state_folder, &supervision->jobs, err);
	if (rc == 0)
		base->store = store_retrying_new(supervision->jobs, on_store_trouble, base);
	if (rc == 0)
		rc = make_local_job_folder(supervision, err);
	if (rc == 0)
		state_folder_reserve(supervision->folder);
	if (rc == 0 && supervision->request->job->has_private_network) {
		rc = private_network_create(&supervision->network, err);
		if (rc < 0)
			err_prefix(err, "cannot create a private network");
	}
	reporter_create_copies(&base->reporter, base->request->copy_pattern,
			       &base->request->style.streams, base->job);
	if (rc == 0)
		rc = make_backend(supervision, err);
	if (rc == 0)
		rc = supervision_create_console(base, supervision->folder,
						supervision->unsaved_output, err);
	if (rc == 0)
		rc = supervision_create_exporter(base, err);
	if (rc == 0)
		rc = make_control_and_record(supervision, err);
	return rc;
}

static void free_local_supervision(struct local_supervision *supervision)
{
	supervision_end_work(&supervision->base);
	control_free(supervision->control);
	loop_watch_free(supervision->outer_gone);
	supervision_done(&supervision->base);
	private_network_done(&supervision->network);
	unsaved_output_free(supervision->unsaved_output);
	free(supervision->replaced_uid);
	free(supervision->folder);
}

/* A directory that cannot be removed stays; a report would not help. */
static void remove_folder(const struct supervisor_request *request)
{
	(void) !state_folder_remove_job(request->base.state_folder, request->job->uid, NULL);
}

/* Records the job (which has its uid) and supervises it. `started` (may be NULL) is called once,
 * when the first replicas were started or could not be. Returns when the job has finished and no
 * process of it is left. */
static int run_inner(const struct supervisor_request *request, const struct guard *guard,
		     background_started_fn started, void *background, int *ret_exit_code,
		     struct err *err)
{
	static const struct supervision_parts parts = {
		.replicas = "processes",
		.end_pass = finish_local_pass,
		.take_signal = on_local_run_signal,
		.hurry = on_local_run_hurry,
		.add_metrics = add_gpu_metrics,
		.pass_on = pass_on_signal,
	};
	struct local_supervision supervision CLEANUP(free_local_supervision) = {
		.base = {.request = &request->base,
			 .parts = &parts,
			 .data = &supervision,
			 .job = request->job,
			 .started = started,
			 .background = background},
		.request = request,
		.folder = state_folder_job(request->base.state_folder, request->job->uid),
		.network = PRIVATE_NETWORK_NONE,
		.unsaved_output = unsaved_output_new(),
	};
	struct supervision *base = &supervision.base;
	int rc = set_up_local_supervision(&supervision, guard, err);

	if (rc < 0) {
		if (!request->is_resumed)
			remove_folder(request);
		return rc;
	}
	reporter_begin(&base->reporter, supervision.folder);
	if (request->is_resumed)
		reporter_add_to_log(&base->reporter, base->created, "Normal", "TFJobResumed",
				    "resuming the job");
	supervision_run(base);
	*ret_exit_code = supervision_finish(base);
	if (supervision.is_gone)
		remove_folder(request);
	return 0;
}

/* The outer process of a supervisor: it forks, waits and reports to the user.
 *
 * Attached: guard_fork splits the process in two. Both return to the caller: the inner one when the
 * job has finished, the outer one once no process is left, with the same exit code.
 *
 * Detached: first forks a daemon (supervise/background.h), which does the same without a terminal.
 * Its parent waits until the first replicas were started. */

static int clean_up_orphaned_run(const struct supervisor_request *request, struct err *err)
{
	struct store *store CLEANUP(store_cleanup) = NULL;
	int rc = store_sqlite_open(request->base.state_folder, &store, err);

	return rc < 0 ? rc
		      : orphaned_job_clean_up(store, request->job->name, request->job->uid, err);
}

/* The inner process was killed or crashed. Its descendants were killed already; the rest is to
 * report it, on the terminal and in the record. */
static int report_supervisor_lost(const struct supervisor_request *request, int signal_number,
				  struct err *err)
{
	const char *name = request->job->name;
	int rc = clean_up_orphaned_run(request, err);

	if (rc < 0)
		return err_prefix(err, "muster itself was killed, so job '%s' was stopped", name);
	return err_set(err, ERR_IO,
		       "muster itself was killed by signal %d (SIG%s), so job '%s' was stopped",
		       signal_number, sigabbrev_np(signal_number), name);
}

/* NULL: there can be none. Slurm has its own for each step, in which it signals and kills all. */
static char *make_group(void)
{
	char *group = NULL;
	struct err err;

	if (getenv("SLURM_JOB_ID"))
		return NULL;
	if (own_group_create(&group, &err) < 0)
		log_debug("no control group for the job: %s", err.text);
	return group;
}

/* Splits into outer and inner, and returns in both. */
static int supervise_local_job(background_started_fn started, void *background, int *ret_exit_code,
			       struct err *err, void *data)
{
	const struct supervisor_request *request = data;
	char *group CLEANUP(mem_free_text) = make_group();
	struct guard guard;
	int rc = guard_fork(group, &guard, err);

	if (rc < 0)
		return rc;
	if (guard.is_inner) {
		guard_leave_group();
		rc = run_inner(request, &guard, started, background, ret_exit_code, err);
		if (group && guard_is_outer_gone(&guard))
			own_group_end(group);
		return rc;
	}
	if (guard.was_lost)
		return report_supervisor_lost(request, guard.exit_code - EXIT_BY_SIGNAL, err);
	if (guard.exit_code == EXIT_BUG) /* it has printed why, or the job exited so */
		rc = clean_up_orphaned_run(request, err);
	*ret_exit_code = guard.exit_code;
	return rc;
}

int supervisor_run(const struct supervisor_request *request, int *ret_exit_code, struct err *err)
{
	if (!request->is_resumed)
		job_uid_set_new(request->job);
	return background_run(request->base.is_detached, supervise_local_job, (void *) request,
			      ret_exit_code, err);
}
