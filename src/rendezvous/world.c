#include "rendezvous/world.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

const char *const world_reason_words[WORLD_REASON_COUNT] = {
	[WORLD_FIRST] = "first",
	[WORLD_GREW] = "grew",
	[WORLD_LOST_MEMBER] = "lost-member",
	[WORLD_MEMBER_LEFT] = "member-left",
	[WORLD_WORKER_FAILED] = "worker-failed",
	[WORLD_RESTART_ASKED] = "restart-asked",
	[WORLD_FORGOTTEN] = "forgotten",
};

const char *const world_reason_sentences[WORLD_REASON_COUNT] = {
	[WORLD_FIRST] = "enough machines have joined",
	[WORLD_GREW] = "more machines have joined",
	[WORLD_LOST_MEMBER] = "a machine was lost",
	[WORLD_MEMBER_LEFT] = "a machine has left",
	[WORLD_WORKER_FAILED] = "a process has failed",
	[WORLD_RESTART_ASKED] = "a process asked for a restart",
	[WORLD_FORGOTTEN] = "the server was restarted with an older state",
};

void world_done(struct world *world)
{
	for (size_t i = 0; i < world->n_members; i++) {
		free(world->members[i].id);
		free(world->members[i].offer);
		free(world->members[i].key);
	}
	free(world->members);
	*world = (struct world){0};
}

struct world world_copy(const struct world *world)
{
	struct world copy = *world;

	copy.members = mem_new_array(world->n_members, sizeof(*copy.members));
	for (size_t i = 0; i < world->n_members; i++) {
		copy.members[i].id = mem_copy_text(world->members[i].id);
		copy.members[i].offer = mem_copy_text(world->members[i].offer);
		copy.members[i].key = mem_copy_text(world->members[i].key);
	}
	return copy;
}

int world_rank(const struct world *world, const char *id)
{
	for (size_t i = 0; i < world->n_members; i++)
		if (strcmp(world->members[i].id, id) == 0)
			return (int) i;
	return -1;
}
