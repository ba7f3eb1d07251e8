/* muster resume: starts the processes of suspended jobs again. */
#include "cli/change.h"
#include "cli/cluster.h"
#include "cli/command.h"
#include "cli/options.h"

static int resume_run(const struct options *options)
{
	return change_suspended(options, false);
}

static const struct option_row rows_of_resume[] = {CLUSTER_JOB_ROWS, {0}};

const struct command command_resume = {
	.name = "resume",
	.group = "Act",
	.arguments = "[OPTIONS] JOB...",
	.one_line = "start suspended jobs again",
	.examples = "  muster resume digits-x7k2p\n"
		    "  muster resume -n research digits-x7k2p\n",
	.options = rows_of_resume,
	.least_arguments = 1,
	.most_arguments = COMMAND_ANY_NUMBER,
	.run = resume_run,
};
