/* Supervises one job in this process, on any back end: loop, console, metrics, reconciler, the
 * timer of its passes, signals, and the end.
 *
 * It only translates. Events of back ends, a signal or a timer request a reconcile pass, and its
 * outcome goes to the console, the job's own log and its metrics. Processes of this machine
 * (local/supervision.c) and clusters (cluster/supervision_set_up.c) provide what differs: store,
 * back end, and the functions of supervision_parts. */
#pragma once

#include "console/console.h"
#include "console/exporter.h"
#include "console/reporter.h"
#include "http/listening.h"
#include "jobs/reconciler.h"
#include "supervise/background.h"

/* How the user wants a job to be supervised, on any back end. */
struct supervision_request {
	const char *job_words; /* how command lines name the job: spec/job.h */
	const char *state_folder; /* $XDG_STATE_HOME/muster */
	const struct listening *metrics; /* where to serve the job's metrics; NULL: nowhere */
	struct console_style style;
	const char *copy_pattern; /* spec/output_path.h; NULL: no copies of output */
	const char *notify; /* a shell's command for the end of the job; NULL: none */
	bool stops_at[2]; /* SIGUSR1 and SIGUSR2 stop the job, with that signal; else its processes
			     get them */
	bool is_detached; /* leave a supervisor running that outlives the terminal */
	bool prints_json; /* print the TFJob on stdout at the end; output goes to stderr */
};

/* The phase, which only advances. */
enum supervision_phase {
	SUPERVISION_RUNNING,
	SUPERVISION_FINISHED, /* the job has finished; its remains are waited for */
	SUPERVISION_LEAVING, /* ends as soon as the lease is released; the job continues */
	SUPERVISION_CLOSING, /* only the terminal is waited for */
};

struct supervision_parts {
	const char *replicas; /* the name of replicas: "processes", "Pods" */
	/* Called before a pass; false: skip it. NULL: never skip. */
	bool (*begin_pass)(void *data);
	/* Called after a pass of a running supervision; it arms the timer for the next pass
	 * (outcome->wake_at) or ends. */
	void (*end_pass)(const struct reconciler_outcome *outcome, void *data);
	/* Returns true if it handled the signal in another way. */
	bool (*take_signal)(int number, void *data);
	/* The job must stop without a grace period: a second interrupt, or SIGQUIT. */
	void (*hurry)(void *data);
	/* Adds to the job's metrics. NULL: nothing. */
	void (*add_metrics)(struct text *text, void *data);
	/* Passes SIGUSR1 or SIGUSR2 on to the job's processes. */
	void (*pass_on)(int number, void *data);
};

/* Zero it to begin, except for the first members. */
struct supervision {
	const struct supervision_request *request;
	const struct supervision_parts *parts;
	void *data; /* for the parts */
	struct job *job; /* borrowed */
	msec created;
	background_started_fn started; /* NULL: no caller waits, or it was already notified */
	void *background;

	struct loop *loop;
	struct store *store;
	struct backend *backend;
	struct reconciler *reconciler; /* NULL: not started, or already ended */
	struct loop_watch *timer;
	struct end_signals signals;
	struct loop_watch *user_signals[2]; /* SIGUSR1, SIGUSR2 */
	struct reporter reporter;
	struct exporter *exporter; /* NULL: not requested */

	enum supervision_phase phase;
	int n_interrupts;
	bool is_hung_up; /* SIGHUP has come */
	bool is_left; /* a signal came after the job had finished: its reader has a second */
	int64_t version; /* of the last reported record */
};

/* Set-up. */

/* From now on signals stop the job gracefully instead of ending this process, or are passed on to
 * the job. */
void supervision_watch_signals(struct supervision *supervision);
/* Without a terminal there is none. `unsaved_output` may be NULL. */
int supervision_create_console(struct supervision *supervision, const char *log_folder,
			       struct unsaved_output *unsaved_output, struct err *err) MUST_USE;
/* Only if metrics were requested. */
int supervision_create_exporter(struct supervision *supervision, struct err *err) MUST_USE;

/* Closes the metrics and their socket. */
void supervision_end_exporter(struct supervision *supervision);

/* Begins with a pass; returns when the loop was stopped. */
void supervision_run(struct supervision *supervision);
/* Starts nothing more for the job. Store, signals and reporter stay. */
void supervision_end_work(struct supervision *supervision);
/* Returns the job's own exit code, after printing the job if requested. */
int supervision_finish(struct supervision *supervision);
void supervision_done(struct supervision *supervision); /* ends the work first */

/* During supervision_run. */

void supervision_request_pass(void *data); /* runs a pass soon; data is the supervision */
void supervision_request_stop(struct supervision *supervision, enum stop_reason reason, msec grace);
/* Notifies the command that waits for the job to be supervised in the background, once. */
void supervision_report_started(struct supervision *supervision);
/* Ends the supervision: returns from supervision_run when the terminal has all output. */
void supervision_close(struct supervision *supervision);

/* Callbacks for back ends; data is the supervision. */
void supervision_on_output(void *data);
void supervision_on_trouble(const char *sentence, void *data);
