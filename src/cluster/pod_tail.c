#include "cluster/pod_tail.h"

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

struct pod_tail {
	struct pod_tail_settings settings;
	struct loop_watch *timer;
	struct kube_call *call;
	char *pod_name, *uid; /* of the last requested Pod; NULL: none */
	int attempt, n_ends_in_place;
	struct text text;
};

static void finish_pod_tail(struct pod_tail *tail)
{
	kube_call_cancel(TAKE(tail->call));
	loop_timer_arm(tail->timer, INSTANT_NEVER);
	tail->settings.on_done(tail->settings.data);
}

static void on_timer(void *data)
{
	struct pod_tail *tail = data;

	if (tail->call)
		finish_pod_tail(tail);
}

static void on_pod_tail_bytes(const char *bytes, size_t len, void *data)
{
	struct pod_tail *tail = data;

	if (tail->text.len + len <= MOST_BYTES)
		text_add_bytes(&tail->text, bytes, len);
}

/* A container that never ran has no lines, which is reported elsewhere. */
static void on_pod_tail_end(struct json *object, const struct kube_status *status,
			    const struct err *err, void *data)
{
	struct pod_tail *tail = data;

	(void) object, (void) status;
	tail->call = NULL;
	if (err && err->code == ERR_REFUSED)
		tail->settings.on_trouble(err->text, tail->settings.data);
	else if (err)
		log_debug("cannot read the last lines of a Pod: %s", err->text);
	finish_pod_tail(tail);
}

struct pod_tail *pod_tail_new(const struct pod_tail_settings *settings)
{
	struct pod_tail *tail = mem_new(sizeof(*tail));

	tail->settings = *settings;
	tail->timer = loop_new_timer(kube_api_loop(settings->api), on_timer, tail);
	return tail;
}

static void clear_pod_tail(struct pod_tail *tail)
{
	text_done(&tail->text);
	free(tail->pod_name);
	free(tail->uid);
}

void pod_tail_free(struct pod_tail *tail)
{
	if (!tail)
		return;
	kube_call_cancel(tail->call);
	loop_watch_free(tail->timer);
	clear_pod_tail(tail);
	free(tail);
}

void pod_tail_ask(struct pod_tail *tail, const struct job_pod *pod)
{
	bool is_started_again = pod->seen.phase == OBSERVED_RUNNING && pod->n_restarts > 0 &&
				pod->seen.n_ends_in_place == pod->n_restarts;
	const struct kube_parameter parameters[] = {
		{"container", pod->container},
		{"tailLines", WORD_OF(LIMIT_LAST_LINES)},
		{"limitBytes", WORD_OF(MOST_BYTES)},
		{is_started_again ? "previous" : NULL, "true"},
		{0},
	};
	const struct kube_request request = {
		.verb = KUBE_GET,
		.resource = &kube_pods,
		.namespace_name = tail->settings.namespace_name,
		.name = pod->name,
		.subresource = "log",
		.parameters = parameters,
		.is_relayed = true,
	};

	kube_call_cancel(tail->call);
	clear_pod_tail(tail);
	tail->pod_name = mem_copy_text(pod->name);
	tail->uid = mem_copy_text(pod->uid);
	tail->attempt = pod->seen.attempt;
	tail->n_ends_in_place = pod->seen.n_ends_in_place;
	tail->call = kube_stream_new(tail->settings.api, &request, PATIENCE, on_pod_tail_bytes,
				     on_pod_tail_end, tail);
	loop_timer_arm_after(tail->timer, PATIENCE);
}

bool pod_tail_is_of(const struct pod_tail *tail, const char *pod_name, int attempt,
		    const struct job_pod *pod)
{
	bool is_newer = pod && pod->seen.attempt == attempt &&
			pod->seen.n_ends_in_place > tail->n_ends_in_place;

	return text_equals(tail->pod_name, pod_name) && tail->attempt == attempt && !is_newer;
}

bool pod_tail_is_open(const struct pod_tail *tail, const char *uid)
{
	return tail && tail->call && (!uid || text_equals(tail->uid, uid));
}

static const char *copy_line(const char *line, size_t len, struct arena *arena)
{
	size_t n_kept = len < LIMIT_LAST_LINE_LENGTH ? len : LIMIT_LAST_LINE_LENGTH;
	char *copy = arena_take(arena, n_kept + 1);

	memcpy(copy, line, n_kept);
	return copy;
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

		lines[count] = copy_line(at, len, arena);
		at += len + 1;
	}
	*ret_printed = (struct printed){.lines = lines, .count = count};
	return 0;
}
