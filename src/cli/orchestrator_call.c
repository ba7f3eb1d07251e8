#include "cli/orchestrator_call.h"

#include "base/mem.h"
#include "cli/lookup.h"
#include "command/command.h"
#include "command/output.h"
#include "elastic/orchestrator.h"
#include "io/descriptor_limit.h"
#include "jobs/state_folder.h"
#include "rendezvous/member_wire.h"
#include "supervise/end_signals.h"

#include <signal.h>

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

static void print_orchestrator_line(const char *sentence, void *data)
{
	(void) data;
	output_print_message("%s", sentence);
}

static void on_orchestrator_signal(int number, void *data)
{
	const struct serving *serving = data;

	(void) number;
	loop_stop(serving->loop);
}

static int start_orchestrator(struct serving *serving, const struct options *options,
			      const struct server_access *access, struct err *err)
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
		.tls = access->tls,
		.access = {access->is_known, &access->token},
		.folder = folder,
		.lease = option_duration(options, "lease", 0),
		.say = print_orchestrator_line,
	};

	end_signals_watch(&serving->signals, serving->loop, on_orchestrator_signal, serving);
	return orchestrator_new(&settings, &serving->orchestrator, err);
}

int orchestrator_call(const struct options *options, const struct server_access *access)
{
	struct serving serving CLEANUP(serving_done) = {.listening = {.fd = -1}};
	struct err err = {0};

	if (listening_open(option_text(options, "listen"), &serving.listening, &err) < 0) {
		output_print_message("--listen: %s", err.text);
		return err.code == ERR_INVALID ? EXIT_USAGE : EXIT_INTERNAL;
	}
	if (!listening_is_loopback(serving.listening.fd) && !access->is_known &&
	    !option_flag(options, "insecure")) {
		output_print_message(
			"--listen %s: other machines can reach this address, and any client "
			"could join or stop jobs; add --token-file, or allow that for this "
			"network: --insecure",
			serving.listening.address);
		return EXIT_REFUSED;
	}
	/* Each agent has a connection, and there may be more than the usual limit of 1024. */
	descriptor_limit_raise_to_most();
	if (start_orchestrator(&serving, options, access, &err) < 0)
		return output_fail(&err);
	output_print_message("elastic jobs connect to http%s://%s", access->tls ? "s" : "",
			     serving.listening.address);
	if (access->pin)
		output_print_message(
			"if no authority signed the certificate, agents need: --rdzv-pin %s",
			access->pin);
	loop_run(serving.loop);
	return EXIT_DONE;
}
