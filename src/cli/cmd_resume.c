/* muster resume: starts the processes of suspended jobs again. */
#include "cli/change.h"
#include "cli/command.h"
#include "cli/options.h"

static int resume_run(const struct options *options)
{
	return change_suspended(options, false);
}

const struct command command_resume = {
	.name = "resume",
	.group = "Act",
	.arguments = "JOB...",
	.one_line = "start suspended jobs again",
	.examples = "  muster resume digits-x7k2p\n",
	.least_arguments = 1,
	.most_arguments = COMMAND_ANY_NUMBER,
	.run = resume_run,
};
