/* muster tensorboard: shows a job's event files in TensorBoard, while it trains and afterwards. */
#include "base/mem.h"
#include "cli/cluster_support.h"
#include "cli/commands.h"
#include "cli/kube_cluster.h"
#include "cli/lookup.h"
#include "cli/tensorboard.h"
#include "io/folder.h"
#include "spec/fetch.h"

#include <assert.h>

#define INTERVAL (5 * MSEC_PER_SECOND) /* as TensorBoard's own --reload_interval */
#define LEAST_INTERVAL (1 * MSEC_PER_SECOND)

/* The chief (or master) writes the event files if there is one; else worker 0. */
static const char *leader_of(const struct json *document)
{
	const struct json *roles = json_get_path(document, "spec", "tfReplicaSpecs", NULL);

	if (json_get(roles, "Chief"))
		return "chief";
	return json_get(roles, "Master") ? "master" : "worker";
}

/* The location of the event files: --logdir, else the first directory of --fetch, of the selected
 * replica if one was given. */
static int read_log_place(const struct options *options, const struct json *document,
			  struct arena *arena, struct fetch *ret_fetch, struct err *err)
{
	const char *path = option_text(options, "logdir"), *role = option_text(options, "role");
	const struct json *fetches =
		json_get_path(document, "metadata", "annotations", JOB_ANNOTATION_FETCH, NULL);
	const struct fetch *list = NULL;
	size_t count = 0;

	if (path) {
		*ret_fetch = (struct fetch){
			.role = role ? role : leader_of(document),
			.index = (int) option_number(options, "index", 0),
			.path = path,
		};
		return 0;
	}
	int rc = fetch_read_all(json_as_string(fetches, NULL), arena, &list, &count, err);

	if (rc < 0)
		return rc;
	for (size_t i = 0; i < count; i++)
		if ((!role || text_equals(role, list[i].role)) &&
		    option_number(options, "index", list[i].index) == list[i].index) {
			*ret_fetch = list[i];
			return 0;
		}
	return err_set(err, ERR_INVALID,
		       "job '%s' has no --fetch directory; name its event files with --logdir PATH",
		       json_as_string(json_get_path(document, "metadata", "name", NULL), ""));
}

static int show_cluster_tensorboard(const struct found_job *found, const struct fetch *fetch,
				    const struct tensorboard_settings *settings)
{
	const struct copy_place place = {found->namespace_name, found->name, fetch->role,
					 fetch->index, fetch->path};
	const struct tensorboard_call call = {
		.options = found->options,
		.place = &place,
		.settings = *settings,
		.interval = option_duration(found->options, "interval", INTERVAL),
	};

	if (call.interval < LEAST_INTERVAL)
		return output_fail_with(EXIT_USAGE, "--interval: must be at least 1s");
	return cluster_support->see_tensorboard(&call);
}

/* The directory that `fetch`, or `run --fetch` without a destination, would create from this
 * working directory: under the Pod's name, with its own name; "/models/." means its contents.
 * Caller frees. */
static char *fetched_folder(const char *job, const struct fetch *fetch)
{
	const char *base = strrchr(fetch->path, '/') + 1;
	bool is_contents = text_equals(base, ".");

	return mem_format("%s-%s-%d%s%s", job, fetch->role, fetch->index, is_contents ? "" : "/",
			  is_contents ? "" : base);
}

static int show_local_tensorboard(const struct found_job *found, const struct fetch *fetch,
				  const struct tensorboard_settings *settings)
{
	char *folder CLEANUP(mem_free_text) = option_text(found->options, "logdir")
						      ? mem_copy_text(fetch->path)
						      : fetched_folder(found->name, fetch);
	struct tensorboard_settings here = *settings;

	here.log_folder = folder;
	if (folder_exists(folder))
		return tensorboard_show(&here);
	return output_fail_with(
		EXIT_FAILED,
		"job '%s' runs on this machine, or has ended, and this machine has no directory "
		"'%s'; set --logdir to the directory of its event files",
		found->name, folder);
}

static int tensorboard_run(const struct options *options)
{
	struct lookup *lookup CLEANUP(lookup_cleanup) = lookup_new(options);
	struct json *document CLEANUP(json_cleanup) = NULL;
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	const struct tensorboard_settings settings = {
		.host = option_text(options, "host"),
		.port = (int) option_number(options, "port", 0),
	};
	struct found_job found = {0};
	struct fetch fetch = {0};
	struct err err = {0};

	if (lookup_job(lookup, options_arguments(options)[0], &found, &err) ||
	    found.client->functions->get(found.client, found.name, &document, &err) ||
	    read_log_place(found.options, document, arena, &fetch, &err))
		return output_fail(&err);
	assert(fetch.path);
	return found.namespace_name ? show_cluster_tensorboard(&found, &fetch, &settings)
				    : show_local_tensorboard(&found, &fetch, &settings);
}

static const struct option_row rows_of_tensorboard[] = {
	OPTION("logdir", TEXT, "PATH", NULL,
	       "directory of the event files, in the Pod or on this machine (default: that of "
	       "--fetch)"),
	OPTION("role", TEXT, "ROLE", NULL,
	       "on a cluster: role of the replica with the event files (default: the chief, else "
	       "worker 0)"),
	OPTION("index", NUMBER, "INDEX", NULL, "on a cluster: index of that replica", .low = 0,
	       .high = INT32_MAX),
	OPTION("container", TEXT, "NAME", NULL,
	       "on a cluster: its container (default: the training container)", .letter = 'c'),
	OPTION("interval", DURATION, "DURATION", NULL,
	       "on a cluster: how often to fetch new data (default: 5s)"),
	OPTION("host", TEXT, "ADDRESS", "127.0.0.1", "address for TensorBoard to listen on"),
	OPTION("port", NUMBER, "N", NULL,
	       "port for TensorBoard to listen on (default: the first free one from 6006)",
	       .low = 1, .high = 65535),
	CLUSTER_JOB_ROWS,
	{0},
};

const struct command command_tensorboard = {
	.name = "tensorboard",
	.group = "Inspect",
	.arguments = "[OPTIONS] [JOB]",
	.one_line = "run TensorBoard on a job's event files, during and after training",
	.examples = "  muster tensorboard digits-x7k2p --logdir /logs\n"
		    "  muster tensorboard digits-x7k2p --logdir runs/today --port 7007\n",
	.options = rows_of_tensorboard,
	.most_arguments = 1,
	.run = tensorboard_run,
};
