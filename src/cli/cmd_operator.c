/* muster operator: manages the TFJob objects of a cluster. */
#include "cli/cluster_support.h"
#include "cli/commands.h"
#include "cli/kube_cluster.h"
#include "cli/kubernetes_program.h"

static int operator_run_command(const struct options *options)
{
	return cluster_support ? cluster_support->serve_tfjobs(options)
			       : exec_kubernetes_program(options);
}

/* Flags of training-operator's manager; most have no effect (cli/operator_on_cluster.c). */
#define OLD_ROW(of_name, of_kind)                                                                  \
	{                                                                                          \
		.name = (of_name), .kind = (of_kind), .value_name = "VALUE"                        \
	}

static const struct option_row rows_of_operator[] = {
	OPTION("namespace", LIST, "NAMESPACES", NULL,
	       "serve only these namespaces: a,b or repeated (default: all namespaces)",
	       .letter = 'n'),
	WORDS("services", "per-replica|per-job", "per-replica",
	      "number of headless Services of a job"),
	OPTION("gang-scheduler-name", TEXT, "NAME", NULL,
	       "schedule the Pods of a job together: volcano, kubernetes, or a scheduler's name"),
	FLAG("leader-elect", "elect a leader through a Lease; only the leader acts"),
	OPTION("leader-election-id", TEXT, "NAME", "1ca428e5.training-operator.kubeflow.org",
	       "name of the leader Lease"),
	OPTION("metrics-bind-address", TEXT, "ADDRESS", NULL,
	       "serve /metrics at HOST:PORT, or :PORT for all addresses"),
	OPTION("health-probe-bind-address", TEXT, "ADDRESS", NULL,
	       "also serve /healthz and /readyz at this address"),
	WORDS("log-format", "text|json", "text", "log format (json: one object per line)"),
	OPTION("image", TEXT, "IMAGE", NULL, "image of the operator's Pods (default muster:latest)",
	       .group = OPTIONS_OF_SETUP),
	FLAG("dry-run", "print the steps, and change nothing", .group = OPTIONS_OF_SETUP),
	OPTION("wait", FLAG, NULL, "true", "wait until the operator is running",
	       .group = OPTIONS_OF_SETUP),
	FLAG("with-crd", "uninstall: also delete the definition of TFJobs, if there are no TFJobs",
	     .group = OPTIONS_OF_SETUP),
	FLAG("force",
	     "keep objects of others in the operator's namespace; upgrade: also leave objects of "
	     "other kinds without an operator",
	     .group = OPTIONS_OF_SETUP),
	OPTION("skip-namespace", LIST, "NAMESPACE", NULL,
	       "upgrade: its Deployments are not training-operator (repeatable)",
	       .group = OPTIONS_OF_SETUP),
	CLUSTER_ROWS,
	OLD_ROW("enable-scheme", OPTION_LIST),
	OLD_ROW("zap-log-level", OPTION_TEXT),
	WORDS("zap-encoder", "console|json", NULL, NULL),
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
