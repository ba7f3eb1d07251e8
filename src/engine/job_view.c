/* Watches and counts changes; engine/job_view_pods.h makes the replicas of a status what their
 * Pods are. */
#include "engine/job_view.h"

#include "base/mem.h"
#include "base/text.h"
#include "core/job.h"
#include "engine/client.h"
#include "engine/job_view_pods.h"
#include "engine/lease_view.h"
#include "engine/record.h"
#include "engine/store_kube_record.h"
#include "kube/mirror.h"
#include "kube/objects.h"
#include "kube/resources.h"

#include <stdlib.h>

struct job_view {
	struct job_view_settings settings;
	char *name;
	struct kube_mirror *owner; /* the ConfigMap */
	struct lease_view *lease;
	struct kube_mirror *pods; /* NULL before the job is known */
	struct store_record *record; /* as it was last; NULL: never seen */
	struct job *job; /* of the first record */
	bool is_gone;
	int64_t n_changes;
	int64_t record_change; /* the change at which the record came */
	struct err err; /* why it cannot go on */
	bool is_waiting; /* the loop runs for it */
	bool is_in_trouble; /* and that was told; nothing has come since */
};

/* What happens. */

static void wake(struct job_view *view)
{
	if (view->is_waiting)
		loop_stop(view->settings.loop);
	else if (view->settings.on_change)
		view->settings.on_change(view->settings.data);
}

static void note_change(struct job_view *view)
{
	view->n_changes++;
	view->is_in_trouble = false;
	wake(view);
}

static bool is_synced(const struct job_view *view)
{
	return kube_mirror_is_synced(view->owner) && lease_view_is_synced(view->lease) &&
	       (!view->pods || kube_mirror_is_synced(view->pods));
}

static void on_synced(void *data)
{
	struct job_view *view = data;

	if (is_synced(view))
		note_change(view);
}

/* Before the first look any trouble is the answer; after it one sentence is told of each that all
 * watches have. */
static void on_trouble(const struct err *err, void *data)
{
	struct job_view *view = data;

	if (view->n_changes == 0 || err->code == ERR_REFUSED) {
		view->err = *err;
		wake(view);
	} else if (view->settings.on_trouble && !view->is_in_trouble) {
		view->is_in_trouble = true;
		view->settings.on_trouble(err->text, view->settings.data);
	}
}

/* The Pods. */

static void *project_pod(const struct json *object, void *before, void *data)
{
	struct job_view *view = data;

	job_view_pod_free(before);
	return job_view_pod_read(object, view->job, record_is_untouched(view->record));
}

static void release_pod(void *kept, void *data)
{
	(void) data;
	job_view_pod_free(kept);
}

static void on_pod(const char *name, void *data)
{
	struct job_view *view = data;

	(void) name;
	if (is_synced(view))
		note_change(view);
}

static void watch_pods(struct job_view *view)
{
	char *selector CLEANUP(mem_free_text) = objects_selector(view->name);
	const struct kube_mirror_settings settings = {
		.resource = &kube_pods,
		.namespace_name = view->settings.namespace_name,
		.label_selector = selector,
		.project = project_pod,
		.release = release_pod,
		.on_change = on_pod,
		.on_synced = on_synced,
		.on_trouble = on_trouble,
		.data = view,
	};

	view->pods = kube_mirror_new(view->settings.loop, view->settings.api, &settings);
}

/* The record. */

static void record_free(struct store_record *record)
{
	if (record)
		store_record_done(record);
	free(record);
}

static void take_record(struct job_view *view, struct store_record take_record)
{
	bool is_other = view->record && !text_equals(view->record->uid, take_record.uid);

	if (is_other || view->is_gone) {
		view->is_gone = true; /* this view is of the one before */
		store_record_done(&take_record);
		return;
	}
	record_free(view->record);
	view->record = mem_new(sizeof(*view->record));
	*view->record = take_record;
	view->record_change = view->n_changes + 1;
}

static void *project_owner(const struct json *object, void *before, void *data)
{
	struct job_view *view = data;
	struct store_record record;

	(void) before;
	if (store_kube_read(object, &record, NULL) < 0)
		return NULL;
	take_record(view, record);
	return view;
}

static void release_owner(void *kept, void *data)
{
	(void) kept, (void) data;
}

/* A document that nobody can read is told of by who reads the record. */
static void begin_with_pods(struct job_view *view)
{
	if (!view->pods && view->record && record_read_job(view->record, &view->job, NULL) == 0)
		watch_pods(view);
}

static void on_owner(const char *name, void *data)
{
	struct job_view *view = data;

	if (view->record && !kube_mirror_get(view->owner, name))
		view->is_gone = true;
	begin_with_pods(view);
	if (is_synced(view))
		note_change(view);
}

static void watch_owner(struct job_view *view)
{
	char *object_name CLEANUP(mem_free_text) = objects_owner_name(view->name);
	const struct kube_mirror_settings settings = {
		.resource = &kube_config_maps,
		.namespace_name = view->settings.namespace_name,
		.object_name = object_name,
		.project = project_owner,
		.release = release_owner,
		.on_change = on_owner,
		.on_synced = on_synced,
		.on_trouble = on_trouble,
		.data = view,
	};

	view->owner = kube_mirror_new(view->settings.loop, view->settings.api, &settings);
}

static void watch_lease(struct job_view *view)
{
	const struct lease_view_settings settings = {
		.loop = view->settings.loop,
		.api = view->settings.api,
		.namespace_name = view->settings.namespace_name,
		.on_change = on_synced,
		.on_trouble = on_trouble,
		.data = view,
	};

	view->lease = lease_view_new(&settings, view->name);
}

struct job_view *job_view_new(const struct job_view_settings *settings, const char *name)
{
	struct job_view *view = mem_new(sizeof(*view));

	view->settings = *settings;
	view->name = mem_copy_text(name);
	watch_owner(view);
	watch_lease(view);
	return view;
}

void job_view_free(struct job_view *view)
{
	if (!view)
		return;
	kube_mirror_free(view->owner);
	lease_view_free(view->lease);
	kube_mirror_free(view->pods);
	record_free(view->record);
	job_free(view->job);
	free(view->name);
	free(view);
}

const char *job_view_name(const struct job_view *view)
{
	return view->name;
}

/* Waiting. */

static void on_time(void *data)
{
	wake(data);
}

int job_view_wait(struct job_view *view, int64_t change, msec until, struct err *err)
{
	struct loop_watch *timer = loop_new_timer(view->settings.loop, on_time, view);

	loop_timer_arm(timer, until);
	view->is_waiting = true;
	while (!view->err.code && (view->n_changes <= change || !is_synced(view)) &&
	       loop_now() < until)
		loop_run(view->settings.loop);
	view->is_waiting = false;
	loop_watch_free(timer);
	return err_copy(err, &view->err);
}

int job_view_sync(struct job_view *view, struct err *err)
{
	return job_view_wait(view, 0, MSEC_NEVER, err);
}

/* What there is. */

int64_t job_view_change(const struct job_view *view)
{
	return view->n_changes;
}

const struct store_record *job_view_record(const struct job_view *view)
{
	return view->record;
}

bool job_view_is_gone(const struct job_view *view)
{
	return view->is_gone;
}

int64_t job_view_record_change(const struct job_view *view)
{
	return view->record_change;
}

bool job_view_is_unsupervised(const struct job_view *view)
{
	return text_equals(lease_view_supervisor(view->lease), "");
}

size_t job_view_pod_count(const struct job_view *view)
{
	size_t count = 0;
	void *pod;

	if (!view->pods)
		return 0;
	for (size_t i = 0; (pod = kube_mirror_next(view->pods, &i));)
		count++;
	return count;
}

static void lay_pods_over(const struct job_view *view, struct status *status)
{
	const struct job_view_pod *pod;

	if (!view->pods)
		return;
	for (size_t i = 0; (pod = kube_mirror_next(view->pods, &i));)
		job_view_pod_lay_over(pod, status);
}

int job_view_read(const struct job_view *view, struct json **ret_tfjob, struct err *err)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct json *tfjob CLEANUP(json_cleanup) = NULL;
	struct status status;
	int rc = record_read_tfjob(view->record, &tfjob, err);

	if (rc == 0)
		rc = record_read_status(view->record, arena, &status, err);
	if (rc < 0)
		return rc;
	if (record_is_untouched(view->record) && view->job)
		job_view_add_replicas(view->job, arena, &status);
	lay_pods_over(view, &status);
	json_set(tfjob, "status", status_write(&status));
	json_set_string(json_object_at(tfjob, "status"), CLIENT_SUPERVISED_BY,
			lease_view_supervisor(view->lease));
	*ret_tfjob = TAKE(tfjob);
	return 0;
}
