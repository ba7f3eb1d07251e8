/* muster check: tests whether distributed TensorFlow works on this machine, on a cluster, or on
 * existing servers. */
#include "base/mem.h"
#include "check/facts.h"
#include "check/run.h"
#include "cli/commands.h"
#include "cli/job_name.h"
#include "cli/kube_cluster.h"
#include "cli/lookup.h"
#include "cli/pod_options.h"
#include "command/options.h"
#include "command/output.h"
#include "io/private_network.h"

#include <stdlib.h>
#include <string.h>

#define SERVERS_VARIABLE "TF_DIST_GRPC_SERVER_URL"

/* The values of a command line, and all errors in it: a sentence a line. */
struct call {
	const struct options *options;
	struct check_request request;
	struct arena *arena;
	struct text faults;
};

static void check_call_done(struct call *call)
{
	text_done(&call->faults);
	arena_free(call->arena);
}

static void add_check_call_fault(struct call *call, const char *sentence)
{
	text_addf(&call->faults, "muster check: %s\n", sentence);
}

static void read_check_target(struct call *call)
{
	size_t n_arguments;
	const char *place = options_arguments(call->options, &n_arguments)[0];
	bool is_on_kubernetes = text_equals(option_text(call->options, "on"), "kubernetes");

	call->request.is_on_kubernetes = is_on_kubernetes;
	call->request.is_remote = text_equals(place, "remote");
	if (place && !call->request.is_remote && !text_equals(place, "local"))
		text_addf(&call->faults,
			  "muster check: unknown target '%s' (expected local or remote)\n", place);
	if (is_on_kubernetes && text_equals(place, "local"))
		add_check_call_fault(
			call,
			"local: cannot be used with --on kubernetes (it checks this machine)");
}

/* The rows whose values are passed to the jobs of a check on a cluster. */
static const struct option_row rows_of_place[] = {POD_ROWS, CLUSTER_ROWS};

static void add_place_words(struct call *call, const struct option_row *row, const char **words,
			    size_t *count)
{
	const char *const text = option_text(call->options, row->name);
	size_t n_values = text != NULL;
	const char *const *values = &text;

	if (row->kind == OPTION_LIST)
		values = option_list(call->options, row->name, &n_values);
	for (size_t i = 0; i < n_values; i++) {
		words[(*count)++] = arena_format(call->arena, "--%s", row->name);
		words[(*count)++] = values[i];
	}
}

/* Each word of the command line, and each row with a variable, has at most one value. */
static void read_pods(struct call *call)
{
	char **own CLEANUP(mem_free_any) = options_call(call->options);
	size_t count = 0, most = 1;

	while (own[most])
		most++;
	const char **words = arena_take_array(
		call->arena, 2 * (most + ARRAY_LEN(rows_of_place)) + 1, sizeof(*words));

	for (size_t i = 0; i < ARRAY_LEN(rows_of_place); i++)
		if (call->request.is_on_kubernetes || !rows_of_place[i].has_variable)
			add_place_words(call, &rows_of_place[i], words, &count);
	if (call->request.is_on_kubernetes)
		call->request.place = words;
	else if (count > 0)
		text_addf(&call->faults, "muster check: %s: needs --on kubernetes\n", words[0]);
}

/* Only a template may have one as well. */
static void check_image(struct call *call)
{
	if (call->request.is_on_kubernetes && !option_text(call->options, "image") &&
	    !option_text(call->options, "pod-template"))
		add_check_call_fault(
			call, "--on kubernetes: needs --image, an image with TensorFlow and muster "
			      "(make server-image adds muster to an image with TensorFlow)");
}

static void read_model(struct call *call)
{
	const char *word = option_text(call->options, "model");

	for (enum check_model model = 0; model < CHECK_MODEL_COUNT; model++)
		if (text_equals(word, check_model_words[model]))
			call->request.model = model;
}

static void read_cluster(struct call *call)
{
	const struct options *options = call->options;
	const char *given = option_text(options, "servers");
	const char *variable = getenv(SERVERS_VARIABLE);
	bool is_on_kubernetes = call->request.is_on_kubernetes;
	const char *list = given || is_on_kubernetes ? given : variable;

	/* As in --servers or in the variable of TensorFlow's old test. */
	if (call->request.is_remote && list)
		call->request.servers =
			check_servers_read(list, call->arena, "muster check: ", &call->faults,
					   &call->request.n_servers);
	/* On a cluster servers are created, unless they are named. */
	if (is_on_kubernetes && call->request.n_servers == 0)
		call->request.is_remote = false;
	if (call->request.is_remote && call->request.n_servers == 0 && !call->faults.len)
		add_check_call_fault(call, "check remote needs --servers grpc://HOST:2222, or the "
					   "variable " SERVERS_VARIABLE);
	if (!call->request.is_remote && given)
		add_check_call_fault(call, "--servers: needs 'check remote'");
	call->request.ps = (int) option_number(options, "ps", 0);
	call->request.workers = (int) option_number(options, "workers", 0);
	/* Of existing servers all are used, unless a number was given. */
	if (call->request.is_remote && !option_is_given(options, "workers"))
		call->request.workers = 0;
}

static void refuse_what_does_not_fit(struct call *call)
{
	const struct check_request *request = &call->request;
	bool has_servers = check_model_brings_servers(request->model);
	bool trains = check_request_trains(request);

	if (request->is_remote && has_servers)
		text_addf(&call->faults,
			  "muster check: --model %s: cannot be used with 'remote', because it "
			  "starts its own servers; on this machine: 'muster check --model %s'\n",
			  check_model_words[request->model], check_model_words[request->model]);
	if (request->is_remote && request->is_setup_only)
		add_check_call_fault(
			call,
			"--setup-only: cannot be used with 'remote', whose servers already run");
	if (request->has_private_network && (request->is_remote || request->is_on_kubernetes))
		add_check_call_fault(call,
				     "--private-network: the servers do not run on this machine");
	if (request->has_private_network && request->is_setup_only)
		add_check_call_fault(
			call, "--private-network: cannot be used with --setup-only (no client "
			      "could reach the servers)");
	if (request->is_sync && trains && request->model != CHECK_MNIST &&
	    request->model != CHECK_CENSUS)
		add_check_call_fault(call,
				     "--sync-replicas: needs --model mnist or --model census");
	if (request->data_dir && !trains)
		add_check_call_fault(call, "--data-dir: not used, because no model is trained");
	if (trains && !request->is_remote && request->ps == 0 && request->model != CHECK_MWMS)
		add_check_call_fault(
			call,
			"--ps 0: this model needs a parameter server; use --ps 1, or --model mwms");
}

static void read_request(struct call *call)
{
	const struct options *options = call->options;

	call->request = (struct check_request){
		.is_sync = option_flag(options, "sync-replicas"),
		.is_setup_only = option_flag(options, "setup-only"),
		.has_private_network = option_flag(options, "private-network"),
		.steps = option_number(options, "steps", 0),
		.data_dir = option_text(options, "data-dir"),
		.libtensorflow = option_text(options, "libtensorflow"),
		.state_dir = option_text(options, "state-dir"),
		.timeout = option_duration(options, "timeout", 0),
	};
	if (call->request.timeout <= 0)
		add_check_call_fault(call, "--timeout must be more than 0");
	read_check_target(call);
	read_model(call);
	read_cluster(call);
	read_pods(call);
	check_image(call);
	refuse_what_does_not_fit(call);
}

static int run(const struct call *call, const char *state_folder)
{
	const struct options *options = call->options;
	const char *format = option_text(options, "output");
	const struct check_run_settings settings = {
		.request = &call->request,
		.state_folder = state_folder,
		.format = format ? format : "text",
		.is_verbose = option_flag(options, "verbose"),
		.color = option_text(options, "color"),
	};
	struct err err = {0};
	int exit_code = EXIT_FAILED;

	return check_run(&settings, &exit_code, &err) < 0 ? output_fail(&err) : exit_code;
}

/* All processes that the check starts are in it too, and so reach each other. */
static int enter_private_network(struct err *err)
{
	struct private_network network CLEANUP(private_network_done) = PRIVATE_NETWORK_NONE;
	int rc = private_network_create(&network, err);

	if (rc < 0)
		return err_prefix(err, "cannot create a private network");
	int failure = private_network_enter(&network);

	return failure ? err_set_errno(err, failure, "cannot enter a private network") : 0;
}

static int check_command_run(const struct options *options)
{
	struct call call CLEANUP(check_call_done) = {.options = options, .arena = arena_new()};
	char *state_folder CLEANUP(mem_free_text) = NULL;
	char *name CLEANUP(mem_free_text) = job_name_generate("check-");
	struct err err = {0};

	read_request(&call);
	if (call.faults.len > 0) {
		output_print_errors(&call.faults);
		return EXIT_USAGE;
	}
	if (lookup_state_folder(options, &state_folder, &err))
		return output_fail(&err);
	if (call.request.has_private_network && enter_private_network(&err) < 0) {
		output_print_message("%s", err.text);
		return EXIT_NOT_REACHED;
	}
	call.request.name = name;
	return run(&call, state_folder);
}

static const struct option_row rows_of_check[] = {
	{.name = "workers",
	 .letter = 'w',
	 .kind = OPTION_NUMBER,
	 .value_name = "N",
	 .otherwise = "2",
	 .low = 1,
	 .high = CHECK_SERVERS_MOST,
	 .one_line = "workers"},
	{.name = "ps",
	 .kind = OPTION_NUMBER,
	 .value_name = "N",
	 .otherwise = "2",
	 .high = CHECK_SERVERS_MOST,
	 .one_line = "parameter servers"},
	{.name = "model",
	 .kind = OPTION_WORD,
	 .words = CHECK_MODEL_CHOICE,
	 .otherwise = "mnist",
	 .one_line = "model to train"},
	{.name = "sync-replicas",
	 .kind = OPTION_FLAG,
	 .one_line = "mnist and census: combine the gradients of all workers in each step"},
	{.name = "steps",
	 .kind = OPTION_NUMBER,
	 .value_name = "N",
	 .low = 1,
	 .high = INT32_MAX,
	 .one_line = "total steps of all workers (default: as many as the model needs)"},
	{.name = "data-dir",
	 .kind = OPTION_TEXT,
	 .value_name = "DIR",
	 .one_line = "directory with the MNIST or census files (default: built-in data)"},
	{.name = "timeout",
	 .kind = OPTION_DURATION,
	 .value_name = "TIME",
	 .otherwise = CHECK_TIMEOUT,
	 .one_line = "time limit of each step"},
	{.name = "libtensorflow",
	 .kind = OPTION_TEXT,
	 .value_name = "PATH",
	 .one_line = "TensorFlow's C library, or a directory that contains it"},
	{.name = "setup-only",
	 .kind = OPTION_FLAG,
	 .one_line = "start the servers in the background and leave them running; do not train"},
	{.name = "private-network",
	 .kind = OPTION_FLAG,
	 .one_line = "use a network namespace that no other user or machine can reach"},
	{.name = "servers",
	 .other_name = "server",
	 .kind = OPTION_TEXT,
	 .value_name = "URL,URL",
	 .one_line = "remote: servers of the cluster, grpc://HOST:2222"},
	{.name = "on",
	 .kind = OPTION_WORD,
	 .words = "local|kubernetes",
	 .otherwise = "local",
	 .one_line = "where to start the servers and the training"},
	{.name = "verbose", .kind = OPTION_FLAG, .one_line = "also print the network matrix"},
	{.name = "output",
	 .letter = 'o',
	 .kind = OPTION_WORD,
	 .words = "json|junit",
	 .one_line = "print the report as JSON or JUnit XML on stdout, everything else on stderr"},
	COLOR_ROW(OPTIONS_OF_COMMAND),
	POD_ROWS,
	CLUSTER_ROWS,
	{0},
};

const struct command command_check = {
	.name = "check",
	.group = "Run",
	.arguments = "[OPTIONS] [local]\n"
		     "[OPTIONS] remote --servers URL[,URL...]\n"
		     "[OPTIONS] remote --on kubernetes --image IMAGE",
	.one_line = "test whether distributed TensorFlow works",
	.examples = "  muster check\n"
		    "  muster check --model none\n"
		    "  muster check -w 4 --ps 1 --model census --sync-replicas\n"
		    "  muster check --setup-only\n"
		    "  muster check remote --servers grpc://db7:2222 -o junit > check.xml\n"
		    "  muster check remote --on kubernetes --image me/muster-server\n",
	.options = rows_of_check,
	.most_arguments = 1,
	.run = check_command_run,
};
