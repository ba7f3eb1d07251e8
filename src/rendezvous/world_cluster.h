/* The offers of a world's members, and the cluster that they make up: which process of which
 * machine has which rank, and where it listens.
 *
 * An offer never changes: it has ports for some generations, which take turns, so that a process
 * never meets what is left of one before it on its port. */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"
#include "rendezvous/world.h"
#include "spec/tf_cluster.h"

#include <stddef.h>
#include <stdint.h>

#define OFFER_TURNS 4 /* generations until a port is used again */

struct offer {
	const char *host; /* as the other members reach it */
	int n_processes;
	const int *ports; /* OFFER_TURNS times one for each process, and one for rank 0's store */
};
size_t offer_port_count(int n_processes);
/* "HOST:PORT" of a process in a generation. */
const char *offer_address(const struct offer *offer, int64_t generation, int nth,
			  struct arena *arena);

void offer_add(const struct offer *offer, struct text *text); /* as compact JSON */
/* What is read lives in the arena. ERR_INVALID. */
int offer_read(const char *text, struct arena *arena, struct offer *ret_offer,
	       struct err *err) MUST_USE;

/* Where one member stands, in the arena but for `job_id`, `restarts` and `max_restarts`, which are
 * left as they were. ERR_INVALID: an offer cannot be read, or there are too many processes;
 * ERR_NOT_FOUND: it is no member. */
struct world_cluster {
	struct tf_cluster_world world;
	const char *dense_cluster; /* of TF_CONFIG */
	const char *coordinator_host;
	int coordinator_port;
};
int world_cluster_read(const struct world *world, const char *id, struct arena *arena,
		       struct world_cluster *cluster, struct err *err) MUST_USE;
