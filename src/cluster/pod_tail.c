#include "cluster/backend_state.h"

#include "base/text.h"
#include "io/log.h"
#include "spec/limits.h"

#include <stdlib.h>
#include <string.h>

/* How long the Pod stays for its lines, and blocks the name of the next attempt. */
#define PATIENCE MSEC_PER_SECOND
#define WORD_OF(macro) WORD_OF_VALUE(macro)
#define WORD_OF_VALUE(value) #value
/* Never reached, since a container runtime breaks lines at 16 KiB. */
#define MOST_BYTES 524288

static void finish_pod_tail(struct kube_backend *backend)
{
	kube_call_cancel(TAKE(backend->tail.call));
	loop_timer_arm(backend->tail.timer, INSTANT_NEVER);
	kube_backend_on_log_complete(backend);
}

static void on_timer(void *data)
{
	struct kube_backend *backend = data;

	if (backend->tail.call)
		finish_pod_tail(backend);
}

static void on_pod_tail_bytes(const char *bytes, size_t len, void *data)
{
	struct kube_backend *backend = data;

	if (backend->tail.text.len + len <= MOST_BYTES)
		text_add_bytes(&backend->tail.text, bytes, len);
}

/* A container that never ran has no lines, which is reported elsewhere. */
static void on_pod_tail_end(const struct kube_result *result, void *data)
{
	struct kube_backend *backend = data;
	const struct err *err = result->err;

	if (err && err->code == ERR_REFUSED)
		kube_backend_trouble(backend, err);
	else if (err)
		log_debug("cannot read the last lines of a Pod: %s", err->text);
	finish_pod_tail(backend);
}

void pod_tail_done(struct pod_tail *tail)
{
	kube_call_cancel(tail->call);
	loop_watch_free(tail->timer);
	text_done(&tail->text);
	free(tail->pod_name);
	free(tail->uid);
}

void pod_tail_ask(struct kube_backend *backend, const struct job_pod *pod)
{
	bool is_started_again = pod->seen.phase == OBSERVED_RUNNING && pod->n_restarts > 0 &&
				pod->seen.n_ends_in_place == pod->n_restarts;
	const struct kube_parameter parameters[] = {
		{"container", pod->container},
		{"tailLines", WORD_OF(LIMIT_LAST_LINES)},
		{"limitBytes", WORD_OF(MOST_BYTES)},
		{"previous", is_started_again ? "true" : NULL},
		{0},
	};
	struct kube_request request =
		kube_pod_request(backend->settings.job->name_space, pod->name, "log", parameters);

	request.is_relayed = true;
	pod_tail_done(&backend->tail);
	backend->tail = (struct pod_tail){
		.timer = loop_new_timer(kube_api_loop(backend->settings.api), on_timer, backend),
		.pod_name = mem_copy_text(pod->name),
		.uid = mem_copy_text(pod->uid),
		.attempt = pod->seen.attempt,
		.n_ends_in_place = pod->seen.n_ends_in_place,
	};
	kube_stream_start(&backend->tail.call, backend->settings.api, &request, PATIENCE,
			  on_pod_tail_bytes, on_pod_tail_end, backend);
	loop_timer_arm_after(backend->tail.timer, PATIENCE);
}

bool pod_tail_is_of(const struct pod_tail *tail, const char *pod_name, int attempt,
		    const struct job_pod *pod)
{
	bool is_newer = pod && pod->seen.attempt == attempt &&
			pod->seen.n_ends_in_place > tail->n_ends_in_place;

	return text_equals(tail->pod_name, pod_name) && tail->attempt == attempt && !is_newer;
}

int pod_tail_read(const struct pod_tail *tail, struct arena *arena, struct printed *ret_printed,
		  struct err *err)
{
	const char **lines = arena_take_array(arena, LIMIT_LAST_LINES, sizeof(*lines));
	const char *at = text_of(&tail->text), *end = at + tail->text.len;
	size_t count = 0;

	if (tail->call)
		return err_set(err, ERR_UNREACHABLE, "the log of Pod '%s' did not arrive",
			       tail->pod_name);
	for (; at < end && count < LIMIT_LAST_LINES; count++) {
		const char *newline = memchr(at, '\n', (size_t) (end - at));
		size_t len = (size_t) ((newline ? newline : end) - at);

		size_t n_kept = len < LIMIT_LAST_LINE_LENGTH ? len : LIMIT_LAST_LINE_LENGTH;

		lines[count] = arena_format(arena, "%.*s", (int) n_kept, at);
		at += len + 1;
	}
	*ret_printed = (struct printed){.lines = lines, .count = count};
	return 0;
}
