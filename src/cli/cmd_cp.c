/* muster cp: copies files and directories into and out of a job's Pods. */
#include "base/mem.h"
#include "base/names.h"
#include "cli/cluster_support.h"
#include "cli/commands.h"
#include "cli/kube_cluster.h"
#include "cli/kubernetes_program.h"
#include "cli/local_jobs.h"
#include "cli/lookup.h"
#include "status/status.h"

struct ends {
	struct copy_place from, to;
	const struct copy_place *in_job; /* one of them */
};

static int check_ends(const struct ends *ends, struct err *err)
{
	if (!ends->in_job->job)
		return err_set(
			err, ERR_INVALID,
			"neither '%s' nor '%s' is a path in a job (expected JOB:ROLE-INDEX:PATH)",
			ends->from.path, ends->to.path);
	if (ends->from.job && ends->to.job)
		return err_set(err, ERR_INVALID,
			       "cannot copy from job to job; copy to this machine first");
	if (!*ends->from.path || !*ends->to.path)
		return err_set(err, ERR_INVALID, "missing path (expected JOB:ROLE-INDEX:PATH)");
	return 0;
}

/* A job of this name is recorded on this machine, and ran on this machine: it had no Pods. */
static bool is_recorded_here(const struct options *options, const char *name)
{
	struct client *client CLEANUP(local_jobs_close) = NULL;
	struct json *job CLEANUP(json_cleanup) = NULL;
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct status status;

	return local_jobs_open(options, &client, NULL) == 0 &&
	       client->functions->get(client, name, &job, NULL) == 0 &&
	       status_read(json_get(job, "status"), arena, &status, NULL) == 0 &&
	       !status_has_pods(&status);
}

static int refuse_local(const struct ends *ends)
{
	struct text command CLEANUP(text_done) = {0};

	text_add(&command, "cp -r ");
	shell_word_add(&command, ends->from.path);
	text_add_char(&command, ' ');
	shell_word_add(&command, ends->to.path);
	return output_fail_with(EXIT_REFUSED, "job '%s' is local; copy its files with: %s",
				ends->in_job->job, text_of(&command));
}

static int copy_pod_files(const struct copy_call *call)
{
	return cluster_support ? cluster_support->copy(call)
			       : exec_kubernetes_program(call->options);
}

/* A plain name: on the cluster that this machine's records name, else on that of the kubeconfig. */
static int copy_known(const struct options *options, const struct ends *ends, struct copy_call call)
{
	struct lookup *lookup CLEANUP(lookup_cleanup) = lookup_new(options);
	struct copy_place place = *call.place;
	struct found_job found = {0};
	struct err err = {0};
	int rc = lookup_known(lookup, place.job, &found, &err);

	if (rc < 0 && rc != ERR_NOT_FOUND)
		return output_fail(&err);
	if (rc == 0 && found.namespace_name) {
		place.namespace_name = found.namespace_name;
		call.options = found.options;
		call.place = &place;
	} else if (is_recorded_here(options, place.job)) {
		return refuse_local(ends);
	}
	return copy_pod_files(&call);
}

static int cp_run(const struct options *options)
{
	const char *const *arguments = options_arguments(options); /* two, by the table */
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct ends ends = {0};
	struct err err = {0};

	copy_place_read(arguments[0], arena, &ends.from);
	copy_place_read(arguments[1], arena, &ends.to);
	ends.in_job = ends.from.job ? &ends.from : &ends.to;
	if (check_ends(&ends, &err))
		return output_fail(&err);
	const struct copy_call call = {
		.options = options,
		.place = ends.in_job,
		.container = option_text(options, "container"),
		.here = ends.from.job ? ends.to.path : ends.from.path,
		.is_to_pod = ends.to.job != NULL,
	};

	if (ends.in_job->is_here)
		return refuse_local(&ends);
	if (ends.in_job->namespace_name || lookup_means_cluster(options))
		return copy_pod_files(&call);
	return copy_known(options, &ends, call);
}

static const struct option_row rows_of_cp[] = {
	CONTAINER_ROW,
	CLUSTER_JOB_ROWS,
	{0},
};

const struct command command_cp = {
	.name = "cp",
	.group = "Inspect",
	.arguments = "[OPTIONS] JOB:ROLE-INDEX:PATH DEST\n"
		     "[OPTIONS] SRC JOB:ROLE-INDEX:PATH",
	.one_line = "copy files and directories to and from a job's Pods",
	.examples = "  muster cp digits-x7k2p:worker-0:/models .\n"
		    "  muster cp digits-x7k2p:worker-0:/models/. models-of-today\n"
		    "  muster cp data.csv digits-x7k2p:worker-1:/tmp\n",
	.options = rows_of_cp,
	.least_arguments = 2,
	.most_arguments = 2,
	.run = cp_run,
};
