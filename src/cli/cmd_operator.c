/* muster operator: serves TFJob objects of a cluster. */
#include "cli/cluster.h"
#include "cli/command.h"
#include "cli/edition.h"
#include "cli/go_on.h"
#include "cli/options.h"

static int operator_run_command(const struct options *options)
{
	return edition ? edition->serve_tfjobs(options) : go_on_as_other_program(options);
}

static const struct option_row rows_of_operator[] = {
	{.name = "namespace",
	 .letter = 'n',
	 .kind = OPTION_TEXT,
	 .value_name = "NAMESPACE",
	 .one_line = "only the TFJobs of this namespace (default: of all)"},
	{.name = "leader-elect",
	 .kind = OPTION_FLAG,
	 .one_line = "of several operators one acts: the holder of a Lease"},
	{.name = "leader-election-id",
	 .kind = OPTION_TEXT,
	 .value_name = "NAME",
	 .otherwise = "1ca428e5.training-operator.kubeflow.org",
	 .one_line = "the name of that Lease"},
	{.name = "metrics-bind-address",
	 .kind = OPTION_TEXT,
	 .value_name = "ADDRESS",
	 .one_line = "serve /metrics at HOST:PORT, or :PORT for all addresses"},
	{.name = "health-probe-bind-address",
	 .kind = OPTION_TEXT,
	 .value_name = "ADDRESS",
	 .one_line = "serve /healthz and /readyz there, besides"},
	CLUSTER_ROWS,
	{0},
};

const struct command command_operator = {
	.name = "operator",
	.group = "Run",
	.arguments = "[OPTIONS]",
	.one_line = "serve the TFJob objects of a cluster, in the place of training-operator",
	.examples = "  kubectl apply -f deploy/crd.yaml && muster operator\n"
		    "  muster operator -n research\n",
	.options = rows_of_operator,
	.run = operator_run_command,
};
