/* muster check: tests whether distributed TensorFlow works on this machine, on a cluster, or on
 * existing servers. */
#include "base/mem.h"
#include "check/probe.h"
#include "check/run.h"
#include "cli/commands.h"
#include "cli/kube_cluster.h"
#include "cli/local_jobs.h"
#include "cli/pod_options.h"
#include "io/private_network.h"
#include "tensorflow/library_find.h"
#include "tensorflow/library_guard.h"
#include "tensorflow/python_find.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#define SERVERS_VARIABLE "TF_DIST_GRPC_SERVER_URL"

/* The values of a command line, and all errors in it: a sentence a line. */
struct call {
	const struct options *options;
	struct check_request request;
	bool is_probe; /* it is the probe of a check */
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
	const char *place = options_arguments(call->options)[0];
	bool is_on_kubernetes = text_equals(option_text(call->options, "on"), "kubernetes");

	call->request.is_on_kubernetes = is_on_kubernetes;
	call->is_probe = text_equals(place, "probe");
	call->request.is_remote = text_equals(place, "remote") || call->is_probe;
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

/* As --framework says; without it PyTorch, if this machine has that and no TensorFlow. */
static bool is_for_torch(struct call *call)
{
	const struct options *options = call->options;
	const struct library_search search =
		library_search_here(option_text(options, "libtensorflow"));
	const struct python_search python_search = python_search_here();
	const char *framework = option_text(options, "framework");
	struct library_place place;
	struct python_place python;
	struct err err;

	if (framework)
		return text_equals(framework, "torch");
	if (call->request.is_remote || call->request.is_on_kubernetes ||
	    option_is_given(options, "libtensorflow") || option_is_given(options, "setup-only") ||
	    option_is_given(options, "ps") ||
	    (option_is_given(options, "model") && call->request.model != CHECK_NO_MODEL) ||
	    library_find(&search, call->arena, &place, NULL, &err) == 0 ||
	    python_find(&python_search, call->arena, &python, &err) < 0 ||
	    !python_package_version(&python, "torch", call->arena))
		return false;
	output_print_message("%s has PyTorch and no TensorFlow: --framework torch",
			     python.interpreter);
	return true;
}

static void refuse_what_does_not_fit(struct call *call)
{
	const struct check_request *request = &call->request;
	bool is_remote = request->is_remote, trains = check_request_trains(request);
	bool is_asynchronous = request->model != CHECK_MNIST && request->model != CHECK_CENSUS;
	bool is_for_torch = request->is_for_torch;
	const struct {
		bool does_not_fit;
		const char *sentence;
	} rules[] = {
		{request->timeout <= 0, "--timeout must be more than 0"},
		{is_for_torch && (is_remote || request->is_on_kubernetes),
		 "--framework torch: not available with 'remote' and --on kubernetes"},
		{is_for_torch && request->is_setup_only,
		 "--framework torch: cannot be used with --setup-only (PyTorch has no servers)"},
		{is_for_torch && request->ps > 0 && option_is_given(call->options, "ps"),
		 "--framework torch: cannot be used with --ps (PyTorch has no parameter servers)"},
		{is_for_torch && trains && request->model != CHECK_MNIST,
		 "--framework torch: needs --model mnist or --model none"},
		{is_for_torch && request->is_sync,
		 "--sync-replicas: not needed (PyTorch always combines the gradients)"},
		{is_remote && check_model_brings_servers(request->model),
		 "--model mwms and --model ps2 cannot be used with 'remote', because they start "
		 "their own servers; on this machine: 'muster check --model mwms'"},
		{is_remote && request->is_setup_only,
		 "--setup-only: cannot be used with 'remote', whose servers already run"},
		{request->has_private_network && (is_remote || request->is_on_kubernetes),
		 "--private-network: the servers do not run on this machine"},
		{request->has_private_network && request->is_setup_only,
		 "--private-network: cannot be used with --setup-only (no client could reach the "
		 "servers)"},
		{request->is_sync && trains && is_asynchronous,
		 "--sync-replicas: needs --model mnist or --model census"},
		{request->data_dir && !trains, "--data-dir: not used, because no model is trained"},
		{trains && !is_remote && request->ps == 0 && request->model != CHECK_MWMS &&
			 !is_for_torch,
		 "--ps 0: this model needs a parameter server; use --ps 1, or --model mwms"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rules); i++)
		if (rules[i].does_not_fit)
			add_check_call_fault(call, rules[i].sentence);
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
	read_check_target(call);
	for (enum check_model model = 0; model < CHECK_MODEL_COUNT; model++)
		if (text_equals(option_text(options, "model"), check_model_words[model]))
			call->request.model = model;
	read_cluster(call);
	read_pods(call);
	call->request.is_for_torch = is_for_torch(call);
	/* Only a template may have one as well. */
	if (call->request.is_on_kubernetes && !option_text(options, "image") &&
	    !option_text(options, "pod-template"))
		add_check_call_fault(
			call, "--on kubernetes: needs --image, an image with TensorFlow and muster "
			      "(make server-image adds muster to an image with TensorFlow)");
	refuse_what_does_not_fit(call);
	if (call->request.is_for_torch)
		call->request.ps = 0;
}

static int run_check(struct call *call)
{
	const struct options *options = call->options;
	char *state_folder CLEANUP(mem_free_text) = local_jobs_folder(options);
	char *name CLEANUP(mem_free_text) = job_name_generate("check-");
	struct private_network network CLEANUP(private_network_done) = PRIVATE_NETWORK_NONE;
	struct err err = {0};
	int exit_code = EXIT_FAILED;

	/* All processes that the check starts are in it too, and so reach each other. */
	if (call->request.has_private_network) {
		if (private_network_create(&network, &err) < 0)
			return output_fail_with(EXIT_NOT_REACHED,
						"cannot create a private network: %s", err.text);
		int failure = private_network_enter(&network);

		if (failure)
			return output_fail_with(EXIT_NOT_REACHED,
						"cannot enter a private network: %s",
						strerror(failure));
	}
	call->request.name = name;
	const struct check_run_settings settings = {
		.request = &call->request,
		.state_folder = state_folder,
		.is_json = option_text(options, "output"),
		.is_verbose = option_flag(options, "verbose"),
		.color = option_text(options, "color"),
	};

	return check_run(&settings, &exit_code, &err) < 0 ? output_fail(&err) : exit_code;
}

/* The probe: `check probe --servers …` is a job of a check, and prints events for it. */

#define LONGEST_PATIENCE (MSEC_PER_SECOND * 3600)
#define HANG_LIMIT (30 * MSEC_PER_SECOND)
#define LOADING_LIMIT 300 /* seconds; half a gigabyte from a slow file server */

struct probe_call {
	struct probe_request request;
	struct library_guard guard;
	bool shows_log; /* TensorFlow's own */
};

static void print_probe_event(const struct json *event, void *data)
{
	const char *message = json_get_string(event, "message", NULL);

	(void) data;
	output_add_event(event);
	if (message)
		output_print_message("%s", message);
}

static int open_library(struct library **ret_library, void *data, struct err *err)
{
	struct probe_call *call = data;

	alarm(LOADING_LIMIT);
	return library_guard_load(&call->guard, call->shows_log, ret_library, err);
}

/* Every call of TensorFlow has its own limit. A call that exceeds it twice, once for the request
 * and once for closing the session, hangs; the signal leaves the rest to the outer process. */
static void note_session_call(const char *doing, void *data)
{
	struct probe_call *call = data;
	msec limit = 2 * call->request.timeout + HANG_LIMIT;

	library_guard_note(&call->guard, doing);
	alarm((unsigned int) msec_to_whole_seconds(limit));
}

/* The inner process. It leaves by _exit: TensorFlow's work at exit fails while its threads are
 * running. When the outer process exits, it is killed. */
static NORETURN void probe(struct probe_call *call)
{
	struct err err = {0};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGALRM, SIG_DFL);
	int rc = probe_run(&call->request, &err);
	int exit_code = rc < 0 ? EXIT_NOT_REACHED : EXIT_DONE;

	if (rc < 0 && rc != ERR_UNREACHABLE)
		exit_code = output_fail(&err);
	_exit(output_finish(exit_code));
}

static int run_probe(const struct call *call)
{
	const struct check_request *request = &call->request;
	struct library_search search = library_search_here(request->libtensorflow);
	struct library_place place;
	struct probe_call probe_call = {
		.request =
			{
				.servers = request->servers,
				.n_servers = request->n_servers,
				.timeout = msec_min(request->timeout, LONGEST_PATIENCE),
				.open_library = open_library,
				.on_begin = note_session_call,
				.tell = print_probe_event,
				.data = &probe_call,
			},
		.shows_log = option_flag(call->options, "verbose"),
	};
	struct library_guard *guard = &probe_call.guard;
	struct err err = {0};

	if (library_find(&search, call->arena, &place, NULL, &err) < 0)
		return output_fail_with(EXIT_NOT_REACHED, "%s", err.text);
	if (library_guard_fork(guard, "the probe", place.path, &err) < 0)
		return output_fail(&err);
	if (guard->guard.is_inner)
		probe(&probe_call);
	if (!guard->guard.was_lost || library_guard_was_asked_to_end(guard))
		return guard->guard.exit_code;
	library_guard_explain(guard, &err);
	return output_fail(&err);
}

static int check_command_run(const struct options *options)
{
	struct call call CLEANUP(check_call_done) = {.options = options, .arena = arena_new()};

	read_request(&call);
	if (call.faults.len > 0) {
		output_print_errors(&call.faults);
		return EXIT_USAGE;
	}
	return call.is_probe ? run_probe(&call) : run_check(&call);
}

static const struct option_row rows_of_check[] = {
	WORDS("framework", "tensorflow|torch", NULL,
	      "what to test (default: TensorFlow; PyTorch where only that is installed)"),
	OPTION("workers", NUMBER, "N", "2", "workers", .letter = 'w', .low = 1,
	       .high = CHECK_SERVERS_MOST),
	OPTION("ps", NUMBER, "N", "2", "parameter servers", .high = CHECK_SERVERS_MOST),
	WORDS("model", CHECK_MODEL_CHOICE, "mnist", "model to train"),
	FLAG("sync-replicas",
	     "mnist and census: combine the gradients of all workers in each step"),
	OPTION("steps", NUMBER, "N", NULL,
	       "total steps of all workers (default: as many as the model needs)", .low = 1,
	       .high = INT32_MAX),
	OPTION("data-dir", TEXT, "DIR", NULL,
	       "directory with the MNIST or census files (default: built-in data)"),
	OPTION("timeout", DURATION, "TIME", CHECK_TIMEOUT, "time limit of each step"),
	OPTION("libtensorflow", TEXT, "PATH", NULL,
	       "TensorFlow's C library, or a directory that contains it"),
	FLAG("setup-only",
	     "start the servers in the background and leave them running; do not train"),
	FLAG("private-network", "use a network namespace that no other user or machine can reach"),
	OPTION("servers", TEXT, "URL,URL", NULL, "remote: servers of the cluster, grpc://HOST:2222",
	       .other_name = "server"),
	WORDS("on", "local|kubernetes", "local", "where to start the servers and the training"),
	FLAG("verbose", "also print the network matrix"),
	WORDS("output", "json", NULL,
	      "print the report as JSON on stdout, everything else on stderr", .letter = 'o'),
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
	.one_line = "test whether distributed TensorFlow or PyTorch works",
	.examples = "  muster check\n"
		    "  muster check --model none\n"
		    "  muster check --framework torch -w 4\n"
		    "  muster check -w 4 --ps 1 --model census --sync-replicas\n"
		    "  muster check --setup-only\n"
		    "  muster check remote --servers grpc://db7:2222 -o json > check.json\n"
		    "  muster check remote --on kubernetes --image me/muster-server\n",
	.options = rows_of_check,
	.most_arguments = 1,
	.run = check_command_run,
};
