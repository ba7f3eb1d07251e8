#include "spec/slurm_step.h"

#include "base/text.h"
#include "spec/limits.h"

#include <inttypes.h>

#define MAX_JOB 0x7fffffff
#define MAX_STEP 0xfffffff0 /* those above are the batch script, a terminal of salloc and such */
#define NODE_ADDRESS "NodeAddr="

static bool read_number(slurm_variable_fn variable, const char *name, int64_t low, int64_t high,
			int64_t *ret_number)
{
	const char *value = variable(name);

	return value && text_read_int(value, low, high, ret_number, NULL) == 0;
}

static bool read_count(slurm_variable_fn variable, const char *name, int low, int high,
		       int *ret_count)
{
	int64_t number = 0;
	bool is_read = read_number(variable, name, low, high, &number);

	*ret_count = (int) number;
	return is_read;
}

/* "rack[0-1]node[03-7,9],a" begins with "rack0node03". */
static const char *first_of_list(const char *list, struct arena *arena)
{
	struct text host CLEANUP(text_done) = {0};

	for (const char *at = list; *at && *at != ','; at++) {
		if (*at == ']')
			return NULL;
		if (*at != '[') {
			text_add_char(&host, *at);
			continue;
		}
		text_add_bytes(&host, at + 1, strcspn(at + 1, "-,]"));
		at += strcspn(at, "]");
		if (!*at)
			return NULL;
	}
	return host.len && host.len <= LIMIT_HOST ? arena_copy_text(arena, text_of(&host)) : NULL;
}

static bool read_ids(slurm_variable_fn variable, struct arena *arena, struct slurm_step *step)
{
	int64_t job = 0, number = 0;

	if (!read_number(variable, "SLURM_JOB_ID", 1, MAX_JOB, &job) ||
	    !read_number(variable, "SLURM_STEP_ID", 0, MAX_STEP, &number))
		return false;
	step->id = arena_format(arena, "%" PRId64 ".%" PRId64, job, number);
	step->port = SLURM_LOWEST_PORT + (int) ((job * 7 + number) % SLURM_N_PORTS);
	return true;
}

bool slurm_step_read(slurm_variable_fn variable, struct arena *arena, struct slurm_step *step)
{
	const char *nodes = variable("SLURM_STEP_NODELIST"), *name = variable("SLURMD_NODENAME");
	int *n_tasks = &step->n_tasks, *n_nodes = &step->n_nodes;

	*step = (struct slurm_step){0};
	if (!nodes || !name || !read_ids(variable, arena, step) ||
	    !read_count(variable, "SLURM_STEP_NUM_TASKS", 1, MAX_JOB, n_tasks) ||
	    !read_count(variable, "SLURM_STEP_NUM_NODES", 1, *n_tasks, n_nodes) ||
	    !read_count(variable, "SLURM_PROCID", 0, *n_tasks - 1, &step->task) ||
	    !read_count(variable, "SLURM_NODEID", 0, *n_nodes - 1, &step->node))
		return false;
	/* SLURM_GTIDS names the tasks of this node: "4,5,6". */
	step->n_local_tasks = 1;
	for (const char *at = variable("SLURM_GTIDS"); at && *at; at++)
		step->n_local_tasks += *at == ',';
	step->node_name = arena_copy_text(arena, name);
	step->first_host = first_of_list(nodes, arena);
	return step->first_host &&
	       read_count(variable, "SLURM_LOCALID", 0, step->n_local_tasks - 1, &step->local_task);
}

int slurm_batch_nodes(slurm_variable_fn variable)
{
	int n_nodes = 0;
	bool is_in_job = variable("SLURM_JOB_ID") && !variable("SLURM_STEP_ID") &&
			 read_count(variable, "SLURM_JOB_NUM_NODES", 1, MAX_JOB, &n_nodes);

	return is_in_job ? n_nodes : 0;
}

const char *slurm_node_address(const char *answer, struct arena *arena)
{
	const char *found = strstr(answer, NODE_ADDRESS);
	const char *address = found ? found + strlen(NODE_ADDRESS) : "";
	size_t len = strcspn(address, " \t\n");

	return len && len <= LIMIT_HOST ? arena_format(arena, "%.*s", (int) len, address) : NULL;
}
