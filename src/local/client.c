#include "jobs/client.h"

#include "base/json.h"
#include "base/mem.h"
#include "io/file.h"
#include "io/loop.h"
#include "jobs/orphaned_job.h"
#include "jobs/record.h"
#include "jobs/state_folder.h"
#include "jobs/supervisor_id.h"
#include "local/control.h"
#include "local/machine_gpus.h"
#include "reconcile/summary.h"
#include "store/store.h"

#include <signal.h>

struct client_local {
	struct client base;
	struct store *store;
	char *state_folder;
};

static const struct client_functions local_functions;

/* A list as read, with its parsed summaries. */
struct listing {
	struct store_list list;
	struct summary *summaries;
	struct arena *arena; /* of the summaries */
};

static void listing_done(struct listing *listing)
{
	store_list_done(&listing->list);
	arena_free(listing->arena);
	*listing = (struct listing){0};
}

static int read_listing(struct client_local *client, struct listing *ret_listing, struct err *err)
{
	struct listing listing = {0};
	int rc = client->store->functions->list(client->store, STORE_SUMMARY, &listing.list, err);

	if (rc < 0)
		return rc;
	listing.arena = arena_new();
	listing.summaries =
		arena_take_array(listing.arena, listing.list.count, sizeof(*listing.summaries));
	for (size_t i = 0; i < listing.list.count; i++)
		record_read_summary(&listing.list.records[i], listing.arena, &listing.summaries[i]);
	*ret_listing = listing;
	return 0;
}

/* Whether its time to live (ttlSecondsAfterFinished) has expired. No process sleeps until then: the
 * next client that reads the list deletes the job. */
static bool is_expired(const struct store_record *record, const struct summary *summary)
{
	enum supervisor_fate fate = supervisor_fate(record->supervisor);

	return summary->expires_at != MSEC_UNSET && summary->expires_at <= loop_now() &&
	       (fate == SUPERVISOR_NONE || fate == SUPERVISOR_ON_CLUSTER);
}

static int remove_job(struct client_local *client, const struct store_record *record,
		      struct err *err)
{
	return orphaned_job_remove(client->store, client->state_folder, record->name, record->uid,
				   err);
}

/* The row of a job without a living supervisor, after cleaning up. One that cannot be cleaned up (a
 * record of a newer muster) must not hide the others: it is shown as unknown. */
static void clean_up_row(struct client_local *client, struct listing *listing, size_t i)
{
	struct store_record *record = &listing->list.records[i];
	struct store_record settled = {0};

	if (orphaned_job_get(client->store, record->name, &settled, NULL) == 0) {
		store_record_done(record);
		*record = settled;
		record_read_summary(record, listing->arena, &listing->summaries[i]);
	} else if (!listing->summaries[i].is_finished) {
		listing->summaries[i].state = "Unknown";
		listing->summaries[i].message =
			"it has no active supervisor, and its record cannot be read";
	}
}

/* Cleans up the jobs that need it; true when one was deleted: the list has to be read again. */
static bool clean_up_listed(struct client_local *client, struct listing *listing)
{
	bool has_changed = false;

	for (size_t i = 0; i < listing->list.count; i++) {
		const struct store_record *record = &listing->list.records[i];
		const struct summary *summary = &listing->summaries[i];

		if (is_expired(record, summary) && remove_job(client, record, NULL) == 0)
			has_changed = true;
		else if (job_is_orphaned(record->supervisor, summary->is_finished))
			clean_up_row(client, listing, i);
	}
	return has_changed;
}

/* Only its cluster knows the present state of a job on a cluster. */
static bool is_live_on_cluster(const struct store_record *record, bool is_finished)
{
	return !is_finished && supervisor_fate(record->supervisor) == SUPERVISOR_ON_CLUSTER;
}

/* A job that finished on a cluster stays under its place if a local job has its name. */
static struct client_row local_job_row_of(const struct store_record *record,
					  const struct summary *summary)
{
	static const char place[] = "kubernetes/";
	const char *slash = strrchr(record->name, '/');

	if (!slash || !text_starts_with(record->name, place))
		return client_row_new(record, summary, NULL);
	char *namespace_name CLEANUP(mem_free_text) = mem_copy_bytes(
		record->name + strlen(place), (size_t) (slash - record->name) - strlen(place));
	struct client_row row = client_row_new(record, summary, namespace_name);

	free(row.name);
	row.name = mem_copy_text(slash + 1);
	return row;
}

static int local_list(struct client *base, struct client_row **ret_rows, size_t *ret_count,
		      struct err *err)
{
	struct client_local *client = (struct client_local *) base;
	struct listing listing CLEANUP(listing_done) = {0};
	int rc = read_listing(client, &listing, err);

	if (rc == 0 && clean_up_listed(client, &listing)) {
		listing_done(&listing);
		rc = read_listing(client, &listing, err);
	}
	if (rc < 0)
		return rc;
	struct client_row *rows = mem_new_array(listing.list.count, sizeof(*rows));
	size_t count = 0;

	for (size_t i = 0; i < listing.list.count; i++)
		if (!is_live_on_cluster(&listing.list.records[i], listing.summaries[i].is_finished))
			rows[count++] =
				local_job_row_of(&listing.list.records[i], &listing.summaries[i]);
	*ret_rows = rows;
	*ret_count = count;
	return 0;
}

/* One job. */

/* The record after cleaning up; ERR_NOT_FOUND if the job has expired. */
static int get_record(struct client_local *client, const char *name,
		      struct store_record *ret_record, struct err *err)
{
	struct store_record record CLEANUP(store_record_done) = {0};
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct summary summary;
	int rc = orphaned_job_get(client->store, name, &record, err);

	if (rc < 0)
		return rc;
	record_read_summary(&record, arena, &summary);
	if (is_expired(&record, &summary) && remove_job(client, &record, NULL) == 0)
		return err_set(err, ERR_NOT_FOUND, "job '%s' not found", name);
	*ret_record = record;
	record = (struct store_record){0};
	return 0;
}

static int local_get(struct client *base, const char *name, struct json **ret_job, struct err *err)
{
	struct store_record record CLEANUP(store_record_done) = {0};
	int rc = get_record((struct client_local *) base, name, &record, err);

	return rc < 0 ? rc : record_read_tfjob(&record, ret_job, err);
}

/* One that was killed or is exiting need not be woken. */
static void wake(const struct client_local *client, const struct store_record *record)
{
	char *folder CLEANUP(mem_free_text) = state_folder_job(client->state_folder, record->uid);

	control_wake(folder, supervisor_find(record->supervisor));
}

/* A supervisor that cannot be reached from this machine. */
static int refuse_elsewhere(const struct store_record *record, struct err *err)
{
	enum supervisor_fate fate = supervisor_fate(record->supervisor);
	struct supervisor_id id;

	if (fate == SUPERVISOR_UNSEEN)
		return process_need_proc(err);
	if (fate != SUPERVISOR_ELSEWHERE || !supervisor_id_read(record->supervisor, &id))
		return 0;
	return err_set(err, ERR_REFUSED, "job '%s' runs on machine '%s'; run this command there",
		       record->name, id.host);
}

/* The job with the patch; NULL: the change itself reports the error in it. */
static struct job *read_patched(const struct store_record *record, const struct json *patch)
{
	struct json *document CLEANUP(json_cleanup) = NULL;
	struct store_record changed = *record;
	struct job *job = NULL;

	if (json_read(record->document, strlen(record->document), &document, NULL) < 0)
		return NULL;
	struct json *patched CLEANUP(json_cleanup) = json_patched(document, patch);
	char *text CLEANUP(mem_free_text) = json_compact_text(patched);

	changed.document = text;
	return record_read_job(&changed, &job, NULL) < 0 ? NULL : job;
}

/* The processes of an elastic job are known to other machines. Without GPUs the job would wait for
 * them, after a synchronous one has already stopped its processes to be scaled. */
static int refuse_patch(const struct client_local *client, const struct store_record *record,
			const struct json *patch, struct err *err)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct job *job CLEANUP(job_cleanup) = read_patched(record, patch);
	struct text told CLEANUP(text_done) = {0};
	const struct json *suspend = json_get_path(patch, "spec", "runPolicy", "suspend", NULL);
	struct gpus gpus = {0};

	if (!job)
		return 0;
	if (job->elastic_id)
		return err_set(err, ERR_REFUSED,
			       "job '%s' is this machine's part of the elastic job '%s' and always "
			       "has the number of processes it was launched with",
			       record->name, job->elastic_id);
	/* The patch adds replicas, or ends a suspension. */
	if (json_get_path(patch, "spec", "tfReplicaSpecs", NULL) || !json_as_bool(suspend, true))
		machine_gpus_find(NULL, arena, &gpus);
	return gpus.count ? machine_gpus_check(&gpus, job, client->store, &told, err) : 0;
}

static int local_patch(struct client *base, const char *name, const struct json *patch,
		       struct err *err)
{
	struct client_local *client = (struct client_local *) base;
	struct store_record record CLEANUP(store_record_done) = {0};
	int rc = get_record(client, name, &record, err);

	if (rc == 0)
		rc = refuse_elsewhere(&record, err);
	if (rc == 0)
		rc = refuse_patch(client, &record, patch, err);
	if (rc == 0)
		rc = record_patch(client->store, name, patch, err);
	if (rc == 0)
		wake(client, &record);
	return rc;
}

/* On a full disk no request can be recorded. A second SIGTERM is the end of the grace period. */
static bool stop_by_signal(const struct store_record *record, msec grace)
{
	pid_t supervisor = supervisor_find(record->supervisor);

	if (supervisor <= 0 || kill(supervisor, SIGTERM) < 0)
		return false;
	if (grace == 0)
		kill(supervisor, SIGTERM);
	return true;
}

static int stop_record(struct client_local *client, const struct store_record *record,
		       const char *reason, msec grace, struct err *err)
{
	struct err trouble = {0};

	if (record_is_finished(record))
		return 0;
	int rc = refuse_elsewhere(record, err);
	if (rc < 0)
		return rc;
	rc = record_request_stop(client->store, record->name, reason, grace, &trouble);
	bool is_full = rc == ERR_SPACE || rc == ERR_IO;

	if (rc == 0)
		wake(client, record);
	/* After a success, `trouble` may be a conflict before it. */
	return rc == 0 || (is_full && stop_by_signal(record, grace)) ? 0 : err_copy(err, &trouble);
}

static int local_stop(struct client *base, const char *name, const char *reason, msec grace,
		      struct err *err)
{
	struct client_local *client = (struct client_local *) base;
	struct store_record record CLEANUP(store_record_done) = {0};
	int rc = get_record(client, name, &record, err);

	return rc < 0 ? rc : stop_record(client, &record, reason, grace, err);
}

/* Waiting. */

#define LOOK_AGAIN_AFTER ((msec) 100)

/* Waits until the supervisor reports a later version than the record's, has exited, or the time is
 * over. A supervisor without a socket is about to finish the record, and then may wait for its
 * terminal for long: the record has to be read again soon. */
static void wait_for_news(const struct client_local *client, const struct store_record *record,
			  instant until)
{
	char *folder CLEANUP(mem_free_text) = state_folder_job(client->state_folder, record->uid);
	int64_t version = 0;
	int fd CLEANUP(file_close) = -1;
	int rc = control_watch(folder, supervisor_find(record->supervisor), &fd) < 0 ? -1 : 1;

	while (version <= record->version && rc > 0)
		rc = control_next_version(fd, until, &version, NULL);
	if (rc < 0) /* it exits, or has enough watchers */
		supervisor_wait(record->supervisor,
				instant_min(until, loop_instant_after(LOOK_AGAIN_AFTER)));
}

static int local_wait_for_change(struct client *base, const char *name, int64_t version,
				 instant until, int64_t *ret_version, bool *ret_is_gone,
				 struct err *err)
{
	struct client_local *client = (struct client_local *) base;
	/* Its supervisor may write the end and exit after our read: then read once more. */
	bool is_last_look = false;

	for (;;) {
		struct store_record record CLEANUP(store_record_done) = {0};
		int rc = get_record(client, name, &record, err);

		*ret_is_gone = rc == ERR_NOT_FOUND;
		if (*ret_is_gone)
			return 0;
		if (rc < 0)
			return rc;
		*ret_version = record.version;
		if (record.version > version || is_last_look || loop_has_come(until))
			return 0;
		rc = refuse_elsewhere(&record, err);
		if (rc < 0)
			return rc;
		is_last_look = supervisor_fate(record.supervisor) != SUPERVISOR_ALIVE;
		if (!is_last_look)
			wait_for_news(client, &record, until);
	}
}

/* Removing. */

/* Only this machine's record is deleted; a process that supervises the job would write it again. */
static int refuse_supervised(const struct store_record *record, struct err *err)
{
	struct supervisor_id id;

	if (!supervisor_is_alive(record->supervisor) ||
	    !supervisor_id_read(record->supervisor, &id))
		return 0;
	return err_set(
		err, ERR_REFUSED,
		"job '%s' is supervised by process %d of this machine; stop that process first",
		record->name, (int) id.inner.pid);
}

/* A supervisor that has given its job back may wait for a pager that reads its output. */
static int wait_until_given_back(struct client_local *client, const char *name, struct err *err)
{
	for (;;) {
		struct store_record record CLEANUP(store_record_done) = {0};
		int rc = client->store->functions->get(client->store, name, &record, err);

		if (rc < 0)
			return rc == ERR_NOT_FOUND ? 0 : rc;
		if (!supervisor_is_alive(record.supervisor))
			return 0;
		wait_for_news(client, &record, INSTANT_NEVER);
	}
}

/* Without a clean-up after a killed supervisor: it needs disk space, and a deletion frees it. */
static int local_remove(struct client *base, const char *name, struct err *err)
{
	struct client_local *client = (struct client_local *) base;
	struct store_record record CLEANUP(store_record_done) = {0};
	int rc = client->store->functions->get(client->store, name, &record, err);

	if (rc < 0)
		return rc;
	if (job_is_orphaned(record.supervisor, record_is_finished(&record)))
		orphaned_job_kill_processes(client->store, &record);
	else if (is_live_on_cluster(&record, record_is_finished(&record)))
		rc = refuse_supervised(&record, err);
	else
		rc = stop_record(client, &record, stop_reason_words[STOP_REQUESTED], -1, err);
	if (rc == 0)
		rc = wait_until_given_back(client, name, err);
	return rc < 0 ? rc : remove_job(client, &record, err);
}

static int local_log_folder(struct client *base, const char *name, char **ret_folder,
			    struct err *err)
{
	struct client_local *client = (struct client_local *) base;
	struct store_record record CLEANUP(store_record_done) = {0};
	int rc = client->store->functions->get(client->store, name, &record, err);

	if (rc == 0)
		*ret_folder = state_folder_job(client->state_folder, record.uid);
	return rc;
}

static void local_free(struct client *base)
{
	struct client_local *client = (struct client_local *) base;

	if (!client)
		return;
	client->store->functions->free(client->store);
	free(client->state_folder);
	free(client);
}

int client_local_new(const char *state_folder, struct client **ret_client, struct err *err)
{
	struct store *store;
	int rc = store_sqlite_open(state_folder, &store, err);

	if (rc < 0)
		return rc;
	struct client_local *client = mem_new(sizeof(*client));
	client->base.functions = &local_functions;
	client->store = store;
	client->state_folder = mem_copy_text(state_folder);
	*ret_client = &client->base;
	return 0;
}

static const struct client_functions local_functions = {
	.list = local_list,
	.get = local_get,
	.patch = local_patch,
	.stop = local_stop,
	.remove = local_remove,
	.wait_for_change = local_wait_for_change,
	.log_folder = local_log_folder,
	.free = local_free,
};
