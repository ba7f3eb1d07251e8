#include "cli/watch.h"

#include "base/mem.h"
#include "base/text.h"

struct watch {
	watch_fn fn;
	void *data;
	char *uid; /* NULL before the first look */
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

static int look(struct watch *watch, const struct json *job, bool *ret_is_enough, struct err *err)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct status status;

	if (status_read(json_get(job, "status"), arena, &status, err))
		return err->code;
	*ret_is_enough = watch->fn(job, &status, watch->data);
	return 0;
}

int watch_job(struct client *client, const char *name, msec until, watch_fn fn, void *data,
	      enum watch_end *ret_end, struct err *err)
{
	struct watch watch CLEANUP(watch_done) = {.fn = fn, .data = data};
	int64_t version = 0;

	for (bool is_enough = false; !is_enough;) {
		struct json *job CLEANUP(json_cleanup) = NULL;
		int64_t last_version = version;
		bool is_gone = false;

		if (client->functions->wait_for_change(client, name, version, until, &version,
						       &is_gone, err))
			return err->code;
		int rc = is_gone ? ERR_NOT_FOUND : client->functions->get(client, name, &job, err);

		if (rc == ERR_NOT_FOUND && !watch.uid)
			return err_set(err, ERR_NOT_FOUND, "job '%s' not found", name);
		if (rc && rc != ERR_NOT_FOUND)
			return rc;
		*ret_end = WATCH_GONE;
		if (rc || !is_same_job(&watch, job))
			return 0;
		*ret_end = WATCH_OVERDUE;
		if (version == last_version)
			return 0;
		*ret_end = WATCH_ENOUGH;
		if (look(&watch, job, &is_enough, err))
			return err->code;
	}
	return 0;
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

bool watch_is_settled(const struct json *job, const struct status *status)
{
	const struct json *watcher = json_get_path(job, "status", CLIENT_WATCHED_BY, NULL);

	return watch_is_over(job, status, NULL) && !*json_as_string(watcher, "");
}
