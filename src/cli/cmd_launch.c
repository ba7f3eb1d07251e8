/* muster launch: an agent of an elastic job; replaces torchrun. */
#include "base/mem.h"
#include "cli/cluster_support.h"
#include "cli/commands.h"
#include "cli/kubernetes_program.h"
#include "cli/launch_options.h"
#include "cli/local_jobs.h"
#include "cli/program.h"
#include "cli/rendezvous_endpoint.h"
#include "cli/run_here.h"
#include "elastic/agent.h"
#include "io/file.h"
#include "io/folder.h"
#include "io/loop.h"
#include "io/network_address.h"
#include "io/port.h"
#include "io/process.h"
#include "io/program_call.h"
#include "io/random.h"
#include "io/sink.h"
#include "jobs/state_folder.h"
#include "local/backend.h"
#include "local/machine_gpus.h"
#include "spec/environment.h"
#include "spec/job_build.h"
#include "spec/limits.h"

#include <poll.h>

#define LOOPBACK "127.0.0.1"
#define STARTUP_TIME (3 * MSEC_PER_SECOND) /* of a server */
#define NAME_SPACING 250 /* milliseconds between two lookups */
#define SCONTROL_OUTPUT_LIMIT 65536
#define SCONTROL_TIME_LIMIT (10 * MSEC_PER_SECOND)
#define PREFIX_VARIABLE "TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE"
#define NO_FILES "/dev/null" /* as --log-dir */
#define SUFFIX_LENGTH 8 /* random characters behind the run's id */

/* How the output of the processes is shown and copied. */
struct output_plan {
	struct stream_rule *rules; /* one for each process */
	struct streams streams; /* with these rules */
	bool is_quiet; /* no output is printed */
	const char *folder; /* --log-dir, and NULL if it is not given */
	char *pattern; /* of its files (spec/output_path.h); NULL: no files */
};

/* The values of a command line, and what is made from them. */
struct call {
	const struct options *options;
	struct slurm_step step;
	struct launch launch;
	struct output_plan output;
	struct launch_signals signals;
	struct gpus gpus;
	struct arena *arena;
	struct found_program program;
	char *name; /* of the local job that is this machine's part */
	struct job *job;
	char *serves_at; /* an address of this machine; NULL: another machine has the endpoint */
	struct listening listening;
	struct http_tls *tls; /* of our server; NULL: none */
};

static void launch_call_done(struct call *call)
{
	rendezvous_endpoint_done(&call->launch.endpoint);
	free(call->output.rules);
	free(call->output.pattern);
	found_program_done(&call->program);
	free(call->name);
	job_free(call->job);
	free(call->serves_at);
	listening_done(&call->listening);
	if (call->tls)
		cluster_support->free_tls(call->tls);
	arena_free(call->arena);
}

/* The output of the processes: --log-dir, --redirects, --tee, --log-line-prefix-template and
 * --local-ranks-filter.
 *
 * Source: torch/distributed/run.py and torch/distributed/elastic/multiprocessing/api.py of PyTorch
 * 2.15 (Std.from_str, DefaultLogsSpecs). */

/* "3", or "0:3,1:0": streams of local ranks, 0 for the ranks that are not named. */
static int read_entry(const char *entry, int n_processes, int *streams, struct err *err)
{
	const char *colon = strchr(entry, ':');
	char *rank CLEANUP(mem_free_text) =
		mem_copy_bytes(entry, colon ? (size_t) (colon - entry) : 0);
	int64_t number = 0, streams_of_rank = 0;
	int rc = colon ? text_read_int(rank, 0, LIMIT_PROCESSES - 1, &number, err) : 0;

	if (rc == 0)
		rc = text_read_int(colon ? colon + 1 : entry, 0, STREAM_BOTH, &streams_of_rank,
				   err);
	if (rc < 0)
		return colon ? err_prefix(err, "'%s'", entry) : rc;
	for (int i = 0; i < n_processes; i++)
		if (!colon || i == number)
			streams[i] = (int) streams_of_rank;
	return 0;
}

static int *read_streams(const struct options *options, const char *name, int n_processes,
			 struct text *faults)
{
	int *streams = mem_new_array((size_t) n_processes, sizeof(*streams));
	const char *word = rendezvous_option(options, name);
	char *entries CLEANUP(mem_free_text) = mem_copy_text(word ? word : "");
	char *rest = word ? entries : NULL, *entry;
	struct err err;

	while ((entry = strsep(&rest, ",")))
		if (read_entry(entry, n_processes, streams, &err) < 0)
			text_addf(faults, "--%s: %s\n", name, err.text);
	return streams;
}

/* The local ranks of --local-ranks-filter; NULL: all. */
static bool *read_filter(const struct options *options, int n_processes, struct text *faults)
{
	const char *word = rendezvous_option(options, "local-ranks-filter");
	char *ranks CLEANUP(mem_free_text) = mem_copy_text(word ? word : "");
	char *rest = ranks, *rank;
	int64_t number = 0;
	struct err err;

	if (!word || !*word)
		return NULL;
	bool *is_in = mem_new_array((size_t) n_processes, sizeof(*is_in));

	while ((rank = strsep(&rest, ","))) {
		if (text_read_int(rank, 0, LIMIT_PROCESSES - 1, &number, &err) < 0)
			text_addf(faults, "--local-ranks-filter: %s\n", err.text);
		else if (number < n_processes)
			is_in[number] = true;
	}
	return is_in;
}

/* Without a log directory there is nothing to redirect to: torchrun then prints all, unmarked. */
static bool has_no_files(const struct output_plan *output)
{
	return output->folder && text_equals(output->folder, NO_FILES);
}

/* A teed stream is redirected as well; one that is neither goes to our own, and into no file of a
 * log directory. */
static void read_rules(const struct options *options, int n_processes, struct output_plan *output,
		       struct text *faults)
{
	int *redirects CLEANUP(mem_free_any) =
		read_streams(options, "redirects", n_processes, faults);
	int *tee CLEANUP(mem_free_any) = read_streams(options, "tee", n_processes, faults);
	bool *filter CLEANUP(mem_free_any) = read_filter(options, n_processes, faults);

	output->rules = mem_new_array((size_t) n_processes, sizeof(*output->rules));
	output->is_quiet = true;
	for (int i = 0; i < n_processes; i++) {
		int shown = (STREAM_BOTH & ~redirects[i]) | tee[i];

		if (has_no_files(output)) {
			shown = STREAM_BOTH;
			tee[i] = redirects[i] = 0;
		}
		output->rules[i] = (struct stream_rule){
			.shown = !filter || filter[i] ? shown : 0,
			.marked = tee[i],
			.copied = output->folder ? redirects[i] | tee[i] : STREAM_BOTH,
		};
		output->is_quiet = output->is_quiet && output->rules[i].shown == 0;
	}
}

/* Whether the rules, or our own stdout and stderr, tell one stream of a process from the other. On
 * one terminal they stay together, in the order of arrival. */
static bool tells_streams_apart(const struct output_plan *output, int n_processes)
{
	for (int i = 0; i < n_processes; i++) {
		const struct stream_rule *rule = &output->rules[i];

		if ((rule->shown != 0 && rule->shown != STREAM_BOTH) ||
		    (rule->marked != 0 && rule->marked != STREAM_BOTH) ||
		    (output->folder && rule->copied))
			return true;
	}
	return !sink_is_same(STDOUT_FILENO, STDERR_FILENO);
}

static void read_output_plan(const struct options *options, int n_processes, const char *role_name,
			     struct output_plan *output, struct text *faults)
{
	static const char *const filters[] = {"duplicate-stdout-filters",
					      "duplicate-stderr-filters"};
	const char *folder = rendezvous_option(options, "log-dir");
	const char *prefix = rendezvous_option(options, "log-line-prefix-template");

	*output = (struct output_plan){.folder = folder && *folder ? folder : NULL};
	read_rules(options, n_processes, output, faults);
	for (size_t i = 0; i < ARRAY_LEN(filters); i++)
		if (rendezvous_option(options, filters[i]))
			text_addf(faults,
				  "--%s: not supported; the lines are in the output: muster logs "
				  "JOB | grep -F WORD\n",
				  filters[i]);
	output->streams = (struct streams){
		.are_apart = tells_streams_apart(output, n_processes),
		.rules = output->rules,
		.n_rules = (size_t) n_processes,
		.prefix = prefix ? prefix : getenv(PREFIX_VARIABLE),
		.role_name = role_name,
	};
	if (folder && option_text(options, "output-dir"))
		text_add(faults, "--log-dir: cannot be used with --output-dir\n");
}

/* Creates a new directory for this run, as torchrun names it: DIR/ID_RANDOM. */
static int make_log_folder(struct output_plan *output, const char *run_id, struct err *err)
{
	if (!output->folder)
		return 0;
	if (has_no_files(output)) {
		output->pattern = mem_copy_text(NO_FILES);
		return 0;
	}
	char *token CLEANUP(mem_free_text) = random_token();
	char *name CLEANUP(mem_free_text) = mem_format("%s_%.*s", run_id, SUFFIX_LENGTH, token);
	char *folder CLEANUP(mem_free_text) = mem_format("%s/%s", output->folder, name);
	struct text pattern CLEANUP(text_done) = {0};
	int fd CLEANUP(file_close) = -1;
	int rc = folder_open_shared(output->folder, &fd, err);

	if (rc == 0)
		rc = folder_check_lasting(fd, output->folder, err);
	if (rc == 0 && mkdirat(fd, name, 0700) < 0)
		rc = err_set_errno(err, errno, "cannot create directory '%s'", folder);
	if (rc < 0)
		return err_prefix(err, "--log-dir");
	/* A percent sign in the name of a directory is no variable. */
	for (const char *at = folder; *at; at++)
		text_add(&pattern, *at == '%' ? "%%" : (char[]){*at, '\0'});
	text_add(&pattern, "/attempt_%g/%i/stdout.log");
	output->pattern = text_take(&pattern);
	return 0;
}

/* The local job. */

static void annotate(struct json *object, const char *name, const char *value)
{
	json_set_string(json_object_at(json_object_at(object, "metadata"), "annotations"), name,
			value);
}

/* The nodes share the directory of jobs. */
static const char *place_of_task(const struct call *call)
{
	const struct slurm_step *step = call->launch.step;

	if (!step || step->n_tasks == 1)
		return NULL;
	return step->n_local_tasks == 1 ? step->node_name
					: arena_format(call->arena, "%d", step->task);
}

static char *choose_name(const struct call *call)
{
	const char *name = option_text(call->options, "name"), *id = call->launch.job_id;
	const char *script = options_arguments(call->options)[0], *slash = strrchr(script, '/');

	if (name)
		return mem_copy_text(name);
	return id ? job_name_choose_of_id(call->options, id, place_of_task(call))
		  : job_name_choose(call->options, slash ? slash + 1 : script);
}

static int make_job(struct call *call, struct faults *faults)
{
	const struct launch *launch = &call->launch;
	const struct env_entry env[] = {{THREADS_VARIABLE, "1"}};
	/* As torchrun does, if OMP_NUM_THREADS is not set. */
	bool limits_threads = launch->n_processes > 1 && !getenv(THREADS_VARIABLE);
	const struct job_build build = {
		.name = call->name,
		.workers = launch->n_processes,
		.command = call->program.command,
		.env = env,
		.n_env = limits_threads ? ARRAY_LEN(env) : 0,
		.restart_scope = "job",
		.grace = call->signals.grace,
		.timeout = -1,
	};
	struct json *document CLEANUP(json_cleanup) = job_document_new(&build);
	const char *id = launch->is_shared ? launch->agent.job_id : call->name;

	/* Its processes choose among all GPUs by LOCAL_RANK. */
	if (call->gpus.count)
		annotate(json_get_path(document, "spec", "tfReplicaSpecs", "Worker", "template",
				       NULL),
			 JOB_ANNOTATION_GPUS, JOB_GPUS_ALL_WORD);
	/* With the id that was given: a random one means nothing to the user. */
	annotate(document, JOB_ANNOTATION_ELASTIC, launch->job_id ? launch->job_id : id);
	/* As under torchrun, survivors may save. TensorFlow and JAX take SIGTERM for themselves,
	 * and would delay a restart by all of it. */
	if (call->signals.has_grace || program_is_for_torch(call->program.command))
		annotate(document, JOB_ANNOTATION_GRACE_AFTER_FAILURE,
			 JOB_GRACE_AFTER_FAILURE_WHOLE);
	int rc = job_read(document, NULL, JOB_STRICT, faults, &call->job);

	return rc < 0 ? rc : backend_local_check(call->job, &call->gpus, faults);
}

/* Slurm. */

/* The name of a node need not be that of a host: then Slurm's controller has its address. */
static int resolve_first_host(struct call *call, struct err *err)
{
	struct rendezvous_endpoint *endpoint = &call->launch.endpoint;
	char *words[] = {"scontrol", "show", "node", endpoint->host, NULL};
	const struct program_question question = {
		.program = words[0],
		.arguments = words,
		.environment = environ,
		.limit = SCONTROL_OUTPUT_LIMIT,
		.time_limit = SCONTROL_TIME_LIMIT,
	};
	struct text answer CLEANUP(text_done) = {0};

	if (!call->launch.step || !endpoint->host ||
	    own_host_check(endpoint->host, err) != ERR_NOT_FOUND)
		return 0;
	const char *address = program_call_wait(&question, &answer, NULL) == 0
				      ? slurm_node_address(text_of(&answer), call->arena)
				      : NULL;

	if (!address)
		return ERR_NOT_FOUND;
	free(endpoint->host);
	endpoint->host = mem_copy_text(address);
	return 0;
}

/* "Slurm step 4711.0: 2 tasks on 2 nodes meet at n1 port 24711; 8 processes per task" */
static void print_step(const struct call *call)
{
	const struct launch *launch = &call->launch;
	const struct slurm_step *step = launch->step;

	if (!step && launch->is_alone && !rendezvous_flag(call->options, "standalone") &&
	    slurm_batch_nodes(getenv) > 1)
		output_print_message("this runs on one of the %d nodes of the job; on all: srun "
				     "muster launch ...",
				     slurm_batch_nodes(getenv));
	if (!step || step->task != 0)
		return;
	struct text sentence CLEANUP(text_done) = {0};

	text_addf(&sentence, "Slurm step %s: %d task%s on %d node%s", step->id, step->n_tasks,
		  step->n_tasks == 1 ? "" : "s", step->n_nodes, step->n_nodes == 1 ? "" : "s");
	if (launch->endpoint.host)
		text_addf(&sentence, " meet at %s port %d", step->first_host,
			  launch->endpoint.port);
	text_addf(&sentence, "; %d process%s per task", launch->n_processes,
		  launch->n_processes == 1 ? "" : "es");
	output_print_message("%s", text_of(&sentence));
}

/* The endpoint. */

/* A name may be as young as its server: a Pod has none before it runs. Whether it is ours. */
static bool await_name(const struct launch *launch)
{
	instant end = loop_instant_after(launch->agent.patience);
	instant told_at = loop_instant_after(STARTUP_TIME);
	struct err err;
	int rc;

	while ((rc = own_host_check(launch->endpoint.host, &err)) == ERR_NOT_FOUND &&
	       !loop_has_come(end)) {
		if (loop_has_come(told_at)) {
			output_print_message("%s; muster tries again", err.text);
			told_at = INSTANT_NEVER;
		}
		poll(NULL, 0, NAME_SPACING);
	}
	return rc == 0;
}

/* Of a name, the others may know another address than we do. */
static int find_serving_address(const struct rendezvous_endpoint *endpoint, char **ret_address,
				struct err *err)
{
	char *own CLEANUP(mem_free_text) = NULL;
	struct in6_addr found;

	if (network_address_parse(endpoint->host, &found) ||
	    network_address_names_loopback(endpoint->host))
		return own_host_towards(endpoint->host, endpoint->port, ret_address, &own, err);
	*ret_address = mem_copy_text(LISTENING_ANYWHERE);
	return 0;
}

/* The machine that has the endpoint's address serves, unless another process on it already does.
 * Alone, nobody else has any business at its server: the token never leaves this process. */
static int open_server(struct call *call, struct err *err)
{
	struct launch *launch = &call->launch;

	if (launch->is_alone && !launch->endpoint.token) {
		process_hide_memory();
		launch->endpoint.token = random_token();
	}
	if (launch->is_alone) {
		launch->endpoint.host = mem_copy_text(LOOPBACK);
		int rc = listening_open(LOOPBACK ":0", &call->listening, err);

		if (rc == 0)
			launch->endpoint.port = listening_port(call->listening.fd);
		return rc;
	}
	if (!await_name(launch) || launch->never_serves)
		return 0;
	int rc = find_serving_address(&launch->endpoint, &call->serves_at, err);

	if (rc < 0)
		return rc;
	rc = listening_open_port(call->serves_at, launch->endpoint.port, &call->listening.fd, err);
	return rc == ERR_EXISTS ? 0 : rc;
}

/* The process with rank 0 opens it, here if the user gave this machine its rank. */
static void check_master_port(const struct call *call, struct text *mistakes)
{
	const struct launch *launch = &call->launch;
	int port = launch->agent.master_port, fd CLEANUP(file_close) = -1;
	bool has_rank_0 =
		launch->is_alone || (launch->has_node_rank && launch->agent.node_rank == 0);

	if (!port || !has_rank_0 || port_bind(port, &fd) != EADDRINUSE)
		return;
	char *owner CLEANUP(mem_free_text) = port_owner_name(port);

	text_addf(mistakes, "--%s: port %d is taken by %s\n",
		  rendezvous_option(call->options, "master-port") ? "master-port" : "rdzv-endpoint",
		  port, owner);
}

/* Running. */

static int supervise_launch(struct call *call)
{
	const struct launch *launch = &call->launch;
	const struct options *options = call->options;
	/* Unless the user assigned ranks, the machine with MASTER_ADDR comes first. */
	const char *master = launch->is_alone ? NULL : launch->agent.master_host;
	bool is_elsewhere = master && !launch->has_node_rank && own_host_check(master, NULL) < 0;
	char *folder CLEANUP(mem_free_text) = local_jobs_folder(options);
	char *kept CLEANUP(mem_free_text) = state_folder_elastic(folder, launch->endpoint.port);
	struct agent_request agent = launch->agent;
	const struct rendezvous_endpoint *endpoint = &launch->endpoint;

	agent.node_rank = is_elsewhere ? 1 : agent.node_rank;
	agent.machine = launch->machine.local_size ? &launch->machine : NULL;
	agent.host = endpoint->host;
	agent.port = endpoint->port;
	agent.new_asker = endpoint->is_tls ? cluster_support->new_asker : http_asker_new;
	agent.token = endpoint->token;
	agent.pin = endpoint->pin;
	agent.token_advice = endpoint->token_advice;
	agent.pin_advice = endpoint->has_token_key ? endpoint->token_advice : NULL;
	agent.listening = &call->listening;
	agent.serves_at = call->serves_at;
	agent.lease = ELASTIC_LEASE;
	agent.tls = call->tls;
	agent.server_folder = launch->is_alone ? NULL : kept;
	const struct supervisor_request request = {
		.base = {.copy_pattern = call->output.pattern,
			 .stops_at = {call->signals.stops_at[0], call->signals.stops_at[1]},
			 .style = {.is_quiet = call->output.is_quiet,
				   .hides_names =
					   launch->agent.terms.max == 1 && launch->n_processes == 1,
				   .streams = call->output.streams}},
		.job = call->job,
		.agent = &agent,
		.gpus = &call->gpus,
	};

	return run_here(options, folder, &request);
}

static int launch_run(const struct options *options)
{
	if (option_is_given(options, "print-completion")) {
		char *words[] = {(char *) option_text(options, "print-completion")};

		return command_call(options_table(options), &command_completion, 1, words);
	}
	struct call call CLEANUP(launch_call_done) = {
		.options = options, .listening = {.fd = -1}, .arena = arena_new()};
	struct text mistakes CLEANUP(text_done) = {0};
	struct faults faults CLEANUP(faults_done) = {0};
	struct err err = {0};

	machine_gpus_find(getenv(GPUS_VARIABLE), call.arena, &call.gpus);
	/* A process that muster started is no task. */
	bool is_task =
		!getenv(JOB_NAME_VARIABLE) && slurm_step_read(getenv, call.arena, &call.step);
	const struct slurm_step *step = is_task ? &call.step : NULL;

	launch_read(options, &call.gpus, step, call.arena, &call.launch, &mistakes);
	if (!options_arguments(options)[0])
		text_add(&mistakes, "missing script\n");
	else if (program_find(options_arguments(options), call.launch.is_module,
			      call.launch.is_program, &call.program, &err) < 0)
		text_addf(&mistakes, "%s\n", err.text);
	/* A process for each GPU of the node, as scripts of PyTorch expect it. Those of TensorFlow
	 * and JAX use all GPUs that they see. */
	if (call.launch.step && call.launch.step->n_local_tasks == 1 && call.gpus.count &&
	    !rendezvous_option(options, "nproc-per-node") &&
	    program_is_for_torch(call.program.command))
		call.launch.n_processes = (int) call.gpus.count;
	read_output_plan(options, call.launch.n_processes, call.launch.agent.role_name,
			 &call.output, &mistakes);
	launch_signals_read(options, step, &call.signals, &mistakes);
	if (call.launch.endpoint.is_tls && !cluster_support)
		return exec_kubernetes_program(options);
	if (resolve_first_host(&call, &err) < 0)
		text_addf(&mistakes, "%s; give one: --rdzv-endpoint\n", err.text);
	check_master_port(&call, &mistakes);
	if (mistakes.len) {
		output_print_messages(&mistakes);
		return EXIT_USAGE;
	}
	call.name = choose_name(&call);
	if (make_job(&call, &faults) < 0) {
		for (size_t i = 0; i < faults.count; i++)
			output_print_message("%s", faults.list[i].sentence);
		return EXIT_USAGE;
	}
	if (make_log_folder(&call.output, call.launch.agent.job_id, &err) < 0)
		return output_fail_with(EXIT_USAGE, "%s", err.text);
	if (open_server(&call, &err) < 0)
		return output_fail(&err);
	if (call.launch.endpoint.is_tls && call.serves_at)
		call.tls = cluster_support->tls_of_token(call.launch.endpoint.token);
	print_step(&call);
	return supervise_launch(&call);
}

static const struct option_row rows_of_launch[] = {
	LAUNCH_ROWS,
	OPTION("log-dir", TEXT, "DIR", NULL,
	       "directory of redirected output: DIR/ID_*/attempt_0/LOCAL_RANK/stdout.log"),
	OPTION("redirects", TEXT, "STREAMS", NULL,
	       "do not print 1 (stdout), 2 (stderr) or 3 (both); 0:3,2:1: by local rank",
	       .letter = 'r'),
	OPTION("tee", TEXT, "STREAMS", NULL,
	       "print 1, 2 or 3 with a prefix, and write to the log directory", .letter = 't'),
	OPTION("log-line-prefix-template", TEXT, "TEXT", NULL,
	       "of --tee: ${role_name}, ${rank}, ${local_rank}, ${hostname}"),
	OPTION("duplicate-stdout-filters", TEXT, "WORDS", NULL,
	       "rejected: muster logs JOB | grep -F WORD"),
	OPTION("duplicate-stderr-filters", TEXT, "WORDS", NULL, "rejected, as well"),
	OPTION("local-ranks-filter", TEXT, "RANKS", NULL,
	       "print the output of these local ranks only: 0,1"),
	LAUNCH_SIGNAL_ROWS,
	OPTION("name", TEXT, "NAME", NULL,
	       "name of this machine's part in muster ps (default: from the id or the script)"),
	OPTION("print-completion", TEXT, "SHELL", NULL, "same as muster completion SHELL"),
	FLAG("replace", "replace a finished job of this name"),
	FLAG("detach", "run in the background and print the name", .letter = 'd'),
	RUN_OUTPUT_ROWS,
	{0},
};

const struct command command_launch = {
	.name = "launch",
	.group = "Run",
	.arguments = "[OPTIONS] SCRIPT.py [ARGS...]\n"
		     "[OPTIONS] -m MODULE [ARGS...]\n"
		     "[OPTIONS] --no-python PROGRAM [ARGS...]",
	.one_line = "run this machine's processes of an elastic job",
	.examples = "  muster launch --standalone --nproc-per-node 2 train.py\n"
		    "  muster launch --nnodes 2:8 --rdzv-endpoint 10.0.0.1 --rdzv-id digits "
		    "train.py --epochs 3\n",
	.options = rows_of_launch,
	.takes_program = true,
	.run = launch_run,
};
