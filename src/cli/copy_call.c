#include "cli/cluster_support.h"

#include "base/mem.h"
#include "base/text.h"
#include "cli/replica_pod.h"
#include "command/command.h"
#include "command/output.h"
#include "io/loop.h"
#include "io/terminal.h"
#include "pods/copy.h"
#include "supervise/background.h"

#include <stdio.h>
#include <unistd.h>

#define BEGINNING (1 * MSEC_PER_SECOND) /* a shorter copy needs no progress line */
#define STEP ((msec) 250)
#define CLEAR "\r\033[K"

struct copying {
	const struct copy_call *call;
	struct replica_pod pod;
	struct kube_copy *copy; /* NULL: it has ended */
	struct end_signals signals;
	int exit_code;

	struct loop_watch *progress; /* timer of the line that shows it; NULL: there is none */
	instant started;
	bool is_line_shown;
};

static void print_copy_progress(void *data)
{
	struct copying *copying = data;
	uint64_t bytes = copying->copy ? kube_copy_bytes(copying->copy) : 0;
	msec taken = instant_since(copying->started, loop_monotonic_now());
	char *amount CLEANUP(mem_free_text) = amount_of_bytes(bytes);
	char *rate CLEANUP(mem_free_text) = amount_of_bytes(
		(uint64_t) ((double) bytes * MSEC_PER_SECOND / (double) (taken > 0 ? taken : 1)));

	fprintf(stderr, CLEAR "%s, %s/s", amount, rate);
	copying->is_line_shown = true;
	loop_timer_arm_after(copying->progress, STEP);
}

static void end_copy_progress(struct copying *copying)
{
	loop_watch_free(TAKE(copying->progress));
	if (copying->is_line_shown)
		fputs(CLEAR, stderr);
	copying->is_line_shown = false;
}

static void copying_done(struct copying *copying)
{
	end_signals_done(&copying->signals);
	end_copy_progress(copying);
	kube_copy_cancel(copying->copy);
	replica_pod_done(&copying->pod);
}

/* The copy. */

/* Of several directories, the message names the one that failed. */
static int report_copy_failure(const struct copying *copying, const struct err *err)
{
	const struct copy_place *place = copying->call->place;
	struct err told = *err;

	if (copying->call->is_fetch)
		err_set(&told, (enum err_code) err->code, "%s-%d:%s was not fetched: %s",
			place->role, place->index, place->path, err->text);
	return output_fail(&told);
}

static void on_copy_end(const char *warnings, const struct err *err, void *data)
{
	struct copying *copying = data;
	const struct copy_place *place = copying->call->place;

	end_copy_progress(copying);
	if (!err && copying->call->is_fetch) {
		char *what CLEANUP(mem_free_text) = kube_copy_describe(copying->copy);

		output_print_message("fetched %s-%d:%s: %s", place->role, place->index, place->path,
				     what);
	}
	copying->copy = NULL;
	if (!err && *warnings)
		output_print_message("%s", warnings);
	if (err)
		copying->exit_code = report_copy_failure(copying, err);
	loop_stop(copying->pod.api->loop);
}

static void on_copy_signal(int number, void *data)
{
	struct copying *copying = data;

	copying->exit_code = EXIT_BY_SIGNAL + number;
	end_copy_progress(copying);
	loop_stop(copying->pod.api->loop);
}

static int begin_copy(struct copying *copying, struct err *err)
{
	const struct copy_call *call = copying->call;
	const struct kube_copy_request request = {
		.container = copying->pod.container,
		.there = call->place->path,
		.here = call->here,
		.must_have_files = call->is_fetch,
		.on_end = on_copy_end,
		.data = copying,
	};

	return call->is_to_pod ? kube_copy_to(copying->pod.api, &request, &copying->copy, err)
			       : kube_copy_from(copying->pod.api, &request, &copying->copy, err);
}

int copy_call_run(const struct copy_call *call)
{
	struct copying copying CLEANUP(copying_done) = {.call = call};
	struct err err = {0};

	if (replica_pod_connect(call->options, call->place, &copying.pod, &err) ||
	    replica_pod_find(&copying.pod, call->container, &err) || begin_copy(&copying, &err))
		return report_copy_failure(&copying, &err);
	end_signals_watch(&copying.signals, copying.pod.api->loop, on_copy_signal, &copying);
	copying.started = loop_monotonic_now();
	if (isatty(STDERR_FILENO) && terminal_understands_escapes(STDERR_FILENO)) {
		copying.progress =
			loop_new_timer(copying.pod.api->loop, print_copy_progress, &copying);
		loop_timer_arm_after(copying.progress, BEGINNING);
	}
	loop_run(copying.pod.api->loop);
	return copying.exit_code;
}
