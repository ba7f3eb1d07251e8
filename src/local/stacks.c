#include "local/stacks.h"

#include "base/text.h"
#include "io/log.h"
#include "jobs/processes.h"
#include "spec/limits.h"
#include "status/stacks.h"

#include <stdlib.h>

static void start_stacks_asker(void *data);

/* Without the hook the job trains all the same. */
static char *make_hook(const char *state_folder)
{
	char *folder = NULL;
	struct err err;

	if (stacks_hook_install(state_folder, &folder, &err) < 0)
		log_info("stacks are not available: %s", err.text);
	return folder;
}

void local_stacks_init(struct local_stacks *stacks, struct local_replicas *replicas,
		       const char *state_folder, struct loop *loop)
{
	*stacks = (struct local_stacks){
		.loop = loop,
		.replicas = replicas,
		.hook = state_folder ? make_hook(state_folder) : NULL,
	};
}

void local_stacks_done(struct local_stacks *stacks)
{
	stacks_asker_free(stacks->asker);
	stacks_done(&stacks->answers);
	arena_free(stacks->arena);
	free(stacks->hook);
	free(stacks->job_folder);
	*stacks = (struct local_stacks){0};
}

/* Replicas that were held back meanwhile are asked, and signaled, after these. */
static void on_stacks_answered(void *data)
{
	struct local_stacks *stacks = data;

	stacks_asker_read(stacks->asker, stacks->arena, &stacks->answers);
	stacks_asker_free(TAKE(stacks->asker));
	for (size_t i = 0; i < stacks->replicas->count; i++)
		if (stacks->replicas->list[i]->is_asked)
			local_replica_send_held(stacks->replicas->list[i]);
	start_stacks_asker(stacks);
	stacks->on_kept(stacks->data);
}

static void start_stacks_asker(void *data)
{
	struct local_stacks *stacks = data;
	const struct stacks_asker_settings settings = {stacks->loop, stacks->job_folder,
						       stacks->uid, on_stacks_answered, stacks};
	struct stacks_replica *held CLEANUP(mem_free_any) =
		mem_new_array(stacks->replicas->count + 1, sizeof(*held));
	size_t n_held = 0;

	stacks->is_due = false;
	for (size_t i = 0; !stacks->asker && i < stacks->replicas->count; i++) {
		struct local_replica *replica = stacks->replicas->list[i];

		if (!replica->held_signal || replica->stage != LOCAL_RUNNING)
			continue;
		replica->is_asked = true;
		held[n_held++] = (struct stacks_replica){replica->role, replica->index,
							 replica->attempt, replica->pid};
	}
	if (n_held == 0)
		return;
	if (!stacks->arena)
		stacks->arena = arena_new();
	stacks->asker = stacks_asker_new(&settings, held, n_held);
}

void local_stacks_ask(struct local_stacks *stacks)
{
	if (!stacks->is_due)
		loop_defer(stacks->loop, start_stacks_asker, stacks);
	stacks->is_due = true;
}

int local_stacks_summarize(const struct local_stacks *stacks, struct arena *arena,
			   const char ***ret_lines, size_t *ret_count, struct err *err)
{
	if (!stacks->arena || stacks->asker || stacks->is_due)
		return err_set(err, ERR_UNREACHABLE, "the stacks are not ready yet");
	*ret_lines = stacks_summarize(&stacks->answers, LIMIT_STACKS - 1, arena, ret_count);
	return 0;
}
