/* One job seen through by this process, wherever it runs: loop, console, metrics, reconciler, the
 * timer of its passes, signals, and the end.
 *
 * It only translates: news, a signal or a timer ask for a pass of the reconciler, and what the
 * reconciler says goes to the console, the job's own log and its metrics. What is not the same for
 * processes of this machine (local/supervision.c) and for a cluster (cluster/supervision_set_up.c)
 * they hand in: store, back end, and the functions of supervision_parts. */
#pragma once

#include "console/exporter.h"
#include "console/reporter.h"
#include "jobs/reconciler.h"
#include "supervise/background.h"
#include "supervise/end_signals.h"
#include "supervise/request.h"

/* How far it has come. Each leads to a later one only. */
enum supervision_phase {
	SUPERVISION_RUNNING,
	SUPERVISION_FINISHED, /* the job is; what is left of it is waited for */
	SUPERVISION_LEAVING, /* over here as soon as the job is let go; it goes on */
	SUPERVISION_CLOSING, /* over, but for the terminal */
};

struct supervision_parts {
	const char *replicas; /* what they are called: "processes", "Pods" */
	/* Before a pass: false when the reconciler is not to look now. NULL: it always looks. */
	bool (*begin_pass)(void *data);
	/* After a pass of a running supervision; says when the next one is due, on its timer. */
	void (*end_pass)(const struct reconciler_outcome *outcome, void *data);
	/* True: the signal means something else, and that was done. */
	bool (*take_signal)(int number, void *data);
	/* The job was asked to stop, and gets no time for it: a second interrupt, or SIGQUIT. */
	void (*hurry)(void *data);
};

/* Zero it to begin, but for what stands first. */
struct supervision {
	const struct supervision_request *request;
	const struct supervision_parts *parts;
	void *data; /* of the parts */
	struct job *job; /* borrowed */
	msec created;
	background_started_fn started; /* NULL: nobody waits for it, or it was told */
	void *background;

	struct loop *loop;
	struct store *store;
	struct backend *backend;
	struct reconciler *reconciler; /* NULL: nothing was started, or nothing is any more */
	struct loop_watch *timer;
	struct end_signals signals;
	struct reporter reporter;
	struct exporter *exporter; /* NULL: nobody asked for it */

	enum supervision_phase phase;
	int n_interrupts;
	int64_t version; /* of the record that was told last */
};

/* Setting up. */

/* From now on signals end the job in order, and not this process. */
void supervision_watch_signals(struct supervision *supervision);
/* Not without a terminal. `unkept` may be NULL. */
int supervision_create_console(struct supervision *supervision, const char *log_folder,
			       struct unsaved_output *unsaved_output, struct err *err) MUST_USE;
/* Where somebody asked for it. */
int supervision_create_exporter(struct supervision *supervision, struct err *err) MUST_USE;

/* Its metrics are there no more, and neither is their socket. */
void supervision_end_exporter(struct supervision *supervision);

/* Begins with a pass; returns when the loop was stopped. */
void supervision_run(struct supervision *supervision);
/* Nothing more is started for the job. What is there of the store, the signals and the reporter
 * goes on. */
void supervision_end_work(struct supervision *supervision);
/* The job's own exit code, after it was printed, where that was asked for. */
int supervision_finish(struct supervision *supervision);
void supervision_done(struct supervision *supervision); /* ends the work first */

/* While it runs. */

void supervision_request_pass(void *data); /* the supervision; soon; as news of back ends do */
void supervision_request_stop(struct supervision *supervision, enum stop_reason reason, msec grace);
/* To the command that waits for the job to be supervised in the background, once. */
void supervision_report_started(struct supervision *supervision);
/* Over: returns from supervision_run when the terminal has all lines. */
void supervision_close(struct supervision *supervision);

/* For back ends; data is the supervision. */
void supervision_on_output(void *data);
void supervision_on_trouble(const char *sentence, void *data);
