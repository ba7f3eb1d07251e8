#include "kube/reflection.h"

#include "base/backoff.h"

#include <stdio.h>

#define FIRST_BACKOFF ((msec) 800)
#define LONGEST_BACKOFF (30 * MSEC_PER_SECOND)
#define QUIET_TIME (120 * MSEC_PER_SECOND) /* after which failures no longer count */
/* A watch that ends immediately without an event is a fault: it must not cause a busy loop. */
#define SHORTEST_WATCH MSEC_PER_SECOND
#define LONGEST_STREAM (60 * MSEC_PER_SECOND) /* until all objects have come */
#define LONGEST_SILENCE (90 * MSEC_PER_SECOND) /* without a bookmark */

static void plan(struct reflection *reflection, enum reflection_step step, instant at)
{
	reflection->step = step;
	reflection->wake_at = at;
}

static enum reflection_step list_step(const struct reflection *reflection)
{
	return reflection->is_without_stream ? REFLECTION_LIST : REFLECTION_STREAM;
}

void reflection_begin(struct reflection *reflection, instant now)
{
	*reflection = (struct reflection){0};
	plan(reflection, REFLECTION_STREAM, now);
}

void reflection_start(struct reflection *reflection, instant now)
{
	reflection->wake_at = INSTANT_NEVER;
	reflection->began_at = now;
	reflection->has_seen = false;
	if (reflection->step != REFLECTION_WATCH)
		reflection->is_synced = false;
}

static void store_reflection_version(struct reflection *reflection, const char *version)
{
	snprintf(reflection->version, sizeof(reflection->version), "%s", version);
}

static void note_sign(struct reflection *reflection)
{
	reflection->has_seen = true;
	reflection->output_idle = 0;
}

void reflection_listed(struct reflection *reflection, const char *version, instant now)
{
	reflection->is_synced = true;
	note_sign(reflection);
	store_reflection_version(reflection, version);
	if (reflection->step == REFLECTION_LIST)
		plan(reflection, REFLECTION_WATCH, now);
}

void reflection_observe(struct reflection *reflection, const char *version)
{
	note_sign(reflection);
	/* The objects of a stream come in any order: until all have come, no version is valid. */
	if (reflection->is_synced && *version)
		store_reflection_version(reflection, version);
}

static msec wait_after(int n_failures)
{
	return backoff_pause(FIRST_BACKOFF, LONGEST_BACKOFF, n_failures + 1);
}

static msec compute_watch_back_off(struct reflection *reflection, instant now, double jitter)
{
	if (instant_is_set(reflection->failed_at) &&
	    instant_since(reflection->failed_at, now) > QUIET_TIME)
		reflection->n_failures = 0;
	msec wait = wait_after(reflection->n_failures++);

	reflection->failed_at = now;
	return backoff_spread(wait, 1, jitter);
}

/* A watch that is lost after a while does not mean an overloaded server. Otherwise an idle watch,
 * which counts as lost for its silence, would pause longer and longer. */
static bool is_watch_lost_late(const struct reflection *reflection,
			       const struct reflection_end *end, instant now)
{
	return reflection->is_synced && !end->status.code &&
	       instant_since(reflection->began_at, now) >= wait_after(reflection->n_failures);
}

/* The server rejected the stream of all objects itself, not the user or the request rate. Or it is
 * older than 1.27, and treats the stream as a plain watch, which reports no end of the objects. */
static bool has_no_stream(const struct reflection *reflection, const struct reflection_end *end,
			  instant now)
{
	int code = end->status.code;
	bool is_refused = code && code != 401 && code != 403 && code != 410 && code != 429;

	return reflection->step == REFLECTION_STREAM && !reflection->is_synced &&
	       (is_refused || instant_since(reflection->began_at, now) >= LONGEST_STREAM);
}

void reflection_list_again(struct reflection *reflection, instant at)
{
	reflection->is_synced = false;
	reflection->version[0] = '\0';
	reflection->output_idle = 0;
	plan(reflection, list_step(reflection), at);
}

/* The version is no longer kept, which is no fault of the server. So the list is due immediately,
 * unless this happens repeatedly. */
static void schedule_fresh_list(struct reflection *reflection, instant now, double jitter)
{
	bool is_again = instant_is_set(reflection->too_old_at) &&
			instant_since(reflection->too_old_at, now) <= QUIET_TIME;

	reflection->too_old_at = now;
	reflection_list_again(
		reflection,
		instant_add(now, is_again ? compute_watch_back_off(reflection, now, jitter) : 0));
}

/* No longer kept; or, from a server that rejects its own versions, invalid. */
static bool is_version_refused(const struct reflection *reflection,
			       const struct reflection_end *end)
{
	int code = end->status.code;

	return code == 410 ||
	       (reflection->step == REFLECTION_WATCH && (code == 400 || code == 422));
}

/* Sums over watches, because each may end sooner. */
static bool is_silent_too_long(struct reflection *reflection, const struct reflection_end *end,
			       instant now)
{
	if (reflection->step == REFLECTION_WATCH && !reflection->has_seen && !end->status.code)
		reflection->output_idle += instant_since(reflection->began_at, now);
	return reflection->output_idle >= LONGEST_SILENCE;
}

void reflection_ended(struct reflection *reflection, const struct reflection_end *end, instant now,
		      double jitter)
{
	bool lived =
		reflection->has_seen || instant_since(reflection->began_at, now) >= SHORTEST_WATCH;

	if (is_silent_too_long(reflection, end, now)) {
		schedule_fresh_list(reflection, now, jitter);
		return;
	}
	if (!end->err_code && reflection->is_synced && lived) {
		plan(reflection, REFLECTION_WATCH, now);
		return;
	}
	if (has_no_stream(reflection, end, now)) {
		reflection->is_without_stream = true;
		plan(reflection, REFLECTION_LIST, now);
		return;
	}
	if (is_version_refused(reflection, end)) {
		schedule_fresh_list(reflection, now, jitter);
		return;
	}
	if (is_watch_lost_late(reflection, end, now))
		reflection->n_failures = 0;
	msec wait = compute_watch_back_off(reflection, now, jitter);

	if (end->status.retry_after > wait)
		wait = msec_min(end->status.retry_after, 60 * MSEC_PER_SECOND);
	/* A watch with a known version resumes as a watch. */
	plan(reflection, reflection->is_synced ? REFLECTION_WATCH : list_step(reflection),
	     instant_add(now, wait));
}
