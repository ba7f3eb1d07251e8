/* muster pod-server: starts the training of a Pod when a master has sent the Pod's role. */
#include "base/mem.h"
#include "cli/commands.h"
#include "command/input.h"
#include "io/own_process.h"
#include "serve/pod_server.h"
#include "spec/elasticdl.h"

/* From the file, else from the environment. NULL: there is none. Caller frees. */
static int read_secret(const struct options *options, char **ret_secret, struct err *err)
{
	const char *path = option_text(options, "secret-file");
	const char *variable = getenv(POD_SECRET_VARIABLE);

	if (path) {
		input_warn_if_shared(path);
		return input_read_secret(path, ret_secret, err);
	}
	if (variable && input_check_secret(variable, POD_SECRET_VARIABLE, err) < 0)
		return err->code;
	*ret_secret = mem_copy_text(variable);
	return 0;
}

static int pod_server_call(const struct options *options)
{
	const char *folder = option_text(options, "install");
	struct listening listening CLEANUP(listening_done) = {.fd = -1};
	char *secret CLEANUP(mem_free_secret) = NULL;
	struct err err = {0};
	const char *const *command = options_arguments(options);
	int exit_code = EXIT_INTERNAL;

	/* For a container whose image has no muster. */
	if (folder) {
		char *path CLEANUP(mem_free_text) = mem_format("%s/muster", folder);

		return own_program_copy(path, &err) == 0
			       ? EXIT_DONE
			       : output_fail_with(EXIT_INTERNAL, "%s", err.text);
	}
	if (read_secret(options, &secret, &err) < 0)
		return output_fail_with(EXIT_USAGE, "%s", err.text);
	if (!secret && !option_flag(options, "insecure"))
		return output_fail_with(
			EXIT_REFUSED,
			"no secret: any client that reaches this Pod could start its training; "
			"set " POD_SECRET_VARIABLE " or --secret-file, or allow that: --insecure");
	if (listening_open(option_text(options, "listen"), &listening, &err) < 0) {
		output_print_message("--listen: %s", err.text);
		return err.code == ERR_INVALID ? EXIT_USAGE : EXIT_INTERNAL;
	}
	const struct pod_server_settings settings = {
		.listening = &listening,
		.secret = secret,
		.command = command[0] ? command : NULL,
		.grace = option_duration(options, "grace", 0),
		.say = output_print_sentence,
	};

	output_print_message("waiting for the master on http://%s", listening.address);
	if (pod_server_run(&settings, &exit_code, &err) < 0)
		output_print_message("%s", err.text);
	return exit_code;
}

static const struct option_row rows_of_pod_server[] = {
	OPTION("listen", TEXT, "ADDRESS", "0.0.0.0:7896",
	       "HOST:PORT on which to listen for the master", .letter = 'l'),
	OPTION("secret-file", TEXT, "FILE", NULL,
	       "file with the secret of the job (default: MUSTER_POD_SECRET)"),
	FLAG("insecure", "serve any client, without a secret"),
	OPTION("install", TEXT, "DIR", NULL, "copy this program to DIR/muster, and exit"),
	OPTION("grace", DURATION, "TIME", "30s",
	       "time between SIGTERM and SIGKILL when the training is stopped"),
	{0},
};

const struct command command_pod_server = {
	.name = "pod-server",
	.group = "TensorFlow",
	.arguments = "[OPTIONS] [PROGRAM [ARG...]]",
	.one_line = "wait in a Pod for its configuration, then run its training (ElasticDL)",
	.examples = "  muster pod-server --secret-file /etc/job/secret\n"
		    "  muster pod-server --insecure python train.py\n",
	.options = rows_of_pod_server,
	.takes_program = true,
	.run = pod_server_call,
};
