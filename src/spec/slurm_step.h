/* What a task of a Slurm step learns from its environment. Pure.
 *
 * Source: srun(1), OUTPUT ENVIRONMENT VARIABLES, and slurm.h (SLURM_MAX_NORMAL_STEP_ID) of Slurm
 * 22.05; the syntax of a host list is that of scontrol(1), show hostnames. */
#pragma once

#include "base/mem.h"

/* Of parallel steps and jobs on one machine, few have the same port: 20000 to 29999. */
#define SLURM_LOWEST_PORT 20000
#define SLURM_N_PORTS 10000

/* Texts are in the arena. */
struct slurm_step {
	const char *id; /* as Slurm writes it: "4711.0" */
	int n_nodes, node; /* the node of this task, from 0 */
	int n_tasks, task; /* of the step, on all nodes */
	int n_local_tasks, local_task; /* of this node */
	const char *node_name;
	const char *first_host; /* the node of task 0 */
	int port; /* from the ids, the same for all tasks */
};

/* getenv, or a stand-in. */
typedef char *(*slurm_variable_fn)(const char *name);

/* False outside a step (also in a batch script itself and in a terminal of salloc), and if a
 * variable is missing or has no sense. */
bool slurm_step_read(slurm_variable_fn variable, struct arena *arena, struct slurm_step *ret_step);

/* In a batch script itself, on the first node alone: the number of its job's nodes; else 0. */
int slurm_batch_nodes(slurm_variable_fn variable);

/* The value of NodeAddr in the answer of `scontrol show node NAME`, in the arena; NULL: none. */
const char *slurm_node_address(const char *answer, struct arena *arena);
