/* muster suspend: ends the processes of jobs in good order, and keeps the jobs to be resumed. */
#include "cli/change.h"
#include "cli/cluster.h"
#include "cli/command.h"
#include "cli/options.h"

static int suspend_run(const struct options *options)
{
	return change_suspended(options, true);
}

static const struct option_row rows_of_suspend[] = {CLUSTER_JOB_ROWS, {0}};

const struct command command_suspend = {
	.name = "suspend",
	.group = "Act",
	.arguments = "[OPTIONS] JOB...",
	.one_line = "end the processes of jobs, which can be resumed",
	.examples = "  muster suspend digits-x7k2p\n"
		    "  muster suspend -n research digits-x7k2p\n",
	.options = rows_of_suspend,
	.least_arguments = 1,
	.most_arguments = COMMAND_ANY_NUMBER,
	.run = suspend_run,
};
