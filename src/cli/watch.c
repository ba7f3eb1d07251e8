#include "cli/watch.h"

#include "base/line_text.h"
#include "io/terminal.h"

#include <unistd.h>

/* After a supervisor was killed, its job is cleaned up in less than this. */
#define SETTLING_TIME (10 * MSEC_PER_SECOND)

int watch_job(struct client *client, const char *name, instant until, msec period, watch_fn fn,
	      void *data, enum watch_end *ret_end, struct err *err)
{
	char *uid CLEANUP(mem_free_text) = NULL; /* NULL before the first read */
	int64_t version = 0;

	for (bool is_enough = false; !is_enough;) {
		struct json *job CLEANUP(json_cleanup) = NULL;
		struct arena *arena CLEANUP(arena_cleanup) = arena_new();
		struct status status;
		int64_t last_version = version;
		/* When to read without a change: at the end of the period, or of the watch. */
		instant look_at = instant_min(until, loop_instant_after(period));
		bool is_gone = false;
		int rc = client->functions->wait_for_change(client, name, version, look_at,
							    &version, &is_gone, err);

		if (rc < 0)
			return rc;
		/* Woken early without a new version: no new version will come. */
		bool is_last = version == last_version &&
			       (!instant_is_before(look_at, until) || !loop_has_come(look_at));
		rc = is_gone ? ERR_NOT_FOUND : client->functions->get(client, name, &job, err);
		const char *own_uid =
			json_as_string(json_get_path(job, "metadata", "uid", NULL), "");

		if (rc == ERR_NOT_FOUND && !uid)
			return err_set(err, ERR_NOT_FOUND, "job '%s' not found", name);
		if (rc && rc != ERR_NOT_FOUND)
			return rc;
		if (!uid)
			uid = mem_copy_text(own_uid);
		*ret_end = WATCH_GONE;
		if (rc || !text_equals(uid, own_uid))
			return 0;
		*ret_end = WATCH_OVERDUE;
		if (is_last)
			return 0;
		*ret_end = WATCH_ENOUGH;
		rc = status_read(json_get(job, "status"), arena, &status, err);
		if (rc < 0)
			return rc;
		is_enough = fn(job, &status, data);
	}
	return 0;
}

int watch_until_settled(struct client *client, const char *name, struct err *err)
{
	enum watch_end end;

	return watch_job(client, name, loop_instant_after(SETTLING_TIME), MSEC_NEVER, watch_is_over,
			 NULL, &end, err);
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
