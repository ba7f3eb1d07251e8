/* muster orchestrator: the rendezvous server of the agents of elastic jobs. */
#include "base/mem.h"
#include "cli/cluster_support.h"
#include "cli/commands.h"
#include "cli/kubernetes_program.h"
#include "cli/local_jobs.h"
#include "cli/server_access.h"
#include "elastic/orchestrator.h"
#include "io/file.h"
#include "jobs/state_folder.h"
#include "rendezvous/json.h"
#include "spec/limits.h"
#include "supervise/background.h"

#include <signal.h>

#define LEAST_DESCRIPTORS 64
#define DEFAULT_ADDRESS "127.0.0.1:29400"

struct serving {
	struct loop *loop;
	struct orchestrator *orchestrator;
	struct end_signals signals;
	struct listening listening;
	struct server_access access;
};

static void serving_done(struct serving *serving)
{
	orchestrator_free(serving->orchestrator);
	end_signals_done(&serving->signals);
	if (serving->loop)
		loop_free(serving->loop);
	listening_done(&serving->listening);
	server_access_done(&serving->access);
}

static void on_orchestrator_signal(int number, void *data)
{
	const struct serving *serving = data;

	(void) number;
	loop_stop(serving->loop);
}

static int start_orchestrator(struct serving *serving, const struct options *options,
			      struct err *err)
{
	char *state CLEANUP(mem_free_text) = local_jobs_folder(options);
	int rc = server_access_open(options, serving->listening.fd, &serving->access, err);

	if (rc == 0)
		rc = loop_new(&serving->loop, err);
	if (rc < 0)
		return rc;
	char *folder CLEANUP(mem_free_text) =
		state_folder_elastic(state, listening_port(serving->listening.fd));
	const struct orchestrator_settings settings = {
		.loop = serving->loop,
		.listening = &serving->listening,
		.tls = serving->access.tls,
		.access = serving->access.access,
		.folder = folder,
		.lease = option_duration(options, "lease", 0),
		.say = output_print_sentence,
	};

	end_signals_watch(&serving->signals, serving->loop, on_orchestrator_signal, serving);
	return orchestrator_new(&settings, &serving->orchestrator, err);
}

static int serve_elastic_jobs(struct serving *serving, const struct options *options)
{
	struct err err = {0};
	rlim_t before;

	/* Each agent has up to two connections, and there may be more than the usual 1024. */
	if (descriptor_limit_raise(LEAST_DESCRIPTORS, &before, &err) < 0 ||
	    start_orchestrator(serving, options, &err) < 0)
		return output_fail(&err);
	bool has_certificate = option_text(options, "tls-dir");
	size_t n_connections = descriptor_limit_connections(LIMIT_MEMBERS);

	output_print_message("elastic jobs connect to %s%s%s",
			     serving->access.tls ? has_certificate ? "https://" : "" : "http://",
			     serving->listening.address,
			     serving->access.tls && !has_certificate
				     ? ", over TLS with the key of the token"
				     : "");
	if (n_connections < LIMIT_MEMBERS)
		output_print_message("the limit of open files (ulimit -Hn) leaves room for about "
				     "%zu machines",
				     n_connections / 2);
	if (has_certificate)
		output_print_message(
			"if no authority signed the certificate, agents need: --rdzv-pin %s",
			serving->access.pin);
	loop_run(serving->loop);
	return EXIT_DONE;
}

static int orchestrator_run(const struct options *options)
{
	const char *token_file = option_text(options, "make-token");
	struct serving serving CLEANUP(serving_done) = {.listening = {.fd = -1}};
	struct err err = {0};

	if (option_duration(options, "lease", 0) < ELASTIC_SHORTEST_LEASE)
		return output_fail_with(
			EXIT_USAGE,
			"--lease: must be at least 2s, because agents call every second");
	if (token_file)
		return cluster_support ? cluster_support->create_token(token_file)
				       : exec_kubernetes_program(options);
	if (listening_open(option_text(options, "listen"), &serving.listening, &err) < 0) {
		output_print_message("--listen: %s", err.text);
		return err.code == ERR_INVALID ? EXIT_USAGE : EXIT_INTERNAL;
	}
	if (cluster_support || !server_access_needs_other_program(options, serving.listening.fd))
		return serve_elastic_jobs(&serving, options);
	listening_done(&serving.listening);
	return exec_kubernetes_program(options);
}

static const struct option_row rows_of_orchestrator[] = {
	OPTION("listen", TEXT, "ADDRESS", DEFAULT_ADDRESS,
	       "HOST:PORT on which to listen for agents", .letter = 'l'),
	OPTION("lease", DURATION, "TIME", "5s", "time after which a silent agent counts as lost"),
	SERVER_ACCESS_ROWS,
	{0},
};

const struct command command_orchestrator = {
	.name = "orchestrator",
	.group = "Run",
	.arguments = "[OPTIONS]",
	.one_line = "run the rendezvous server of elastic jobs (muster launch)",
	.examples = "  muster orchestrator\n"
		    "  muster orchestrator --listen 10.0.0.1:29400\n"
		    "  muster orchestrator --make-token token\n"
		    "  muster orchestrator --listen 10.0.0.1:29400 --token-file token.hash "
		    "--tls-dir tls\n",
	.options = rows_of_orchestrator,
	.run = orchestrator_run,
};
