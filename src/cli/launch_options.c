#include "cli/launch_options.h"

#include "base/names.h"
#include "io/control_group.h"
#include "io/network_address.h"
#include "jobs/registration.h"
#include "spec/cluster_spec.h"

#include <signal.h>

#define MASTER_HOST "127.0.0.1" /* torchrun's defaults */
#define MASTER_PORT 29500
#define JOIN_TIME (600 * MSEC_PER_SECOND) /* torchrun's join_timeout */
#define PATIENCE (60 * MSEC_PER_SECOND) /* torchrun's read_timeout */
#define LAST_CALL (1 * MSEC_PER_SECOND) /* torchrun waits for 30 s */
#define MAX_NO_PROGRESS 3 /* failures in a row without progress */
#define LONGEST_CONF 1000000 /* seconds */
#define TIMEOUT_VARIABLE "TORCH_ELASTIC_SHUTDOWN_TIMEOUT"
#define SIGNALS_VARIABLE "TORCHELASTIC_SIGNALS_TO_HANDLE"
#define GRACE (30 * MSEC_PER_SECOND)
#define GRACE_IN_STEP (25 * MSEC_PER_SECOND) /* Slurm kills after 30 s (KillWait) */
#define LONGEST_GRACE (1000 * 1000) /* seconds */
/* The server of a static rendezvous is at a port this much lower, or higher if the port is below
 * twice that, so that all machines find it without another option. */
#define SERVER_DISTANCE 10000

/* False, and a fault, when it is not a number of that range. */
static bool read_launch_number(const char *name, const char *word, int low, int high,
			       int *ret_number, struct text *faults)
{
	int64_t number = 0;
	struct err err;

	if (text_read_int(word, low, high, &number, &err) < 0) {
		text_addf(faults, "--%s: %s\n", name, err.text);
		return false;
	}
	*ret_number = (int) number;
	return true;
}

static void read_count(const struct options *options, const char *name, int low, int high,
		       int *number, struct text *faults)
{
	const char *word = rendezvous_option(options, name);

	if (word)
		(void) read_launch_number(name, word, low, high, number, faults);
}

/* Slurm says where the tasks of a step meet, unless the user does. */
static bool meets_by_slurm(const struct options *options)
{
	static const char *const places[] = {"rdzv-endpoint", "master-addr", "master-port"};

	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		if (rendezvous_option(options, places[i]))
			return false;
	return !rendezvous_flag(options, "standalone") &&
	       !text_equals(rendezvous_option(options, "rdzv-backend"), "static");
}

/* Each task is a member of the rendezvous. With several on a node, a world has whole nodes. */
static void take_tasks(struct launch *launch, const struct gpus *gpus, bool has_count)
{
	const struct slurm_step *step = launch->step;
	struct member_terms *terms = &launch->agent.terms;
	int n_local = step->n_local_tasks;

	if (!has_count)
		terms->min = terms->max = step->n_tasks;
	if (n_local == 1)
		return;
	launch->machine = (struct tf_cluster_machine){
		.local_rank = step->local_task,
		.local_size = n_local,
		.rank = step->node,
		.n_machines = step->n_nodes,
	};
	launch->agent.has_virtual_local_rank |= gpus->count && (int) gpus->count < n_local;
	if (!has_count)
		return;
	terms->min *= n_local;
	terms->max *= n_local;
	terms->unit *= n_local;
}

static void read_machines(const struct options *options, struct member_terms *terms,
			  struct text *faults)
{
	const char *word = rendezvous_option(options, "nnodes");
	const char *colon = word ? strchr(word, ':') : NULL;

	if (!word)
		return;
	if (colon && strchr(colon + 1, ':')) {
		text_addf(faults, "--nnodes: '%s' is not N or MIN:MAX\n", word);
		return;
	}
	char *least CLEANUP(mem_free_text) =
		mem_copy_bytes(word, colon ? (size_t) (colon - word) : strlen(word));

	if (read_launch_number("nnodes", least, 1, LIMIT_MEMBERS, &terms->min, faults))
		terms->max = terms->min;
	if (colon)
		(void) read_launch_number("nnodes", colon + 1, 1, LIMIT_MEMBERS, &terms->max,
					  faults);
}

static void read_restarts(const struct options *options, struct restart_terms *terms,
			  struct text *faults)
{
	const char *word = rendezvous_option(options, "max-restarts");

	terms->max_no_progress = MAX_NO_PROGRESS;
	terms->window = option_duration(options, "restart-window", 0);
	/* torchrun refuses a negative number, so no number means "no limit". */
	if (text_equals(word, RESTARTS_UNLIMITED))
		terms->most = -1;
	else if (word && word[0] == '-')
		text_addf(faults,
			  "--max-restarts: '%s' is negative; to allow any number: "
			  "--max-restarts " RESTARTS_UNLIMITED "\n",
			  word);
	else
		read_count(options, "max-restarts", 0, LIMIT_RESTARTS, &terms->most, faults);
	read_count(options, "max-no-progress", 0, LIMIT_RESTARTS, &terms->max_no_progress, faults);
	if (terms->window && terms->most > LIMIT_TIMED_RESTARTS)
		text_addf(faults, "--restart-window: needs --max-restarts of at most %d\n",
			  LIMIT_TIMED_RESTARTS);
}

static void read_processes(const struct options *options, const struct gpus *gpus, int *count,
			   struct text *faults)
{
	const char *word = rendezvous_option(options, "nproc-per-node");
	int n_gpus = (int) gpus->count;

	*count = 1;
	if (!word)
		return;
	if (text_equals(word, "cpu"))
		*count = cores_count();
	else if (text_equals(word, "gpu") && n_gpus == 0)
		text_add(faults, "--nproc-per-node gpu: this machine has no GPU\n");
	else if (text_equals(word, "gpu") || text_equals(word, "auto"))
		*count = n_gpus ? n_gpus : cores_count();
	else
		(void) read_launch_number("nproc-per-node", word, 1, LIMIT_PROCESSES, count,
					  faults);
}

static void read_pair(const char *key, const char *value, struct launch *launch,
		      struct text *faults)
{
	const struct {
		const char *key;
		int low;
		msec *time;
	} times[] = {
		{"join_timeout", 1, &launch->agent.terms.join_time},
		{"timeout", 1, &launch->agent.terms.join_time},
		{"last_call_timeout", 0, &launch->agent.terms.last_call},
		{"read_timeout", 1, &launch->agent.patience},
	};
	int64_t seconds = 0;
	struct err err;

	/* As Python reads it for torchrun. */
	if (text_equals(key, "is_host"))
		launch->never_serves = text_equals(value, "0") || text_equals(value, "false") ||
				       text_equals(value, "False");
	/* Other settings of torchrun's store have no effect. */
	for (size_t i = 0; i < ARRAY_LEN(times); i++) {
		if (!text_equals(key, times[i].key))
			continue;
		if (text_read_int(value, times[i].low, LONGEST_CONF, &seconds, &err) < 0)
			text_addf(faults, "--rdzv-conf: %s: %s\n", key, err.text);
		*times[i].time = seconds * MSEC_PER_SECOND;
	}
}

static void read_conf(const struct options *options, struct launch *launch, struct text *faults)
{
	const char *word = rendezvous_option(options, "rdzv-conf");
	char *pairs CLEANUP(mem_free_text) = mem_copy_text(word ? word : "");
	char *rest = pairs, *pair;

	while ((pair = strsep(&rest, ","))) {
		char *value = strchr(pair, '=');

		if (!*pair)
			continue;
		if (!value || value == pair) {
			text_addf(faults, "--rdzv-conf: '%s' is not KEY=VALUE\n", pair);
			continue;
		}
		*value++ = '\0';
		read_pair(pair, value, launch, faults);
	}
}

static void check_names(const struct launch *launch, struct text *faults)
{
	const char *visible = getenv(GPUS_VARIABLE);
	int n_visible = 1;

	if (launch->is_program && launch->is_module)
		text_add(faults, "--no-python: cannot be used with --module\n");
	/* As torchrun: without the variable, the number of a process is that of its GPU. */
	for (const char *at = visible; at && *at; at++)
		n_visible += *at == ',';
	if (launch->agent.has_virtual_local_rank && visible && n_visible < launch->n_processes)
		text_addf(faults,
			  "--virtual-local-rank: " GPUS_VARIABLE " has %d device%s, but "
			  "--nproc-per-node starts %d processes\n",
			  n_visible, n_visible == 1 ? "" : "s", launch->n_processes);
	if (launch->agent.own_port && launch->n_processes > 1)
		text_add(faults, "--local-port: is the port of one process, but --nproc-per-node "
				 "starts more\n");
	if (launch->job_id && (!*launch->job_id || !name_is_label_value(launch->job_id)))
		text_addf(faults,
			  "--rdzv-id: '%s' is not an id (expected 1 to 63 letters, digits, '-', "
			  "'_' and '.')\n",
			  launch->job_id);
	if (!*launch->agent.role_name || !name_is_label_value(launch->agent.role_name))
		text_addf(faults,
			  "--role: '%s' is not a role (expected 1 to 63 letters, digits, '-', '_' "
			  "and '.')\n",
			  launch->agent.role_name);
}

/* Values that muster needs for nothing, but torchrun refuses. */
static void check_choice(const char *name, const char *value, const char *const *words,
			 size_t count, struct text *faults)
{
	if (!value || name_find_word(words, count, value) >= 0)
		return;
	text_addf(faults, "--%s: '%s' is not one of %s", name, value, words[0]);
	for (size_t i = 1; i < count; i++)
		text_addf(faults, "|%s", words[i]);
	text_add_char(faults, '\n');
}

static void check_unused(const struct options *options, struct text *faults)
{
	static const char *const methods[] = {"spawn", "fork", "forkserver"};
	static const char *const specs[] = {"default"};
	static const char *const bindings[] = {"node", "socket", "exclusive", "core-complex"};
	const char *binding = option_text(options, "numa-binding");
	const char *interval = rendezvous_option(options, "monitor-interval");
	double seconds;
	struct err err;

	check_choice("start-method", rendezvous_option(options, "start-method"), methods,
		     ARRAY_LEN(methods), faults);
	check_choice("logs-specs", option_text(options, "logs-specs"), specs, ARRAY_LEN(specs),
		     faults);
	check_choice("numa-binding", binding, bindings, ARRAY_LEN(bindings), faults);
	if (name_find_word(bindings, ARRAY_LEN(bindings), binding ? binding : "") >= 0)
		text_add(faults, "--numa-binding: not supported; bind each process in the script "
				 "(os.sched_setaffinity), or start it with numactl\n");
	if (interval && text_read_real(interval, &seconds, &err) < 0)
		text_addf(faults, "--monitor-interval: %s\n", err.text);
}

/* With Slurm's ranks neighbors stay neighbors, also if the user says where machines meet. */
static void read_node_rank(const struct options *options, const struct slurm_step *step,
			   struct launch *launch, struct text *faults)
{
	launch->has_node_rank = rendezvous_option(options, "node-rank");
	read_count(options, "node-rank", 0, LIMIT_MEMBERS - 1, &launch->agent.node_rank, faults);
	if (launch->has_node_rank || !step || step->n_tasks == 1)
		return;
	launch->has_node_rank = true;
	launch->agent.node_rank = step->task;
}

static void check_tasks(const struct launch *launch, struct text *faults)
{
	const struct slurm_step *step = launch->step;

	if (launch->machine.local_size && launch->n_processes > 1)
		text_addf(faults,
			  "--nproc-per-node: Slurm step %s has %d tasks on this node, and each "
			  "starts one process\n",
			  step->id, launch->machine.local_size);
	if (launch->agent.terms.min > step->n_tasks)
		text_addf(faults,
			  "--nnodes: Slurm step %s has %d node%s, fewer than the job needs; use "
			  "srun -N, or --nnodes MIN:MAX with a lower MIN\n",
			  step->id, step->n_nodes, step->n_nodes == 1 ? "" : "s");
}

/* Where the machines meet, and where rank 0 listens: get_rdzv_endpoint and config_from_args.
 *
 * torchrun has two kinds of rendezvous. With c10d, the machines meet at --rdzv-endpoint, and rank 0
 * chooses its address and port. With a static one, the user gives both as --master-addr and
 * --master-port (or --rdzv-endpoint), and every process gets exactly these as MASTER_ADDR and
 * MASTER_PORT. The process with rank 0 opens that port itself, so our server uses another one. */

/* The options as given; NULL: not given, or empty. */
struct given {
	const char *backend, *endpoint, *host, *port;
	int port_number; /* of `port` */
	bool is_single; /* the job has one machine */
};

static const char *read_given(const struct options *options, const char *name)
{
	const char *value = rendezvous_option(options, name);

	return value && *value ? value : NULL;
}

static bool is_static(const struct given *given)
{
	bool is_asked = text_equals(given->backend, "static");

	if (given->backend && !is_asked)
		return false;
	return given->port || (is_asked && given->endpoint) || (given->host && !given->is_single);
}

/* "[::1]" is "::1" in a variable. */
static const char *host_without_brackets(const char *host, struct arena *arena)
{
	size_t len = strlen(host);
	bool has_brackets = host[0] == '[' && len > 2 && host[len - 1] == ']';

	return has_brackets ? arena_format(arena, "%.*s", (int) len - 2, host + 1)
			    : arena_copy_text(arena, host);
}

static char *join_address(const char *host, int port)
{
	return mem_format(strchr(host, ':') ? "[%s]:%d" : "%s:%d", host, port);
}

/* --master-addr and --master-port; the host is that of the endpoint if only the port was given. */
static void read_master(const struct given *given, struct arena *arena, struct launch *launch,
			struct text *faults)
{
	const char *host = launch->endpoint.host ? launch->endpoint.host : MASTER_HOST;
	size_t offset;

	launch->agent.master_host = host_without_brackets(given->host ? given->host : host, arena);
	launch->agent.master_port = given->port ? given->port_number : MASTER_PORT;
	char *joined CLEANUP(mem_free_text) =
		join_address(launch->agent.master_host, launch->agent.master_port);
	const char *fault = launch->agent.master_port ? address_fault(joined, &offset) : NULL;

	if (fault)
		text_addf(faults, "--master-addr: '%s': %s\n", launch->agent.master_host, fault);
	if (fault)
		launch->agent.master_port = 0;
}

/* A static rendezvous with an endpoint alone. */
static void read_master_of_endpoint(const struct given *given, struct arena *arena,
				    struct launch *launch, struct text *faults)
{
	size_t offset;

	if (address_fault(given->endpoint, &offset)) {
		text_addf(faults,
			  "--rdzv-endpoint: '%s' is not HOST:PORT, which a static rendezvous "
			  "needs\n",
			  given->endpoint);
		return;
	}
	char *host CLEANUP(mem_free_text) = address_host(given->endpoint);

	launch->agent.master_host = arena_copy_text(arena, host);
	launch->agent.master_port = address_port(given->endpoint);
}

static void read_static(const struct given *given, struct arena *arena, struct launch *launch,
			struct text *faults)
{
	struct rendezvous_endpoint *endpoint = &launch->endpoint;
	bool has_master = given->host || given->port;

	if (has_master && given->endpoint && !given->is_single)
		rendezvous_endpoint_read(given->endpoint, endpoint, faults);
	if (has_master)
		read_master(given, arena, launch, faults);
	else
		read_master_of_endpoint(given, arena, launch, faults);
	if (!launch->agent.master_port || given->is_single || endpoint->host)
		return;
	bool is_low = launch->agent.master_port < 2 * SERVER_DISTANCE;
	int port = launch->agent.master_port + (is_low ? SERVER_DISTANCE : -SERVER_DISTANCE);
	char *server CLEANUP(mem_free_text) = join_address(launch->agent.master_host, port);

	rendezvous_endpoint_read(server, endpoint, faults);
}

/* --rdzv-backend, --rdzv-endpoint, --master-addr, --master-port and --standalone. The endpoint gets
 * no host if no other machine joins; in a step of Slurm its first node has the server unless one is
 * given. */
static void read_address(const struct options *options, struct arena *arena, struct launch *launch,
			 struct text *faults)
{
	bool is_single = launch->agent.terms.max == 1;
	const struct slurm_step *step = launch->step;
	struct rendezvous_endpoint *endpoint = &launch->endpoint;
	struct given given = {
		.backend = read_given(options, "rdzv-backend"),
		.endpoint = read_given(options, "rdzv-endpoint"),
		.host = read_given(options, "master-addr"),
		.port = read_given(options, "master-port"),
		.is_single = is_single,
	};
	int64_t port = 0;
	struct err err;

	if (given.backend && !text_equals(given.backend, "c10d") &&
	    !text_equals(given.backend, "static"))
		text_addf(faults,
			  "--rdzv-backend: '%s' is not supported; use c10d, which needs no other "
			  "program\n",
			  given.backend);
	if (given.port && text_read_int(given.port, 1, UINT16_MAX, &port, &err) < 0)
		text_addf(faults, "--master-port: %s\n", err.text);
	given.port_number = (int) port;
	if (rendezvous_flag(options, "standalone"))
		return;
	/* "localhost:0" is torchrun's endpoint for a single machine. */
	if (text_equals(given.endpoint, "localhost:0") ||
	    text_equals(given.endpoint, "127.0.0.1:0"))
		given.endpoint = NULL;
	launch->is_shared = !is_single || is_static(&given) || text_equals(given.backend, "c10d");
	if (is_static(&given))
		read_static(&given, arena, launch, faults);
	else if (given.endpoint)
		rendezvous_endpoint_read(given.endpoint, endpoint, faults);
	else if (!is_single && step)
		*endpoint = (struct rendezvous_endpoint){.host = mem_copy_text(step->first_host),
							 .port = step->port};
	else if (!is_single)
		text_add(faults, "missing --rdzv-endpoint, the address of the rendezvous server "
				 "(or --master-addr and --node-rank)\n");
}

static void read_endpoint(const struct options *options, const struct slurm_step *step,
			  struct arena *arena, struct launch *launch, struct text *faults)
{
	read_address(options, arena, launch, faults);
	struct agent_request *agent = &launch->agent;
	const char *host = launch->endpoint.host;
	char *uid CLEANUP(mem_free_text) = job_uid_new();

	/* As Debian has it, `hostname --ip-address` is 127.0.1.1 on every node. */
	if (step && step->n_nodes > 1 && host && !text_equals(host, step->first_host) &&
	    network_address_names_loopback(host))
		text_addf(faults,
			  "--rdzv-endpoint: %s is the address of each node for itself; leave the "
			  "option out, and the step meets at %s\n",
			  host, step->first_host);
	/* TORCHELASTIC_RUN_ID as torchrun sets it, but a single machine keeps the id that was
	 * given. */
	if (launch->job_id && !rendezvous_flag(options, "standalone"))
		agent->job_id = launch->job_id;
	else
		agent->job_id = launch->is_shared ? "none" : arena_copy_text(arena, uid);
	/* torchrun's static rendezvous waits as long for its server as for the other machines. */
	if (!agent->patience && !agent->master_host)
		agent->patience = PATIENCE;
	agent->patience = agent->patience ? msec_min(agent->patience, agent->terms.join_time)
					  : agent->terms.join_time;
	rendezvous_endpoint_read_trust(options, true, &launch->endpoint, faults);
	launch->is_alone = !launch->endpoint.host;
	launch->endpoint.is_tls &= !launch->is_alone;
	launch->never_serves |= launch->endpoint.is_tls && !launch->endpoint.has_token_key;
}

void launch_read(const struct options *options, const struct gpus *gpus,
		 const struct slurm_step *step, struct arena *arena, struct launch *launch,
		 struct text *faults)
{
	struct agent_request *agent = &launch->agent;
	const char *role_name = rendezvous_option(options, "role");

	*launch = (struct launch){
		.agent = {.terms = {.min = 1,
				    .max = 1,
				    .unit = 1,
				    .join_time = JOIN_TIME,
				    .last_call = LAST_CALL},
			  .own_address = rendezvous_option(options, "local-addr"),
			  .role_name = role_name ? role_name : "default",
			  .has_virtual_local_rank = rendezvous_flag(options, "virtual-local-rank")},
		.job_id = rendezvous_option(options, "rdzv-id"),
		.is_module = rendezvous_flag(options, "module"),
		.is_program = rendezvous_flag(options, "no-python"),
		.step = step && meets_by_slurm(options) ? step : NULL,
	};
	if (launch->step && launch->step->n_tasks > 1 && !launch->job_id)
		launch->job_id = launch->step->id;
	read_machines(options, &agent->terms, faults);
	read_processes(options, gpus, &launch->n_processes, faults);
	read_node_rank(options, step, launch, faults);
	read_count(options, "node-unit", 1, LIMIT_MEMBERS, &agent->terms.unit, faults);
	if (launch->step)
		take_tasks(launch, gpus, rendezvous_option(options, "nnodes"));
	read_restarts(options, &agent->terms.restarts, faults);
	read_count(options, "local-port", 1, 65535, &agent->own_port, faults);
	read_conf(options, launch, faults);
	read_endpoint(options, step, arena, launch, faults);
	check_unused(options, faults);
	if (launch->step)
		check_tasks(launch, faults);
	check_names(launch, faults);
	if (!faults->len && member_terms_fault(&agent->terms))
		text_addf(faults, "--nnodes: %s\n", member_terms_fault(&agent->terms));
}

/* Signals. */

/* SIGINT, SIGTERM, SIGHUP and SIGQUIT stop a job in any case. */
static void read_signals(const struct options *options, struct launch_signals *signals,
			 struct text *faults)
{
	const char *word = rendezvous_option(options, "signals-to-handle");
	char *names CLEANUP(mem_free_text) = mem_copy_text(word ? word : getenv(SIGNALS_VARIABLE));
	char *rest = names, *name;
	struct err err;

	while ((name = strsep(&rest, ", "))) {
		int number = 0;

		if (*name && stop_signal_read(name, &number, &err) < 0)
			text_addf(faults, "--signals-to-handle: %s\n", err.text);
		if (number == SIGUSR1 || number == SIGUSR2)
			signals->stops_at[number == SIGUSR2] = true;
		else if (number == SIGKILL || number == SIGSTOP)
			text_addf(faults, "--signals-to-handle: %s cannot be handled\n", name);
	}
}

/* torchrun's seconds, or a duration with its unit. */
static void read_grace(const struct options *options, struct launch_signals *signals,
		       struct text *faults)
{
	const char *said = rendezvous_option(options, "shutdown-timeout");
	const char *word = said ? said : getenv(TIMEOUT_VARIABLE);
	int64_t seconds;
	struct err err;

	if (!word)
		return;
	signals->has_grace = true;
	if (text_read_int(word, 0, LONGEST_GRACE, &seconds, NULL) == 0)
		signals->grace = seconds * MSEC_PER_SECOND;
	else if (text_read_duration(word, &signals->grace, &err) < 0)
		text_addf(faults, "%s: %s\n", said ? "--shutdown-timeout" : TIMEOUT_VARIABLE,
			  err.text);
}

void launch_signals_read(const struct options *options, bool is_in_step,
			 struct launch_signals *signals, struct text *faults)
{
	*signals = (struct launch_signals){.grace = is_in_step ? GRACE_IN_STEP : GRACE};
	read_signals(options, signals, faults);
	read_grace(options, signals, faults);
}
