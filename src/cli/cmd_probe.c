/* muster probe: another name of `muster check remote --model none`. */
#include "base/mem.h"
#include "check/request.h"
#include "cli/commands.h"

static int probe_command_run(const struct options *options)
{
	static char *const first[] = {"remote", "--model", "none"};
	char **given CLEANUP(mem_free_any) = options_call(options);
	size_t count = 2; /* "muster probe" */

	while (given[count])
		count++;
	char **words CLEANUP(mem_free_any) =
		mem_new_array(count + ARRAY_LEN(first), sizeof(*words));

	memcpy(words, first, sizeof(first));
	memcpy(words + ARRAY_LEN(first), given + 2, (count - 2) * sizeof(*words));
	return command_call(options_table(options), &command_check,
			    (int) (count - 2 + ARRAY_LEN(first)), words);
}

static const struct option_row rows_of_probe[] = {
	OPTION("servers", TEXT, "URL[,URL...]", NULL,
	       "servers of one cluster, for example grpc://host:2222", .other_name = "server"),
	OPTION("timeout", DURATION, "TIME", CHECK_TIMEOUT, "time limit of each step"),
	OPTION("libtensorflow", TEXT, "PATH", NULL,
	       "TensorFlow's C library, or a directory that contains it (default: search)"),
	WORDS("output", "json", NULL,
	      "print the report as JSON on stdout, everything else on stderr", .letter = 'o'),
	{0},
};

const struct command command_probe = {
	.name = "probe",
	.group = "TensorFlow",
	.arguments = "--servers URL[,URL...] [OPTIONS]",
	.one_line = "list the devices of TensorFlow servers and run an operation on each",
	.examples = "  muster probe --servers grpc://localhost:2222\n"
		    "  muster probe --servers grpc://a:2222,grpc://b:2222 --timeout 30s -o json\n",
	.options = rows_of_probe,
	.run = probe_command_run,
};
