/* muster orchestrator: the server that agents of elastic jobs meet at. */
#include "base/mem.h"
#include "cli/command.h"
#include "cli/lookup.h"
#include "cli/options.h"
#include "cli/output.h"
#include "core/member_wire.h"
#include "engine/end_signals.h"
#include "engine/orchestrator.h"
#include "engine/state_folder.h"
#include "io/descriptor_limit.h"

#include <signal.h>

#define DEFAULT_ADDRESS "127.0.0.1:29400"

struct serving {
	struct loop *loop;
	struct orchestrator *orchestrator;
	struct end_signals signals;
	struct listening listening;
};

static void serving_done(struct serving *serving)
{
	orchestrator_free(serving->orchestrator);
	end_signals_done(&serving->signals);
	if (serving->loop)
		loop_free(serving->loop);
	listening_done(&serving->listening);
}

static void say(const char *sentence, void *data)
{
	(void) data;
	output_say("%s", sentence);
}

static void on_signal(int number, void *data)
{
	const struct serving *serving = data;

	(void) number;
	loop_stop(serving->loop);
}

static int begin(struct serving *serving, const struct options *options, struct err *err)
{
	char *state CLEANUP(mem_free_text) = NULL;
	int rc = lookup_state_folder(options, &state, err);

	if (rc == 0)
		rc = loop_new(&serving->loop, err);
	if (rc < 0)
		return rc;
	char *folder CLEANUP(mem_free_text) =
		state_folder_elastic(state, listening_port(serving->listening.fd));
	const struct orchestrator_settings settings = {
		.loop = serving->loop,
		.listening = &serving->listening,
		.folder = folder,
		.lease = option_duration(options, "lease", 0),
		.say = say,
	};

	end_signals_watch(&serving->signals, serving->loop, on_signal, serving);
	return orchestrator_new(&settings, &serving->orchestrator, err);
}

static int orchestrator_run(const struct options *options)
{
	struct serving serving CLEANUP(serving_done) = {.listening = {.fd = -1}};
	struct err err = {0};

	if (option_duration(options, "lease", 0) < ELASTIC_SHORTEST_LEASE) {
		output_say("--lease: must be at least 2s, because agents call every second");
		return EXIT_WRONG_USE;
	}
	if (listening_open(option_text(options, "listen"), &serving.listening, &err) < 0) {
		output_say("--listen: %s", err.text);
		return err.code == ERR_INVALID ? EXIT_WRONG_USE : EXIT_OWN_FAULT;
	}
	if (!listening_is_loopback(serving.listening.fd) && !option_flag(options, "insecure")) {
		output_say("--listen %s: other machines can reach this address, and any client "
			   "could join or stop jobs; to allow that for this network: --insecure",
			   serving.listening.address);
		return EXIT_REFUSED;
	}
	/* Each agent has a connection, and there may be more than the usual 1024. */
	descriptor_limit_raise_to_most();
	if (begin(&serving, options, &err) < 0)
		return output_fail(&err);
	output_say("elastic jobs connect to http://%s", serving.listening.address);
	loop_run(serving.loop);
	return EXIT_DONE;
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
	{.name = "insecure",
	 .kind = OPTION_FLAG,
	 .one_line = "serve other machines without TLS and a token"},
	{0},
};

const struct command command_orchestrator = {
	.name = "orchestrator",
	.group = "Run",
	.arguments = "[OPTIONS]",
	.one_line = "run the rendezvous server of elastic jobs (muster launch)",
	.examples = "  muster orchestrator\n"
		    "  muster orchestrator --listen 10.0.0.1:29400 --insecure\n",
	.options = rows_of_orchestrator,
	.run = orchestrator_run,
};
