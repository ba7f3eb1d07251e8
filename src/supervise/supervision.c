#include "supervise/supervision.h"

#include "io/process.h"
#include "spec/job.h"

#include <signal.h>
#include <unistd.h>

/* For what a job has printed, when its user does not want to wait any more. */
#define LAST_OUTPUT_TIME MSEC_PER_SECOND

/* Setting up. */

static void write_metrics(const struct metrics_passes *passes, struct text *text, void *data)
{
	const struct supervision *supervision = data;

	metrics_write(supervision->job, &supervision->reporter.status, passes, text);
	if (supervision->parts->add_metrics)
		supervision->parts->add_metrics(text, supervision->data);
}

int supervision_create_exporter(struct supervision *supervision, struct err *err)
{
	const struct exporter_settings settings = {
		.listening = supervision->request->metrics,
		.write = write_metrics,
		.data = supervision,
	};

	return exporter_new(supervision->loop, &settings, &supervision->exporter, err);
}

void supervision_end_exporter(struct supervision *supervision)
{
	exporter_free(TAKE(supervision->exporter));
}

int supervision_create_console(struct supervision *supervision, const char *log_folder,
			       struct unsaved_output *unsaved_output, struct err *err)
{
	const struct supervision_request *request = supervision->request;
	const struct console_settings settings = {
		.loop = supervision->loop,
		.log_folder = log_folder,
		.unsaved_output = unsaved_output,
		.lines_fd = request->prints_json ? STDERR_FILENO : STDOUT_FILENO,
		.chatter_fd = STDERR_FILENO,
		.job_words = request->job_words,
		.style = request->style,
	};

	return request->is_detached ? 0
				    : console_new(&settings, supervision->job,
						  &supervision->reporter.console, err);
}

/* Passes. */

void supervision_request_pass(void *data)
{
	struct supervision *supervision = data;

	if (supervision->phase != SUPERVISION_CLOSING && supervision->timer)
		loop_timer_arm_after(supervision->timer, 0);
}

void supervision_on_output(void *data)
{
	const struct supervision *supervision = data;

	if (supervision->reporter.console)
		console_on_output(supervision->reporter.console);
}

void supervision_on_trouble(const char *sentence, void *data)
{
	struct supervision *supervision = data;

	reporter_print_message(&supervision->reporter, sentence);
}

static void pass(void *data)
{
	struct supervision *supervision = data;

	if (supervision->phase == SUPERVISION_CLOSING) {
		loop_stop(supervision->loop);
		return;
	}
	if (supervision->parts->begin_pass && !supervision->parts->begin_pass(supervision->data))
		return;
	exporter_begin_pass(supervision->exporter);
	reconciler_run_pass(supervision->reconciler, loop_now());
}

static void on_passed(const struct reconciler_outcome *outcome, const struct err *err, void *data)
{
	struct supervision *supervision = data;

	exporter_end_pass(supervision->exporter);
	if (supervision->phase != SUPERVISION_RUNNING) /* it was left while the pass wrote */
		return;
	reporter_print_error(&supervision->reporter, err ? err->text : NULL);
	if (outcome->version)
		supervision->version = outcome->version;
	supervision->parts->end_pass(outcome, supervision->data);
}

/* Stop requests. */

void supervision_request_stop(struct supervision *supervision, enum stop_reason reason, msec grace)
{
	reconciler_request_stop(supervision->reconciler, reason, grace);
	supervision_request_pass(supervision);
}

static void interrupt(struct supervision *supervision)
{
	/* Nobody types at a terminal that has hung up: IPython's `!` (pexpect) sends SIGHUP and
	 * another SIGINT soon after Ctrl-C. */
	if (supervision->n_interrupts && supervision->is_hung_up)
		return;
	if (supervision->n_interrupts++) {
		supervision->parts->hurry(supervision->data);
		return;
	}
	reporter_print_stopping(&supervision->reporter, supervision->job,
				supervision->parts->replicas);
	supervision_request_stop(supervision, STOP_INTERRUPTED, -1);
}

/* An operator's kill, Slurm, systemd, a shell that ends: the user wants to know which. */
static void stop_by_signal(struct supervision *supervision, int number)
{
	pid_t sender = loop_signal_sender();
	char name[PROCESS_NAME_SIZE];

	if (process_read_name(sender, name))
		reporter_sayf(&supervision->reporter, "SIG%s from %s (PID %d): stopping job '%s'",
			      sigabbrev_np(number), name, (int) sender, supervision->job->name);
	supervision_request_stop(supervision, stop_signal_reason(number), -1);
}

static void on_supervision_signal(int number, void *data)
{
	struct supervision *supervision = data;

	supervision->is_left |= status_is_finished(&supervision->reporter.status);
	supervision->is_hung_up |= number == SIGHUP;
	if (supervision->phase == SUPERVISION_CLOSING) {
		/* Only the terminal is still waited for, and a user who asks to stop does not want
		 * to see it. */
		loop_stop(supervision->loop);
	} else if (supervision->parts->take_signal(number, supervision->data)) {
		return;
	} else if (number == SIGINT) {
		interrupt(supervision);
	} else if (number == SIGQUIT && !supervision->job->elastic_id) {
		supervision_request_stop(supervision, STOP_INTERRUPTED, -1);
		supervision->parts->hurry(supervision->data);
	} else {
		stop_by_signal(supervision, number);
	}
}

/* Slurm's --signal, and whatever else a script expects. */
static void on_user_signal(int number, void *data)
{
	struct supervision *supervision = data;

	if (supervision->phase != SUPERVISION_RUNNING)
		return;
	if (supervision->request->stops_at[number == SIGUSR2])
		stop_by_signal(supervision, number);
	else
		supervision->parts->pass_on(number, supervision->data);
}

void supervision_watch_signals(struct supervision *supervision)
{
	end_signals_watch(&supervision->signals, supervision->loop, on_supervision_signal,
			  supervision);
	for (size_t i = 0; i < ARRAY_LEN(supervision->user_signals); i++) {
		loop_watch_free(supervision->user_signals[i]);
		supervision->user_signals[i] = loop_watch_signal(
			supervision->loop, i == 0 ? SIGUSR1 : SIGUSR2, on_user_signal, supervision);
	}
}

/* Life cycle. */

void supervision_run(struct supervision *supervision)
{
	const struct reconciler_settings settings = {
		.store = supervision->store,
		.backend = supervision->backend,
		.job_name = supervision->job->name,
		.listener = reporter_listener(&supervision->reporter),
		.on_passed = on_passed,
		.data = supervision,
	};

	supervision->reconciler = reconciler_new(&settings);
	supervision->timer = loop_new_timer(supervision->loop, pass, supervision);
	supervision_request_pass(supervision);
	loop_run(supervision->loop);
}

void supervision_report_started(struct supervision *supervision)
{
	if (supervision->started)
		supervision->started(supervision->background);
	supervision->started = NULL;
}

static void on_drained(void *data)
{
	const struct supervision *supervision = data;

	loop_stop(supervision->loop);
}

void supervision_close(struct supervision *supervision)
{
	struct reporter *reporter = &supervision->reporter;

	supervision->phase = SUPERVISION_CLOSING;
	loop_timer_arm(supervision->timer,
		       supervision->is_left ? loop_instant_after(LAST_OUTPUT_TIME) : INSTANT_NEVER);
	if (reporter->console)
		console_finish(reporter->console, &reporter->status, on_drained, supervision);
	else
		loop_stop(supervision->loop);
}

void supervision_end_work(struct supervision *supervision)
{
	struct backend *backend = TAKE(supervision->backend);

	supervision->phase = SUPERVISION_CLOSING;
	loop_watch_free(TAKE(supervision->timer));
	reconciler_free(TAKE(supervision->reconciler));
	if (backend)
		backend->functions->free(backend);
}

int supervision_finish(struct supervision *supervision)
{
	struct reporter *reporter = &supervision->reporter;

	if (supervision->request->prints_json)
		reporter_print(reporter, supervision->job->uid, supervision->created,
			       supervision->version);
	if (supervision->request->notify && status_is_finished(&reporter->status))
		reporter_notify(reporter, supervision->job, supervision->request->notify);
	return reporter->status.exit_code;
}

void supervision_done(struct supervision *supervision)
{
	supervision_end_work(supervision);
	end_signals_done(&supervision->signals);
	for (size_t i = 0; i < ARRAY_LEN(supervision->user_signals); i++)
		loop_watch_free(TAKE(supervision->user_signals[i]));
	supervision_end_exporter(supervision);
	reporter_done(&supervision->reporter);
	store_cleanup(&supervision->store);
	loop_free(supervision->loop);
}
