/* muster operator: manages the TFJob objects of a cluster. */
#include "cli/cluster_support.h"
#include "cli/commands.h"
#include "cli/exec_kubernetes.h"
#include "cli/kube_cluster.h"
#include "command/options.h"

static int operator_run_command(const struct options *options)
{
	return cluster_support ? cluster_support->serve_tfjobs(options)
			       : exec_kubernetes_program(options);
}

/* Flags of training-operator's manager; most have no effect (cli/operator_flags.h). */
#define OLD_ROW(of_name, of_kind)                                                                  \
	{                                                                                          \
		.name = (of_name), .kind = (of_kind), .value_name = "VALUE"                        \
	}

static const struct option_row rows_of_operator[] = {
	{.name = "namespace",
	 .letter = 'n',
	 .kind = OPTION_LIST,
	 .value_name = "NAMESPACES",
	 .one_line = "serve only these namespaces: a,b or repeated (default: all namespaces)"},
	{.name = "services",
	 .kind = OPTION_WORD,
	 .words = "per-replica|per-job",
	 .otherwise = "per-replica",
	 .one_line = "number of headless Services of a job"},
	{.name = "gang-scheduler-name",
	 .kind = OPTION_TEXT,
	 .value_name = "NAME",
	 .one_line =
		 "schedule the Pods of a job together: volcano, kubernetes, or a scheduler's name"},
	{.name = "leader-elect",
	 .kind = OPTION_FLAG,
	 .one_line = "elect a leader through a Lease; only the leader acts"},
	{.name = "leader-election-id",
	 .kind = OPTION_TEXT,
	 .value_name = "NAME",
	 .otherwise = "1ca428e5.training-operator.kubeflow.org",
	 .one_line = "name of the leader Lease"},
	{.name = "metrics-bind-address",
	 .kind = OPTION_TEXT,
	 .value_name = "ADDRESS",
	 .one_line = "serve /metrics at HOST:PORT, or :PORT for all addresses"},
	{.name = "health-probe-bind-address",
	 .kind = OPTION_TEXT,
	 .value_name = "ADDRESS",
	 .one_line = "also serve /healthz and /readyz at this address"},
	{.name = "log-format",
	 .kind = OPTION_WORD,
	 .words = "text|json",
	 .otherwise = "text",
	 .one_line = "log format (json: one object per line)"},
	{.name = "image",
	 .group = OPTIONS_OF_SETUP,
	 .kind = OPTION_TEXT,
	 .value_name = "IMAGE",
	 .one_line = "image of the operator's Pods (default muster:latest)"},
	{.name = "dry-run",
	 .group = OPTIONS_OF_SETUP,
	 .kind = OPTION_FLAG,
	 .one_line = "print the steps, and change nothing"},
	{.name = "wait",
	 .group = OPTIONS_OF_SETUP,
	 .kind = OPTION_FLAG,
	 .otherwise = "true",
	 .one_line = "wait until the operator is running"},
	{.name = "with-crd",
	 .group = OPTIONS_OF_SETUP,
	 .kind = OPTION_FLAG,
	 .one_line = "uninstall: also delete the definition of TFJobs, if there are no TFJobs"},
	{.name = "force",
	 .group = OPTIONS_OF_SETUP,
	 .kind = OPTION_FLAG,
	 .one_line = "keep objects of others in the operator's namespace; upgrade: also leave "
		     "objects of other kinds without an operator"},
	{.name = "skip-namespace",
	 .group = OPTIONS_OF_SETUP,
	 .kind = OPTION_LIST,
	 .value_name = "NAMESPACE",
	 .one_line = "upgrade: its Deployments are not training-operator (repeatable)"},
	CLUSTER_ROWS,
	OLD_ROW("enable-scheme", OPTION_LIST),
	OLD_ROW("zap-log-level", OPTION_TEXT),
	{.name = "zap-encoder", .kind = OPTION_WORD, .words = "console|json"},
	OLD_ROW("controller-threads", OPTION_TEXT),
	OLD_ROW("kube-api-qps", OPTION_TEXT),
	OLD_ROW("kube-api-burst", OPTION_TEXT),
	OLD_ROW("webhook-server-port", OPTION_TEXT),
	OLD_ROW("webhook-service-name", OPTION_TEXT),
	OLD_ROW("webhook-secret-name", OPTION_TEXT),
	OLD_ROW("pytorch-init-container-image", OPTION_TEXT),
	OLD_ROW("pytorch-init-container-template-file", OPTION_TEXT),
	OLD_ROW("pytorch-init-container-max-tries", OPTION_TEXT),
	OLD_ROW("mpi-kubectl-delivery-image", OPTION_TEXT),
	OLD_ROW("zap-devel", OPTION_FLAG),
	OLD_ROW("zap-stacktrace-level", OPTION_TEXT),
	OLD_ROW("zap-time-encoding", OPTION_TEXT),
	{0},
};

const struct command command_operator = {
	.name = "operator",
	.group = "Run",
	.arguments = "[OPTIONS]\ninstall [OPTIONS]\nuninstall [OPTIONS]\n"
		     "upgrade-from-training-operator [OPTIONS]",
	.one_line = "run the Kubernetes operator for TFJob objects (replaces training-operator)",
	.examples = "  kubectl apply -f deploy/crd.yaml && muster operator\n"
		    "  muster operator -n research\n"
		    "  muster operator install --image registry.example/muster:0.1.0\n"
		    "  muster operator upgrade-from-training-operator --dry-run\n",
	.options = rows_of_operator,
	.most_arguments = 1,
	.takes_go_flags = true,
	.run = operator_run_command,
};
