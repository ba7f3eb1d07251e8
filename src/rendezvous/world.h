/* The members of an elastic job that train together. A world never changes: each join or leave
 * leads to a new world, of a higher generation. */
#pragma once

#include "base/instant.h"
#include "base/own.h"

#include <stddef.h>
#include <stdint.h>

/* Why there is a world, or why it ended. */
enum world_reason {
	WORLD_FIRST, /* enough members had joined */
	WORLD_GREW, /* more members joined */
	WORLD_LOST_MEMBER, /* a member became silent */
	WORLD_MEMBER_LEFT, /* a member left or is about to leave */
	WORLD_WORKER_FAILED,
	WORLD_RESTART_ASKED, /* a worker has saved, and asked for a restart */
	WORLD_FORGOTTEN, /* its server lost the record of it */
	WORLD_REASON_COUNT,
};
extern const char *const world_reason_words[WORLD_REASON_COUNT]; /* "first", "grew" … */
/* For the user: "enough machines have joined" … */
extern const char *const world_reason_sentences[WORLD_REASON_COUNT];

struct world_member {
	char *id;
	char *offer; /* what its peers need to know about it, in the agents' format */
	char *key; /* of its calls, for the server alone; NULL: none */
};

struct world {
	int64_t generation; /* from 1; 0: none yet */
	instant formed_at;
	enum world_reason reason;
	struct world_member *members; /* by rank */
	size_t n_members;
};

void world_done(struct world *world);
struct world world_copy(const struct world *world) MUST_USE;
/* The rank of this member; -1: not in this world. */
int world_rank(const struct world *world, const char *id);
