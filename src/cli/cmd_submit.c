/* muster submit: creates a job for the operator of a cluster. */
#include "cli/cluster_support.h"
#include "cli/commands.h"
#include "cli/job_source.h"
#include "cli/kube_cluster.h"
#include "cli/kubernetes_program.h"
#include "cli/pod_options.h"

static int submit_run(const struct options *options)
{
	if (!cluster_support)
		return exec_kubernetes_program(options);

	struct job_source source CLEANUP(job_source_done) = {
		.options = options,
		.is_for_kubernetes = true,
		.hides_variables = true,
		.pack_folder = cluster_support->pack_folder,
	};

	if (!job_source_read(&source) || !job_source_fits_cluster(&source))
		return EXIT_USAGE;
	return cluster_support->submit(options, &source);
}

static const struct option_row rows_of_submit[] = {
	JOB_SOURCE_ROWS,
	FLAG("replace", "replace a finished TFJob of the same name", .group = OPTIONS_OF_JOB),
	FLAG("quiet", "print only the job's name", .letter = 'q', .group = OPTIONS_OF_OUTPUT,
	     .has_variable = true),
	WORDS("output", "json", NULL, "print the TFJob on stdout, everything else on stderr",
	      .letter = 'o', .group = OPTIONS_OF_OUTPUT),
	POD_ROWS,
	CLUSTER_ROWS,
	{0},
};

const struct command command_submit = {
	.name = "submit",
	.group = "Run",
	.arguments = "[OPTIONS] -f job.yaml\n"
		     "[OPTIONS] SCRIPT.py [ARGS...], or -m MODULE [ARGS...]\n"
		     "[OPTIONS] -- PROGRAM [ARGS...]",
	.one_line = "create a TFJob on a cluster, for its operator to run",
	.examples = "  muster submit -f job.yaml && muster logs -f digits\n"
		    "  muster submit -n research -w 4 --image tensorflow/tensorflow train.py\n",
	.options = rows_of_submit,
	.takes_program = true,
	.run = submit_run,
};
