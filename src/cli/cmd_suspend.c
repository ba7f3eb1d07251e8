/* muster suspend: stops the processes of jobs gracefully, and keeps the jobs to be resumed. */
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/found_job.h"
#include "cli/kube_cluster.h"

static int suspend_run(const struct options *options)
{
	struct lookup *lookup CLEANUP(lookup_cleanup) = lookup_new(options);
	struct found_jobs jobs = {0};

	lookup_take_names(lookup, LOOKUP_UNGENERATED);
	int exit_code = lookup_jobs(lookup, &jobs);

	for (size_t i = 0; i < jobs.count; i++) {
		struct err err = {0};
		char *words CLEANUP(mem_free_text) = found_job_words(&jobs.list[i]);

		if (change_suspension(&jobs.list[i], true, &err))
			exit_code = output_fail(&err);
		else
			output_print_message(
				"job '%s' was suspended; to continue: muster resume %s",
				jobs.list[i].name, words);
	}
	return exit_code;
}

const struct command command_suspend = {
	.name = "suspend",
	.group = "Change",
	.arguments = "[OPTIONS] JOB...",
	.one_line = "stop the processes of jobs so that they can be resumed",
	.examples = "  muster suspend digits-x7k2p\n"
		    "  muster suspend -n research digits-x7k2p\n",
	.options = cluster_job_rows,
	.least_arguments = 1,
	.most_arguments = COMMAND_ANY_NUMBER,
	.run = suspend_run,
};
