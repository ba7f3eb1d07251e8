/* The agent of an elastic job: a local back end whose processes are one machine's part of a world.
 *
 * Each machine has its own job with its number of workers, and this is the back end of that job. It
 * reports what it observes to the elastic job's server. The server's orders become observed->world,
 * which reconcile/elastic.c follows. rendezvous/member.h connects the two. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "http/asker.h"
#include "http/listening.h"
#include "io/loop.h"
#include "jobs/backend.h"
#include "rendezvous/json.h"
#include "spec/tf_cluster.h"
#include "store/store.h"

/* The user's options. */
struct agent_request {
	const char *job_id; /* the same on all machines */
	struct member_terms terms;
	int node_rank; /* as in RENDEZVOUS_JOIN */
	const char *role_name; /* ROLE_NAME of its processes */
	bool has_virtual_local_rank; /* as in struct tf_cluster_world, as is `machine` */
	const struct tf_cluster_machine *machine;
	/* MASTER_ADDR and MASTER_PORT of its processes in every generation, as the user gave them;
	 * NULL and 0: rank 0's machine chooses them. */
	const char *master_host;
	int master_port;
	msec patience; /* with a server that cannot be reached at the beginning */
	const char *host; /* of the server, a name or an address without brackets */
	int port;
	http_asker_new_fn new_asker; /* client with or without TLS */
	const char *token; /* of its callers, also if we are the server; NULL: none */
	const char *token_advice; /* for a server with another one, a sentence */
	const char *pin, *pin_advice; /* as in struct http_asker_settings */
	const char *own_address; /* this machine's address; NULL: the one toward the server */
	int own_port; /* of the only process, in every generation; 0: ports take turns */
	/* If its fd is 0 or more, we are the server on it; else another process is. If that never
	 * answers and `serves_at` (an address of this machine) is not NULL, we replace it. */
	const struct listening *listening;
	const char *serves_at;
	msec lease; /* if we are the server */
	const struct http_tls *tls; /* likewise; NULL: none. Must outlive the agent. */
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
/* For backend_local_settings; `data` is the agent. */
void agent_join_world(struct tf_cluster *cluster, struct arena *arena, void *data);
/* Returns the job's back end. It owns the local one and the agent: both end with it. */
struct backend *agent_accept(struct agent *agent, struct backend *take_processes) MUST_USE;
