/* muster compat: the command line of an older program. */
#include "base/mem.h"
#include "base/names.h"
#include "cli/commands.h"

static int report_unknown_program(const struct command *const *programs, const char *name)
{
	struct text names CLEANUP(text_done) = {0};
	const char *list[16];
	size_t count = 0;

	for (; programs[count] && count < ARRAY_LEN(list); count++) {
		list[count] = compat_name(programs[count]);
		text_addf(&names, "%s%s", count ? ", " : "", list[count]);
	}
	const char *nearest = name ? name_nearest(list, count, name) : NULL;

	if (!name)
		output_print_message("compat: missing program name (expected one of %s)",
				     text_of(&names));
	else if (nearest)
		output_print_message("compat: unknown program '%s'; did you mean '%s'?", name,
				     nearest);
	else
		output_print_message("compat: unknown program '%s' (expected one of %s)", name,
				     text_of(&names));
	return EXIT_USAGE;
}

static int compat_run(const struct options *options)
{
	const struct command_table *table = options_table(options);
	size_t count = options_n_arguments(options);
	const char *const *arguments = options_arguments(options);
	const struct command *command = arguments[0] ? compat_find(table, arguments[0]) : NULL;

	if (!command)
		return report_unknown_program(table->old_programs, arguments[0]);
	char **own CLEANUP(mem_free_any) = mem_new_array(count, sizeof(*own));
	char *name CLEANUP(mem_free_text) = mem_format("compat %s", arguments[0]);
	struct command called = *command;

	called.name = name; /* so that its messages have the name that was typed */

	for (size_t i = 1; i < count; i++)
		own[i - 1] = (char *) arguments[i];
	return command_call(table, &called, (int) count - 1, own);
}

const struct command command_compat = {
	.name = "compat",
	.group = "Help and setup",
	.arguments = "NAME [ARGS...]",
	.one_line = "accept the command line of an older program",
	.examples = "  muster compat local_test --num-workers 4 --sync-replicas\n"
		    "  muster compat remote_test --dry-run --model-name CENSUS_WIDENDEEP\n"
		    "  muster compat grpc_tensorflow_server --cluster_spec='worker|a:2222;b:2222' "
		    "\\\n"
		    "          --job_name=worker --task_id=0\n"
		    "  muster compat k8s_tensorflow --num_workers 2 > servers.yaml\n"
		    "  muster compat local_test --help\n",
	.takes_program = true,
	.run = compat_run,
};
