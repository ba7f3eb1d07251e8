/* local_test.sh of TensorFlow's tools/dist_test: a test model on a cluster of this machine.
 * Processes replace its Kubernetes cluster in a container. */
#include "command/command.h"
#include "command/output.h"
#include "compat/dist_test.h"
#include "compat/programs.h"
#include "spec/limits.h"

#include <stdlib.h>

static void print_removed_options(const struct options *old)
{
	if (option_flag(old, "leave-container-running"))
		output_print_message(
			"--leave-container-running: there is no container; muster keeps the "
			"logs of a failed check; to keep servers running: --setup-cluster-only");
	if (getenv("TF_DIST_SERVER_DOCKER_IMAGE"))
		output_print_message(
			"TF_DIST_SERVER_DOCKER_IMAGE: ignored (on this machine, servers are "
			"processes of muster)");
}

static int local_test_run(const struct options *old)
{
	struct call call CLEANUP(call_done) = {0};

	print_removed_options(old);
	call_add(&call, "check");
	call_add(&call, "local");
	call_add_value(&call, "--workers", option_text(old, "num-workers"));
	call_add_value(&call, "--ps", option_text(old, "num-parameter-servers"));
	if (option_flag(old, "setup-cluster-only"))
		call_add(&call, "--setup-only");
	else
		dist_test_add_model(&call, old);
	return call_run(&call, old);
}

static const struct option_row rows_of_local_test[] = {DIST_TEST_ROWS, {0}};

const struct command compat_local_test = {
	.name = "compat local_test",
	.arguments = "[OPTIONS]",
	.one_line = "run TensorFlow's distributed test on this machine; now 'muster check'",
	.examples = "  muster compat local_test --num-workers 4 --sync-replicas\n"
		    "  muster compat local_test --dry-run --model-name CENSUS_WIDENDEEP\n",
	.options = rows_of_local_test,
	.run = local_test_run,
};
