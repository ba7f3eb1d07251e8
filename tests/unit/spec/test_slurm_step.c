/* What a task of a Slurm step learns from its environment. */
#include "unit.h"

#include "base/text.h"
#include "spec/slurm_step.h"

#include <stdio.h>

/* As srun of Slurm 22.05 sets them, two nodes with two tasks each; this is the last task. */
static const char *const second_node[] = {
	"SLURM_JOB_ID=4711",     "SLURM_STEP_ID=2",        "SLURM_STEP_NODELIST=gpu[03-04]",
	"SLURM_PROCID=3",        "SLURM_STEP_NUM_TASKS=4", "SLURM_STEP_NUM_NODES=2",
	"SLURM_NODEID=1",        "SLURM_LOCALID=1",        "SLURM_GTIDS=2,3",
	"SLURMD_NODENAME=gpu04", "SLURM_JOB_NUM_NODES=2",
};

/* The environment of a test: the one above, except for one variable. */
static const char *changed = "";

static const char *value_in(const char *line, const char *name)
{
	size_t len = strlen(name);

	return strncmp(line, name, len) == 0 && line[len] == '=' ? line + len + 1 : NULL;
}

static char *variable(const char *name)
{
	const char *value = value_in(changed, name);

	if (value)
		return *value ? (char *) value : NULL; /* NAME= stands for a missing one */
	for (size_t i = 0; i < ARRAY_LEN(second_node); i++)
		if (value_in(second_node[i], name))
			return (char *) value_in(second_node[i], name);
	return NULL;
}

TEST(a_task_knows_its_place_and_where_to_meet)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct slurm_step step;

	changed = "";
	assert_true(slurm_step_read(variable, arena, &step));
	assert_string_equal(step.id, "4711.2");
	assert_string_equal(step.first_host, "gpu03");
	assert_string_equal(step.node_name, "gpu04");
	assert_int_equal(step.n_nodes, 2);
	assert_int_equal(step.node, 1);
	assert_int_equal(step.n_tasks, 4);
	assert_int_equal(step.task, 3);
	assert_int_equal(step.n_local_tasks, 2);
	assert_int_equal(step.local_task, 1);
}

TEST(steps_and_jobs_meet_at_different_ports)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	static const char *const others[] = {"SLURM_STEP_ID=3", "SLURM_JOB_ID=4712",
					     "SLURM_JOB_ID=2147483647"};
	struct slurm_step step, other;

	changed = "";
	assert_true(slurm_step_read(variable, arena, &step));
	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		changed = others[i];
		assert_true(slurm_step_read(variable, arena, &other));
		assert_int_not_equal(other.port, step.port);
		assert_in_range(other.port, SLURM_LOWEST_PORT,
				SLURM_LOWEST_PORT + SLURM_N_PORTS - 1);
	}
}

TEST(the_first_host_of_a_list_is_found)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	static const char *const lists[][2] = {
		{"a", "a"},
		{"a,b", "a"},
		{"tux[001-003,7]", "tux001"},
		{"tux[7,9-11],a", "tux7"},
		{"rack[0-1]node[3-4],x", "rack0node3"},
		{"n[2].cluster.example,n1", "n2.cluster.example"},
	};

	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		char *line CLEANUP(mem_free_text) =
			mem_format("SLURM_STEP_NODELIST=%s", lists[i][0]);
		struct slurm_step step;

		changed = line;
		assert_true(slurm_step_read(variable, arena, &step));
		assert_string_equal(step.first_host, lists[i][1]);
	}
}

TEST(anything_else_is_no_step)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	static const char *const changes[] = {
		"SLURM_JOB_ID=",
		"SLURM_JOB_ID=x",
		"SLURM_JOB_ID=99999999999",
		"SLURM_STEP_ID=", /* a batch script */
		"SLURM_STEP_ID=4294967290", /* a terminal of salloc */
		"SLURM_STEP_ID=-1",
		"SLURM_PROCID=4",
		"SLURM_NODEID=2",
		"SLURM_LOCALID=2",
		"SLURM_STEP_NUM_NODES=5",
		"SLURM_STEP_NUM_TASKS=0",
		"SLURM_STEP_NODELIST=",
		"SLURM_STEP_NODELIST=,",
		"SLURM_STEP_NODELIST=n[1",
		"SLURM_STEP_NODELIST=n]",
		"SLURMD_NODENAME=",
	};

	for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
		struct slurm_step step;

		changed = changes[i];
		assert_false(slurm_step_read(variable, arena, &step));
	}
}

TEST(a_batch_script_knows_how_many_nodes_its_job_has)
{
	changed = "SLURM_STEP_ID=";
	assert_int_equal(slurm_batch_nodes(variable), 2);
	changed = "SLURM_JOB_ID=";
	assert_int_equal(slurm_batch_nodes(variable), 0);
	changed = "";
	assert_int_equal(slurm_batch_nodes(variable), 0); /* in a step */
}

TEST(the_address_of_a_node_is_that_of_slurm)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();

	assert_string_equal(slurm_node_address("NodeName=n1 Arch=x86_64\n   NodeAddr=10.0.0.7 "
					       "NodeHostName=vm Version=22.05\n",
					       arena),
			    "10.0.0.7");
	assert_null(slurm_node_address("Node n1 not found\n", arena));
	assert_null(slurm_node_address("NodeAddr=\n", arena));
}
