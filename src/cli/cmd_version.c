/* muster version: prints the version. */
#include "cli/cluster_support.h"
#include "cli/commands.h"

static int version_run(const struct options *options)
{
	struct text text CLEANUP(text_done) = {0};

	(void) options;
	text_add(&text, "muster " MUSTER_VERSION "\n");
	if (cluster_support)
		text_addf(&text, "cluster access through %s\n", cluster_support->library());
	output_add(&text);
	return EXIT_DONE;
}

const struct command command_version = {
	.name = "version",
	.group = "Help and setup",
	.arguments = "",
	.one_line = "print the version",
	.run = version_run,
};
