/* grpc_tensorflow_server of TensorFlow's tools/dist_test, also in its image: one server. */
#include "base/names.h"
#include "command/command.h"
#include "command/options.h"
#include "command/output.h"
#include "compat/call.h"

/* The old program accepted `--verbose`, `--verbose=true` and `--verbose true`: the last is a
 * separate argument in muster. Returns false for anything else. */
static bool read_word_behind_verbose(const struct options *old, bool *ret_is_verbose)
{
	static const char *const words[] = {"false", "true"};
	const char *word = options_arguments(old)[0];
	int index = word && option_flag(old, "verbose")
			    ? name_find_word_ignoring_case(words, ARRAY_LEN(words), word)
			    : -1;

	if (word && index < 0)
		return false;
	*ret_is_verbose = word ? index == 1 : option_flag(old, "verbose");
	return true;
}

/* A missing specification is empty, as in the old program: TF_CONFIG is ignored. */
static int server_run(const struct options *old)
{
	struct call call CLEANUP(call_done) = {0};
	bool is_verbose;

	if (!read_word_behind_verbose(old, &is_verbose))
		return output_fail_with(EXIT_USAGE,
					"compat grpc_tensorflow_server: unexpected argument '%s'",
					options_arguments(old)[0]);
	call_add(&call, "server");
	call_add_value(&call, "--cluster-spec", option_text(old, "cluster-spec"));
	call_add_value(&call, "--job-name", option_text(old, "job-name"));
	call_add_value(&call, "--task-index", option_text(old, "task-id"));
	call_add_value(&call, "--gpu-memory-fraction", option_text(old, "gpu-memory-fraction"));
	if (is_verbose)
		call_add(&call, "--verbose");
	return call_run(&call, old);
}

static const struct option_row rows_of_server[] = {
	OPTION("cluster-spec", TEXT, "SPEC", "",
	       "JOB|HOST:PORT;HOST:PORT,JOB|...; now server --cluster-spec"),
	OPTION("job-name", TEXT, "NAME", "", "now server --job-name"),
	OPTION("task-id", TEXT, "ID", "0", "now server --task-index"),
	OPTION("gpu-memory-fraction", TEXT, "FRACTION", NULL, "now server --gpu-memory-fraction"),
	FLAG("verbose", "now server --verbose"),
	CALL_ROWS,
	{0},
};

const struct command compat_grpc_tensorflow_server = {
	.name = "compat grpc_tensorflow_server",
	.arguments = "[OPTIONS]",
	.one_line = "run one TensorFlow server; now 'muster server'",
	.examples = "  muster compat grpc_tensorflow_server \\\n"
		    "          --cluster_spec='worker|localhost:2222,ps|localhost:2223' "
		    "--job_name=ps --task_id=0\n",
	.options = rows_of_server,
	.most_arguments = 1,
	.run = server_run,
};
