#include "cli/watch.h"

#include "base/line_text.h"
#include "base/mem.h"
#include "io/loop.h"
#include "io/terminal.h"

#include <string.h>
#include <unistd.h>

struct watch {
	struct client *client;
	const char *name;
	instant until;
	msec period; /* the most between two reads; MSEC_NEVER: it is read only after changes */
	watch_fn fn;
	void *data;
	char *uid; /* NULL before the first read */
};

static void watch_done(struct watch *watch)
{
	mem_free_text(&watch->uid);
}

/* False when this is a later job of the same name. */
static bool is_same_job(struct watch *watch, const struct json *job)
{
	const char *uid = json_as_string(json_get_path(job, "metadata", "uid", NULL), "");

	if (!watch->uid)
		watch->uid = mem_copy_text(uid);
	return text_equals(watch->uid, uid);
}

static int inspect_watched_job(struct watch *watch, const struct json *job, bool *ret_is_enough,
			       struct err *err)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct status status;

	if (status_read(json_get(job, "status"), arena, &status, err))
		return err->code;
	*ret_is_enough = watch->fn(job, &status, watch->data);
	return 0;
}

/* When to read again without a change: at the end of the period, or of the watch. */
static instant next_watch_poll_time(const struct watch *watch)
{
	return instant_min(watch->until, loop_instant_after(watch->period));
}

static int follow_watched_job(struct watch *watch, enum watch_end *ret_end, struct err *err)
{
	struct client *client = watch->client;
	int64_t version = 0;

	for (bool is_enough = false; !is_enough;) {
		struct json *job CLEANUP(json_cleanup) = NULL;
		int64_t last_version = version;
		instant look_at = next_watch_poll_time(watch);
		bool is_gone = false;

		if (client->functions->wait_for_change(client, watch->name, version, look_at,
						       &version, &is_gone, err))
			return err->code;
		/* Woken early without a new version: no new version will come. */
		bool is_last =
			version == last_version &&
			(!instant_is_before(look_at, watch->until) || !loop_has_come(look_at));
		int rc = is_gone ? ERR_NOT_FOUND
				 : client->functions->get(client, watch->name, &job, err);

		if (rc == ERR_NOT_FOUND && !watch->uid)
			return err_set(err, ERR_NOT_FOUND, "job '%s' not found", watch->name);
		if (rc && rc != ERR_NOT_FOUND)
			return rc;
		*ret_end = WATCH_GONE;
		if (rc || !is_same_job(watch, job))
			return 0;
		*ret_end = WATCH_OVERDUE;
		if (is_last)
			return 0;
		*ret_end = WATCH_ENOUGH;
		if (inspect_watched_job(watch, job, &is_enough, err))
			return err->code;
	}
	return 0;
}

int watch_job(struct client *client, const char *name, instant until, watch_fn fn, void *data,
	      enum watch_end *ret_end, struct err *err)
{
	struct watch watch CLEANUP(watch_done) = {
		.client = client,
		.name = name,
		.until = until,
		.period = MSEC_NEVER,
		.fn = fn,
		.data = data,
	};

	return follow_watched_job(&watch, ret_end, err);
}

int watch_job_often(struct client *client, const char *name, msec period, watch_fn fn, void *data,
		    enum watch_end *ret_end, struct err *err)
{
	struct watch watch CLEANUP(watch_done) = {
		.client = client,
		.name = name,
		.until = INSTANT_NEVER,
		.period = period,
		.fn = fn,
		.data = data,
	};

	return follow_watched_job(&watch, ret_end, err);
}

bool watch_is_over(const struct json *job, const struct status *status, void *data)
{
	(void) job;
	(void) data;
	for (size_t i = 0; i < status->n_replicas; i++) {
		enum replica_state state = status->replicas[i].state;

		if (state == REPLICA_STARTING || state == REPLICA_RUNNING ||
		    state == REPLICA_STOPPING)
			return false;
	}
	return status_is_finished(status);
}

bool watch_is_left(const struct json *job, const struct status *status)
{
	const struct json *supervisor = json_get_path(job, "status", CLIENT_SUPERVISED_BY, NULL);

	return watch_is_over(job, status, NULL) && !*json_as_string(supervisor, "");
}

#define TO_THE_TOP "\x1b[H"
#define ERASE_REST_OF_LINE "\x1b[K"
#define ERASE_BELOW "\x1b[J"

void redraw_add(const char *lines, bool is_whole, struct text *screen)
{
	struct terminal_size size = terminal_size(STDOUT_FILENO);
	size_t n_rows = 0, len;
	const char *at = lines;

	text_add(screen, TO_THE_TOP);
	for (; *at; at += len + 1) {
		len = strcspn(at, "\n");
		n_rows += line_rows(at, len, (size_t) size.columns);
		if (!is_whole && n_rows + 1 >= (size_t) size.rows)
			break;
		line_text_add_lines(screen, at, len);
		text_add(screen, ERASE_REST_OF_LINE "\n");
	}
	if (*at)
		text_add(screen, "..." ERASE_REST_OF_LINE "\n");
	text_add(screen, ERASE_BELOW);
}
