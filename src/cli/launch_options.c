#include "cli/launch_options.h"

#include "base/mem.h"
#include "base/names.h"
#include "io/control_group.h"
#include "io/network_address.h"
#include "jobs/registration.h"
#include "spec/limits.h"

#include <signal.h>

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

void launch_done(struct launch *launch)
{
	rendezvous_endpoint_done(&launch->endpoint);
	launch_address_done(&launch->address);
	free(launch->run_id);
}

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
	struct member_terms *terms = &launch->terms;
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
	launch->has_virtual_local_rank |= gpus->count && (int) gpus->count < n_local;
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
		{"join_timeout", 1, &launch->terms.join_time},
		{"timeout", 1, &launch->terms.join_time},
		{"last_call_timeout", 0, &launch->terms.last_call},
		{"read_timeout", 1, &launch->patience},
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
	if (launch->has_virtual_local_rank && visible && n_visible < launch->n_processes)
		text_addf(faults,
			  "--virtual-local-rank: " GPUS_VARIABLE " has %d device%s, but "
			  "--nproc-per-node starts %d processes\n",
			  n_visible, n_visible == 1 ? "" : "s", launch->n_processes);
	if (launch->own_port && launch->n_processes > 1)
		text_add(faults, "--local-port: is the port of one process, but --nproc-per-node "
				 "starts more\n");
	if (launch->job_id && (!*launch->job_id || !name_is_label_value(launch->job_id)))
		text_addf(faults,
			  "--rdzv-id: '%s' is not an id (expected 1 to 63 letters, digits, '-', "
			  "'_' and '.')\n",
			  launch->job_id);
	if (!*launch->role_name || !name_is_label_value(launch->role_name))
		text_addf(faults,
			  "--role: '%s' is not a role (expected 1 to 63 letters, digits, '-', '_' "
			  "and '.')\n",
			  launch->role_name);
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
	read_count(options, "node-rank", 0, LIMIT_MEMBERS - 1, &launch->node_rank, faults);
	if (launch->has_node_rank || !step || step->n_tasks == 1)
		return;
	launch->has_node_rank = true;
	launch->node_rank = step->task;
}

static void check_tasks(const struct launch *launch, struct text *faults)
{
	const struct slurm_step *step = launch->step;

	if (launch->machine.local_size && launch->n_processes > 1)
		text_addf(faults,
			  "--nproc-per-node: Slurm step %s has %d tasks on this node, and each "
			  "starts one process\n",
			  step->id, launch->machine.local_size);
	if (launch->terms.min > step->n_tasks)
		text_addf(faults,
			  "--nnodes: Slurm step %s has %d node%s, fewer than the job needs; use "
			  "srun -N, or --nnodes MIN:MAX with a lower MIN\n",
			  step->id, step->n_nodes, step->n_nodes == 1 ? "" : "s");
}

static void read_endpoint(const struct options *options, const struct slurm_step *step,
			  struct launch *launch, struct text *faults)
{
	launch_address_read(options, launch->terms.max == 1, launch->step, &launch->address,
			    &launch->endpoint, faults);
	const char *host = launch->endpoint.host;

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
		launch->run_id = mem_copy_text(launch->job_id);
	else
		launch->run_id = launch->address.is_shared ? mem_copy_text("none") : job_uid_new();
	/* torchrun's static rendezvous waits as long for its server as for the other machines. */
	if (!launch->patience && !launch->address.master_host)
		launch->patience = PATIENCE;
	launch->patience = launch->patience ? msec_min(launch->patience, launch->terms.join_time)
					    : launch->terms.join_time;
	rendezvous_endpoint_read_trust(options, true, &launch->endpoint, faults);
	launch->is_alone = !launch->endpoint.host;
	launch->endpoint.is_tls &= !launch->is_alone;
	launch->never_serves |= launch->endpoint.is_tls && !launch->endpoint.has_token_key;
}

void launch_read(const struct options *options, const struct gpus *gpus,
		 const struct slurm_step *step, struct launch *launch, struct text *faults)
{
	*launch = (struct launch){
		.terms = {.min = 1,
			  .max = 1,
			  .unit = 1,
			  .join_time = JOIN_TIME,
			  .last_call = LAST_CALL},
		.job_id = rendezvous_option(options, "rdzv-id"),
		.own_address = rendezvous_option(options, "local-addr"),
		.role_name = rendezvous_option(options, "role"),
		.is_module = rendezvous_flag(options, "module"),
		.is_program = rendezvous_flag(options, "no-python"),
		.has_virtual_local_rank = rendezvous_flag(options, "virtual-local-rank"),
		.step = step && meets_by_slurm(options) ? step : NULL,
	};
	if (launch->step && launch->step->n_tasks > 1 && !launch->job_id)
		launch->job_id = launch->step->id;
	read_machines(options, &launch->terms, faults);
	read_processes(options, gpus, &launch->n_processes, faults);
	if (!launch->role_name)
		launch->role_name = "default";
	read_node_rank(options, step, launch, faults);
	read_count(options, "node-unit", 1, LIMIT_MEMBERS, &launch->terms.unit, faults);
	if (launch->step)
		take_tasks(launch, gpus, rendezvous_option(options, "nnodes"));
	read_restarts(options, &launch->terms.restarts, faults);
	read_count(options, "local-port", 1, 65535, &launch->own_port, faults);
	read_conf(options, launch, faults);
	read_endpoint(options, step, launch, faults);
	check_unused(options, faults);
	if (launch->step)
		check_tasks(launch, faults);
	check_names(launch, faults);
	if (!faults->len && member_terms_fault(&launch->terms))
		text_addf(faults, "--nnodes: %s\n", member_terms_fault(&launch->terms));
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
