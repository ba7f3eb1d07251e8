#include "cli/cluster_support.h"

#include "base/mem.h"
#include "base/text.h"
#include "cli/local_jobs.h"
#include "cli/replica_pod.h"
#include "command/output.h"
#include "io/folder.h"
#include "pods/append_sync.h"

#include <fcntl.h>
#include <sys/statvfs.h>

struct viewing {
	const struct tensorboard_call *call;
	struct replica_pod pod;
	struct tensorboard_settings settings;
	struct tensorboard *tensorboard;
	char *path; /* of the directory on this machine */
	struct append_sync_folder folder;
	struct kube_append_sync *sync; /* NULL: the Pod is not followed at present */
	struct loop_watch *timer;
	struct err err; /* the reason for that */
	bool is_hopeless; /* and it never will be */
	bool is_full; /* the same, but the copied files are still shown */
	bool was_missing, was_lost; /* and that was reported */
};

static void viewing_done(struct viewing *viewing)
{
	kube_append_sync_cancel(viewing->sync);
	tensorboard_free(viewing->tensorboard);
	loop_watch_free(viewing->timer);
	replica_pod_done(&viewing->pod);
	append_sync_folder_done(&viewing->folder);
	if (viewing->path && folder_remove(AT_FDCWD, viewing->path, &viewing->err) < 0)
		output_print_message("%s", viewing->err.text);
	mem_free_text(&viewing->path);
}

/* Following the Pod. */

static void on_viewing_timer(void *data)
{
	struct viewing *viewing = data;

	if (viewing->sync)
		kube_append_sync_poll(viewing->sync);
	else
		loop_stop(viewing->pod.api->loop);
}

static void on_round(bool is_there, void *data)
{
	struct viewing *viewing = data;
	const struct copy_place *place = viewing->call->place;

	/* Training creates the directory when it starts: to be early is no error. */
	if (!is_there && !viewing->was_missing)
		output_print_message("directory '%s' does not exist yet in %s-%d of job '%s'",
				     place->path, place->role, place->index, place->job);
	viewing->was_missing = !is_there;
	if (viewing->was_lost)
		output_print_message("%s-%d is back", place->role, place->index);
	viewing->was_lost = false;
	loop_timer_arm_after(viewing->timer, viewing->call->interval);
	if (tensorboard_is_started(viewing->tensorboard) ||
	    tensorboard_start(viewing->tensorboard, &viewing->err) == 0)
		return;
	viewing->is_hopeless = true;
	loop_stop(viewing->pod.api->loop);
}

static void on_growth_end(const struct err *err, bool is_lost, void *data)
{
	struct viewing *viewing = data;

	viewing->sync = NULL;
	viewing->err = *err;
	viewing->is_full = !is_lost && err->code == ERR_LIMIT;
	viewing->is_hopeless = !is_lost && !viewing->is_full;
	loop_stop(viewing->pod.api->loop);
}

/* Runs until the Pod is lost, or a signal ends the command. */
static void follow_growing_logs(struct viewing *viewing)
{
	struct replica_pod *pod = &viewing->pod;

	if (replica_pod_find(pod, option_text(viewing->call->options, "container"), &viewing->err) <
	    0)
		return;
	const struct kube_append_sync_request request = {
		.container = pod->container,
		.there = viewing->call->place->path,
		.on_round = on_round,
		.on_end = on_growth_end,
		.data = viewing,
	};

	viewing->sync = kube_append_sync_new(pod->api, &request, &viewing->folder);
	loop_run(pod->api->loop);
}

static void show_until_interrupted(struct viewing *viewing)
{
	if (!viewing->was_lost)
		output_print_message(
			"%s-%d: cannot fetch new data: %s; showing the data fetched so far "
			"until Ctrl-C",
			viewing->call->place->role, viewing->call->place->index, viewing->err.text);
	viewing->was_lost = true;
	if (!viewing->is_full)
		loop_timer_arm_after(viewing->timer, viewing->call->interval);
	loop_run(viewing->pod.api->loop);
}

/* The whole command. */

static int set_up_viewing(struct viewing *viewing, struct err *err)
{
	const struct tensorboard_call *call = viewing->call;
	struct statvfs space = {0};
	int rc = replica_pod_connect(call->options, call->place, &viewing->pod, err);

	if (rc == 0)
		rc = temporary_folder_create("muster-tensorboard", &viewing->path, err);
	if (rc < 0)
		return rc;
	statvfs(viewing->path, &space); /* an unknown file system counts as full */
	viewing->folder.bytes_left = (uint64_t) space.f_bavail * space.f_frsize / 2;
	viewing->folder.path = viewing->settings.log_folder = viewing->path;
	rc = tensorboard_new(viewing->pod.api->loop, &viewing->settings, &viewing->tensorboard,
			     err);
	if (rc == 0)
		viewing->timer = loop_new_timer(viewing->pod.api->loop, on_viewing_timer, viewing);
	return rc;
}

int tensorboard_on_cluster(const struct tensorboard_call *call)
{
	struct viewing viewing CLEANUP(viewing_done) = {.call = call, .settings = call->settings};
	int exit_code;

	if (set_up_viewing(&viewing, &viewing.err) < 0)
		return output_fail(&viewing.err);
	for (;;) {
		follow_growing_logs(&viewing);
		if (tensorboard_is_over(viewing.tensorboard, &exit_code))
			return exit_code;
		if (viewing.is_hopeless || !tensorboard_is_started(viewing.tensorboard))
			return output_fail(&viewing.err);
		show_until_interrupted(&viewing);
		if (tensorboard_is_over(viewing.tensorboard, &exit_code))
			return exit_code;
	}
}
