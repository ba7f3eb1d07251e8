/* muster serve: creates jobs that clients request over HTTP, and runs them on a cluster. */
#include "cli/cluster_support.h"
#include "cli/commands.h"
#include "cli/exec_kubernetes.h"
#include "cli/kube_cluster.h"
#include "cli/server_access.h"
#include "command/options.h"

static int serve_run(const struct options *options)
{
	return cluster_support ? cluster_support->serve(options) : exec_kubernetes_program(options);
}

static const struct option_row rows_of_serve[] = {
	{.name = "listen",
	 .letter = 'l',
	 .kind = OPTION_TEXT,
	 .value_name = "ADDRESS",
	 .otherwise = "127.0.0.1:7897",
	 .one_line = "HOST:PORT on which to listen for clients"},
	SERVER_ACCESS_ROWS,
	{.name = "image",
	 .kind = OPTION_TEXT,
	 .value_name = "IMAGE",
	 .otherwise = "muster:latest",
	 .one_line = "image with muster, which brings 'muster pod-server' into the Pods"},
	{.name = "pod-file",
	 .kind = OPTION_TEXT,
	 .value_name = "FILE",
	 .one_line = "YAML file with a Pod template for all jobs"},
	{.name = "leader-elect",
	 .kind = OPTION_FLAG,
	 .one_line = "elect a leader through a Lease; only the leader acts"},
	CLUSTER_JOB_ROWS,
	{0},
};

const struct command command_serve = {
	.name = "serve",
	.group = "Run",
	.arguments = "[OPTIONS]",
	.one_line = "create and run jobs on a cluster for clients over HTTP (ElasticDL)",
	.examples = "  muster serve\n"
		    "  muster serve --make-token token\n"
		    "  muster serve -n research --listen 0.0.0.0:7897 --token-file token.hash\n",
	.options = rows_of_serve,
	.run = serve_run,
};
