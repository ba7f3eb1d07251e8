/* muster suspend: ends the processes of jobs in good order, and keeps the jobs to be resumed. */
#include "cli/change.h"
#include "cli/command.h"
#include "cli/options.h"

static int suspend_run(const struct options *options)
{
	return change_suspended(options, true);
}

const struct command command_suspend = {
	.name = "suspend",
	.group = "Act",
	.arguments = "JOB...",
	.one_line = "end the processes of jobs, which can be resumed",
	.examples = "  muster suspend digits-x7k2p\n",
	.least_arguments = 1,
	.most_arguments = COMMAND_ANY_NUMBER,
	.run = suspend_run,
};
