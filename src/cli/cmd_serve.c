/* muster serve: creates jobs that clients request over HTTP, and runs them on a cluster. */
#include "cli/cluster_support.h"
#include "cli/commands.h"
#include "cli/kube_cluster.h"
#include "cli/kubernetes_program.h"
#include "cli/server_access.h"

static int serve_run(const struct options *options)
{
	return cluster_support ? cluster_support->serve(options) : exec_kubernetes_program(options);
}

static const struct option_row rows_of_serve[] = {
	OPTION("listen", TEXT, "ADDRESS", "127.0.0.1:7897",
	       "HOST:PORT on which to listen for clients", .letter = 'l'),
	SERVER_ACCESS_ROWS,
	OPTION("image", TEXT, "IMAGE", "muster:latest",
	       "image with muster, which brings 'muster pod-server' into the Pods"),
	OPTION("pod-file", TEXT, "FILE", NULL, "YAML file with a Pod template for all jobs"),
	FLAG("leader-elect", "elect a leader through a Lease; only the leader acts"),
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
