/* The members of an elastic job that train together. A world never changes: each join or leave
 * leads to a new world, of a higher generation. */
#pragma once

#include "base/instant.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "spec/tf_cluster.h"

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
	const char *id;
	const char *offer; /* what its peers need to know about it, in the agents' format */
	const char *key; /* of its calls, for the server alone; NULL: none */
	bool is_there; /* of a record that was read: it is still a member */
};

struct world {
	int64_t generation; /* from 1; 0: none yet */
	instant formed_at;
	enum world_reason reason;
	struct world_member *members; /* by rank */
	size_t n_members;
	struct arena *arena; /* of the members; NULL: they are borrowed */
};

/* A copy with an arena of its own, which the caller frees. */
struct world world_copy(const struct world *world) MUST_USE;
/* The rank of this member; -1: not in this world. */
int world_rank(const struct world *world, const char *id);

/* Reads the offers of a world's members, and builds the cluster: which process of which machine has
 * which rank and address.
 *
 * An offer never changes. It has ports for several generations in turn, so that a process never
 * finds its port still used by a predecessor. */

#define OFFER_TURNS 4 /* generations until a port is reused */
#define OFFER_ROLE "default" /* the role of an offer that names none, as earlier versions' */

struct offer {
	const char *host; /* as other members reach it */
	const char *role; /* torchrun's --role */
	int n_processes;
	const int *ports; /* OFFER_TURNS times one for each process and one for rank 0's store */
};
size_t offer_port_count(int n_processes);
/* What its processes take of a world; nothing if it is malformed. */
struct world_share {
	int n_processes;
	int address_bytes; /* in TF_CONFIG, at most */
};
struct world_share offer_share(const char *text);
/* "HOST:PORT" of a process in a generation. */
const char *offer_address(const struct offer *offer, int64_t generation, int nth,
			  struct arena *arena);

void offer_add(const struct offer *offer, struct text *text); /* as compact JSON */
/* The result is in the arena. Returns ERR_INVALID. */
int offer_read(const char *text, struct arena *arena, struct offer *ret_offer,
	       struct err *err) MUST_USE;
int offer_read_json(const struct json *object, struct arena *arena, struct offer *ret_offer,
		    struct err *err) MUST_USE;

/* The place of one member, in the arena, except `job_id`, `restarts` and `max_restarts`, which are
 * left unchanged. Returns ERR_INVALID if an offer is malformed, or there are too many processes;
 * ERR_NOT_FOUND if it is no member. */
struct world_cluster {
	struct tf_cluster_world world;
	const char *dense_cluster; /* for TF_CONFIG */
	const char *coordinator_host;
	int coordinator_port;
	const char *peer_host; /* of another member; NULL: there is none */
};
int world_cluster_read(const struct world *world, const char *id, struct arena *arena,
		       struct world_cluster *cluster, struct err *err) MUST_USE;
