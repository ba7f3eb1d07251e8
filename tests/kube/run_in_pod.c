/* Runs a command in a Pod through pods/exec, as `kubectl exec` does, by the environment's
 * kubeconfig, for tests that compare the two:
 *
 *     run_in_pod [--container NAME] [--stdin] [--terminal] POD [COMMAND…]
 *
 * Without a command it attaches. Ends with the command's exit code, or with 125 and a sentence. */
#include "base/mem.h"
#include "io/file.h"
#include "io/loop.h"
#include "kube/config.h"
#include "kube/credential.h"
#include "pods/exec.h"

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FAILED 125
#define PIECE 65536

struct runner {
	struct loop *loop;
	struct kube_api *api;
	struct kube_exec *exec;
	struct loop_watch *input; /* NULL: not opened, or at its end */
	int exit_code;
	bool has_input;
};

static void say(const struct err *err)
{
	fprintf(stderr, "run_in_pod: %s\n", err->text);
}

static void end_input(struct runner *runner)
{
	struct err err;

	loop_watch_free(TAKE(runner->input));
	if (kube_exec_end_input(runner->exec, &err) < 0)
		say(&err);
}

static void read_input(void *data)
{
	struct runner *runner = data;
	static char bytes[PIECE];
	ssize_t len = read(STDIN_FILENO, bytes, sizeof(bytes));

	if (len <= 0) {
		end_input(runner);
		return;
	}
	kube_exec_send(runner->exec, bytes, (size_t) len);
	loop_watch_enable(runner->input, kube_exec_has_room(runner->exec));
}

static void take_room(void *data)
{
	struct runner *runner = data;

	if (!runner->has_input)
		return;
	if (!runner->input)
		runner->input = loop_watch_readable(runner->loop, STDIN_FILENO, read_input, runner);
	loop_watch_enable(runner->input, true);
}

static void take_output(enum kube_channel channel, const char *bytes, size_t len, void *data)
{
	(void) data;
	file_write_all(channel == KUBE_CHANNEL_OUTPUT ? STDOUT_FILENO : STDERR_FILENO, bytes, len,
		       NULL);
}

static void take_end(int exit_code, const struct err *err, void *data)
{
	struct runner *runner = data;

	if (err)
		say(err);
	runner->exit_code = err ? FAILED : exit_code;
	loop_watch_free(TAKE(runner->input));
	loop_stop(runner->loop);
}

static void run(struct runner *runner, struct kube_exec_request *request)
{
	request->on_output = take_output;
	request->on_room = take_room;
	request->on_end = take_end;
	request->data = runner;
	runner->has_input = request->has_input;
	runner->exec = kube_exec_new(runner->api, request);
	loop_run(runner->loop);
}

static int open_api(struct runner *runner, struct err *err)
{
	struct kube_config_search search = kube_config_search_here();
	struct kube_config *config CLEANUP(kube_config_cleanup) = NULL;
	struct kube_login *login CLEANUP(kube_login_cleanup) = NULL;
	int rc = loop_new(&runner->loop, err);

	if (rc == 0)
		rc = kube_config_read(&search, NULL, &config, err);
	if (rc == 0)
		rc = kube_login_open(runner->loop, config, &login, err);
	if (rc == 0)
		config = NULL; /* it is the login's now */
	if (rc == 0)
		rc = kube_api_new(runner->loop, login, &runner->api, err);
	if (rc == 0)
		login = NULL; /* it is the API's now */
	return rc;
}

static void read_options(struct kube_exec_request *request, int argc, char **argv)
{
	static const struct option options[] = {
		{"container", required_argument, NULL, 'c'},
		{"stdin", no_argument, NULL, 'i'},
		{"terminal", no_argument, NULL, 't'},
		{NULL, 0, NULL, 0},
	};

	for (int option; (option = getopt_long(argc, argv, "+", options, NULL)) != -1;)
		switch (option) {
		case 'c':
			request->container.name = optarg;
			break;
		case 'i':
			request->has_input = true;
			break;
		case 't':
			request->is_terminal = true;
			break;
		default:
			exit(FAILED);
		}
	if (optind == argc)
		exit(FAILED);
	request->container.pod = argv[optind];
	request->command = optind + 1 < argc ? (const char *const *) argv + optind + 1 : NULL;
}

int main(int argc, char **argv)
{
	struct kube_exec_request request = {0};
	struct runner runner = {.exit_code = FAILED};
	struct err err;

	signal(SIGPIPE, SIG_IGN);
	read_options(&request, argc, argv);
	if (open_api(&runner, &err) < 0)
		say(&err);
	else
		run(&runner, &request);
	kube_api_free(runner.api);
	loop_free(runner.loop);
	return runner.exit_code;
}
