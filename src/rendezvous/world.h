/* The members of an elastic job that train together, as they were agreed upon. A world never
 * changes: who comes or goes makes the next one, of a higher generation. */
#pragma once

#include "base/msec.h"
#include "base/own.h"

#include <stddef.h>
#include <stdint.h>

/* Why there is a world, or why it is over. */
enum world_reason {
	WORLD_FIRST, /* enough members were there */
	WORLD_GREW, /* more have come */
	WORLD_LOST_MEMBER, /* one is not heard of any more */
	WORLD_MEMBER_LEFT, /* one went, or is about to */
	WORLD_WORKER_FAILED,
	WORLD_RESTART_ASKED, /* a worker has saved, and asked to be started again */
	WORLD_FORGOTTEN, /* its server has lost what it kept of it */
	WORLD_REASON_COUNT,
};
extern const char *const world_reason_words[WORLD_REASON_COUNT]; /* "first", "grew" … */
/* For people: "enough machines have joined" … */
extern const char *const world_reason_sentences[WORLD_REASON_COUNT];

struct world_member {
	char *id;
	char *offer; /* what its peers have to know of it, in the words of the agents */
};

struct world {
	int64_t generation; /* from 1 on; 0: there was none yet */
	msec formed_at;
	enum world_reason reason;
	struct world_member *members; /* by rank */
	size_t n_members;
};

void world_done(struct world *world);
struct world world_copy(const struct world *world) MUST_USE;
/* The rank of this member; -1: it is not in this world. */
int world_rank(const struct world *world, const char *id);
