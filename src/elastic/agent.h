/* An agent of an elastic job: a local back end whose processes are one machine's part of a world.
 *
 * It is the back end of a job of its own, with so many workers as the machine runs. What it
 * observes of them goes to the job's server, and what the server orders is observed->world, which
 * reconcile/elastic.c follows: rendezvous/member.h between the two. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "http/asker.h"
#include "http/listening.h"
#include "io/loop.h"
#include "jobs/backend.h"
#include "rendezvous/member_wire.h"
#include "spec/tf_cluster.h"
#include "store/claims.h"

/* What a person asks for. */
struct agent_request {
	const char *job_id; /* of all machines */
	struct member_terms terms;
	int node_rank; /* as of RENDEZVOUS_JOIN */
	const char *role_name; /* ROLE_NAME of its processes */
	const char *host; /* of the server, a name or an address without brackets */
	int port;
	http_asker_new_fn new_asker; /* how it is asked: with TLS or without */
	const char *token; /* that its callers give, also where we are the server; NULL: none */
	const char *pin, *pin_advice; /* as in struct http_asker_settings */
	const char *own_address; /* by which other machines reach this one; NULL: the one towards
				    the server */
	int own_port; /* of the only process, in every generation; 0: ports take turns */
	/* We are the server: another process is there if its fd is below 0. Should that never
	 * answer, and `serves_at` (an address of this machine) is not NULL, we take its place. */
	const struct listening *listening;
	const char *serves_at;
	msec lease; /* where we are the server */
	const struct http_tls *tls; /* the same; NULL: none. It outlives the agent. */
	const char *server_folder; /* as in struct orchestrator_settings */
};

struct agent_settings {
	const struct agent_request *request;
	struct loop *loop;
	struct claims *claims; /* on ports */
	backend_news_fn on_news;
	void (*on_trouble)(const char *sentence, void *data);
	void *data;
};

struct agent;

int agent_new(const struct agent_settings *settings, struct agent **ret_agent,
	      struct err *err) MUST_USE;
/* For backend_local_settings: of the agent. */
void agent_join_world(struct tf_cluster *cluster, struct arena *arena, void *data);
/* The back end that the job has. It owns the local one, and the agent: both end with it. */
struct backend *agent_accept(struct agent *agent, struct backend *take_processes) MUST_USE;
void agent_free(struct agent *agent); /* one that was not taken; NULL is fine */
