#include "cli/cluster_support.h"

#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"
#include "cli/replica_pod.h"
#include "command/command.h"
#include "command/output.h"
#include "io/loop.h"
#include "io/terminal.h"
#include "pods/copy.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct copy_progress;

#define BEGINNING (1 * MSEC_PER_SECOND) /* a shorter copy needs no progress line */
#define STEP ((msec) 250)
#define CLEAR "\r\033[K"

struct copy_progress {
	struct loop_watch *timer;
	uint64_t (*count_bytes)(void *data);
	void *data;
	instant started;
	bool is_shown;
};

static void print_copy_progress(void *data)
{
	struct copy_progress *progress = data;
	uint64_t bytes = progress->count_bytes(progress->data);
	msec taken = instant_since(progress->started, loop_monotonic_now());
	char *amount CLEANUP(mem_free_text) = amount_of_bytes(bytes);
	char *rate CLEANUP(mem_free_text) = amount_of_bytes(
		(uint64_t) ((double) bytes * MSEC_PER_SECOND / (double) (taken > 0 ? taken : 1)));

	fprintf(stderr, CLEAR "%s, %s/s", amount, rate);
	progress->is_shown = true;
	loop_timer_arm_after(progress->timer, STEP);
}

/* `count_bytes` returns the number of bytes copied so far. */
static struct copy_progress *copy_progress_new(struct loop *loop,
					       uint64_t (*count_bytes)(void *data), void *data)
{
	struct copy_progress *progress = mem_new(sizeof(*progress));

	progress->count_bytes = count_bytes;
	progress->data = data;
	progress->started = loop_monotonic_now();
	if (isatty(STDERR_FILENO) && terminal_understands_escapes(STDERR_FILENO)) {
		progress->timer = loop_new_timer(loop, print_copy_progress, progress);
		loop_timer_arm_after(progress->timer, BEGINNING);
	}
	return progress;
}

/* Erases the line; NULL is fine. */
static void copy_progress_end(struct copy_progress *progress)
{
	if (!progress)
		return;
	loop_watch_free(TAKE(progress->timer));
	if (progress->is_shown)
		fputs(CLEAR, stderr);
	progress->is_shown = false;
}

static void copy_progress_free(struct copy_progress *progress)
{
	copy_progress_end(progress);
	free(progress);
}

struct copying {
	const struct copy_call *call;
	struct replica_pod pod;
	struct kube_copy *copy;
	struct copy_progress *progress;
	struct loop_watch *signals[3];
	int exit_code;
};

static void copying_done(struct copying *copying)
{
	for (size_t i = 0; i < ARRAY_LEN(copying->signals); i++)
		loop_watch_free(copying->signals[i]);
	copy_progress_free(copying->progress);
	kube_copy_cancel(copying->copy);
	replica_pod_done(&copying->pod);
}

/* The copy. */

static void print_fetched_files(const struct copying *copying)
{
	const struct copy_place *place = copying->call->place;
	char *what CLEANUP(mem_free_text) = kube_copy_describe(copying->copy);

	output_print_message("fetched %s-%d:%s: %s", place->role, place->index, place->path, what);
}

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

	copy_progress_end(copying->progress);
	if (!err && copying->call->is_fetch)
		print_fetched_files(copying);
	copying->copy = NULL;
	if (!err && *warnings)
		output_print_message("%s", warnings);
	if (err)
		copying->exit_code = report_copy_failure(copying, err);
	loop_stop(copying->pod.loop);
}

static uint64_t count_bytes(void *data)
{
	const struct copying *copying = data;

	return copying->copy ? kube_copy_bytes(copying->copy) : 0;
}

static void on_copy_signal(int number, void *data)
{
	struct copying *copying = data;

	copying->exit_code = EXIT_BY_SIGNAL + number;
	copy_progress_end(copying->progress);
	loop_stop(copying->pod.loop);
}

static void watch_copy_signals(struct copying *copying)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		copying->signals[i] =
			loop_watch_signal(copying->pod.loop, numbers[i], on_copy_signal, copying);
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
	watch_copy_signals(&copying);
	copying.progress = copy_progress_new(copying.pod.loop, count_bytes, &copying);
	loop_run(copying.pod.loop);
	return copying.exit_code;
}
