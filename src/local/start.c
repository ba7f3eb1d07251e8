#include "local/start.h"

#include "io/log.h"
#include "io/own_process.h"
#include "io/python_stacks.h"
#include "jobs/processes.h"
#include "spec/gpus.h"

#define PYTHON_PATH "PYTHONPATH"
#define GLOO_INTERFACE_VARIABLE "GLOO_SOCKET_IFNAME"

char *local_start_mark(const char *uid, const char *role, int index, int attempt)
{
	char *name CLEANUP(mem_free_text) = job_processes_attempt(role, index, attempt);

	return mem_format(ENVIRONMENT_ATTEMPT_MARK "=%s/%s", uid, name);
}

/* gRPC, and so TensorFlow, sends even local connections through the proxy of http_proxy, which does
 * not know the tasks: everything hangs. So our own addresses are named as exceptions. Source:
 * grpc/doc/environment_variables.md. */
static void exempt_local_addresses(struct environment *declared)
{
	const char *exceptions = getenv("no_proxy");
	bool has_proxy = getenv("http_proxy") || getenv("https_proxy");
	bool is_decided = getenv("grpc_proxy") || getenv("no_grpc_proxy");

	if (!has_proxy || is_decided)
		return;
	char *value CLEANUP(mem_free_text) = mem_format(
		"%s%slocalhost,127.0.0.1", exceptions ? exceptions : "", exceptions ? "," : "");

	environment_set(declared, "no_grpc_proxy", value);
}

/* A variable that the user has set applies to every replica. */
static void limit_threads(const struct tf_cluster *cluster, const struct role *role, int index,
			  double cores, struct environment *declared)
{
	int threads = threads_of_replica(role->container.processors, cores,
					 job_replica_count(cluster->job));
	char *value CLEANUP(mem_free_text) = mem_format("%d", threads);

	if (cores <= 0 || threads == 0 || getenv(THREADS_VARIABLE))
		return;
	environment_set(declared, THREADS_VARIABLE, value);
	log_info("%s-%d: " THREADS_VARIABLE "=%d unless the job sets it (%g usable cores)",
		 role->name, index, threads, cores);
}

/* Before the user's own directories, so that ours is found first; it then runs the next one. */
static void hook_python(const char *hook, const char *job_folder, const struct role *role,
			int index, int attempt, struct environment *declared)
{
	const char *own = getenv(PYTHON_PATH);
	bool has_own = own && *own;
	char *path CLEANUP(mem_free_text) =
		mem_format("%s%s%s", hook, has_own ? ":" : "", has_own ? own : "");
	char *file CLEANUP(mem_free_text) =
		job_attempt_file(job_folder, role->name, index, attempt, STACKS_FILE);

	environment_set(declared, PYTHON_PATH, path);
	environment_set(declared, PYTHON_STACKS_FILE, file);
}

/* The GPU of a process that is to see no other, as torchrun chooses it: the one at its place in our
 * own variable, else the one with its number, whatever the machine has. */
static void show_own_gpu(const char *visible, int index, struct environment *declared)
{
	char *number CLEANUP(mem_free_text) = mem_format("%d", index);
	char *words CLEANUP(mem_free_text) = mem_copy_text(visible ? visible : number);
	char *rest = words, *word = strsep(&rest, ",");

	for (int i = 0; visible && word && i < index; i++)
		word = strsep(&rest, ",");
	environment_set(declared, GPUS_VARIABLE, word ? word : "");
}

/* All variables besides muster's own. The marks come last: they find descendants. */
static void declare(const struct tf_cluster *cluster, const struct role *role, int index,
		    int attempt, const struct local_machine *machine, struct environment *declared)
{
	const char *nccl_errors = getenv(NCCL_ERRORS_VARIABLE);
	const char *visible = machine->visible_gpus;
	char *mark CLEANUP(mem_free_text) =
		local_start_mark(cluster->job->uid, role->name, index, attempt);
	char *stop_file CLEANUP(mem_free_text) = job_attempt_file(
		cluster->report_folder, role->name, index, attempt, LOCAL_STOP_FILE);

	if (visible)
		environment_set(declared, GPUS_VARIABLE, visible);
	if (cluster->world && cluster->world->has_virtual_local_rank)
		show_own_gpu(visible ? visible : getenv(GPUS_VARIABLE), index, declared);
	if (machine->stacks_hook)
		hook_python(machine->stacks_hook, cluster->report_folder, role, index, attempt,
			    declared);
	limit_threads(cluster, role, index, machine->cores, declared);
	exempt_local_addresses(declared);
	/* In a private network, a shell's variables about the machine's interfaces are wrong. */
	if (cluster->job->has_private_network) {
		environment_set(declared, "NCCL_SOCKET_IFNAME", "lo");
		environment_set(declared, GLOO_INTERFACE_VARIABLE, "lo");
	}
	/* Gloo takes the address that this machine's name has, which the others may not reach. */
	if (cluster->world && cluster->world->interface && !getenv(GLOO_INTERFACE_VARIABLE))
		environment_set(declared, GLOO_INTERFACE_VARIABLE, cluster->world->interface);
	tf_cluster_add_environment(cluster, role->name, index, attempt, declared);
	if (machine->error_file)
		environment_set(declared, "TORCHELASTIC_ERROR_FILE", machine->error_file);
	environment_set(declared, "MUSTER_STOP_FILE", stop_file);
	if (nccl_errors)
		environment_set(declared, NCCL_ERRORS_VARIABLE, nccl_errors);
	environment_add_container(declared, &role->container);
	environment_set(declared, ENVIRONMENT_JOB_MARK, cluster->job->uid);
	environment_set(declared, ENVIRONMENT_ATTEMPT_MARK, strchr(mark, '=') + 1);
}

static size_t count_texts(const char *const *texts)
{
	size_t count = 0;

	while (texts && texts[count])
		count++;
	return count;
}

static char *const *merge_environment(const struct environment *declared, struct arena *arena)
{
	char **merged CLEANUP(mem_free_any) =
		own_environment_with((const char *const *) declared->entries);
	size_t count = count_texts((const char *const *) merged);
	char **entries = arena_take_array(arena, count + 1, sizeof(*entries));

	for (size_t i = 0; i < count; i++)
		entries[i] = arena_copy_text(arena, merged[i]);
	return entries;
}

static size_t expand_into(char **expanded, const char *const *texts,
			  const struct environment *declared, struct arena *arena)
{
	size_t count = count_texts(texts);

	for (size_t i = 0; i < count; i++) {
		char *text CLEANUP(mem_free_text) = environment_expand(declared, texts[i]);

		expanded[i] = arena_copy_text(arena, text);
	}
	return count;
}

/* As torchrun does in the arguments of its scripts. */
static char *substitute_local_rank(const char *argument, int local_rank, struct arena *arena)
{
	static const char variable[] = "${local_rank}";
	struct text text CLEANUP(text_done) = {0};
	const char *found;

	while ((found = strstr(argument, variable))) {
		text_add_bytes(&text, argument, (size_t) (found - argument));
		text_addf(&text, "%d", local_rank);
		argument = found + sizeof(variable) - 1;
	}
	text_add(&text, argument);
	return arena_copy_text(arena, text_of(&text));
}

static char *const *make_arguments(const struct tf_cluster *cluster, const struct role *role,
				   int index, const struct environment *declared,
				   struct arena *arena)
{
	const struct container *container = &role->container;
	size_t count = count_texts(container->command) + count_texts(container->args);
	char **arguments = arena_take_array(arena, count + 1, sizeof(*arguments));
	size_t n_command = expand_into(arguments, container->command, declared, arena);

	expand_into(arguments + n_command, container->args, declared, arena);
	for (size_t i = 1; cluster->world && i < count; i++)
		arguments[i] = substitute_local_rank(arguments[i], index, arena);
	return arguments;
}

/* A command `muster` in a job means the program that runs it, not the one in PATH. */
static const char *program_of(const char *name, struct arena *arena)
{
	if (!text_equals(name, "muster"))
		return name;
	char *own CLEANUP(mem_free_text) = own_program_path();

	return arena_copy_text(arena, own);
}

void local_start_describe(const struct tf_cluster *cluster, const struct role *role, int index,
			  int attempt, const struct local_machine *machine, struct arena *arena,
			  struct child_start *ret_start)
{
	struct environment declared CLEANUP(environment_done) = {0};

	declare(cluster, role, index, attempt, machine, &declared);
	*ret_start = (struct child_start){
		.arguments = make_arguments(cluster, role, index, &declared, arena),
		.environment = merge_environment(&declared, arena),
		.working_dir = role->container.working_dir,
		.output_fd = -1,
	};
	ret_start->program = program_of(ret_start->arguments[0], arena);
}
