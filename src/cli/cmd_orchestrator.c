/* muster orchestrator: the rendezvous server of the agents of elastic jobs. */
#include "cli/cluster_support.h"
#include "cli/commands.h"
#include "cli/exec_kubernetes.h"
#include "cli/orchestrator_call.h"
#include "command/output.h"
#include "rendezvous/member_wire.h"

#define DEFAULT_ADDRESS "127.0.0.1:29400"

static bool needs_other_libraries(const struct options *options)
{
	return option_text(options, "token-file") || option_text(options, "make-token") ||
	       option_text(options, "tls-dir");
}

static int orchestrator_run(const struct options *options)
{
	const struct server_access none = {0};

	if (option_duration(options, "lease", 0) < ELASTIC_SHORTEST_LEASE) {
		output_print_message(
			"--lease: must be at least 2s, because agents call every second");
		return EXIT_USAGE;
	}
	if (!needs_other_libraries(options))
		return orchestrator_call(options, &none);
	return cluster_support ? cluster_support->orchestrate(options)
			       : exec_kubernetes_program(options);
}

static const struct option_row rows_of_orchestrator[] = {
	{.name = "listen",
	 .letter = 'l',
	 .kind = OPTION_TEXT,
	 .value_name = "ADDRESS",
	 .otherwise = DEFAULT_ADDRESS,
	 .one_line = "HOST:PORT on which to listen for agents"},
	{.name = "lease",
	 .kind = OPTION_DURATION,
	 .value_name = "TIME",
	 .otherwise = "5s",
	 .one_line = "time after which a silent agent counts as lost"},
	SERVER_ACCESS_ROWS,
	{.name = "insecure",
	 .kind = OPTION_FLAG,
	 .one_line = "serve any client on other machines, without a token"},
	{0},
};

const struct command command_orchestrator = {
	.name = "orchestrator",
	.group = "Run",
	.arguments = "[OPTIONS]",
	.one_line = "run the rendezvous server of elastic jobs (muster launch)",
	.examples = "  muster orchestrator\n"
		    "  muster orchestrator --make-token token\n"
		    "  muster orchestrator --listen 10.0.0.1:29400 --token-file token.hash "
		    "--tls-dir tls\n",
	.options = rows_of_orchestrator,
	.run = orchestrator_run,
};
