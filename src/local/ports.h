/* Addresses of one job on this machine: ports that are claimed in the store. */
#pragma once

#include "base/err.h"
#include "base/mem.h"
#include "io/port.h"
#include "reconcile/plan.h"
#include "spec/job.h"
#include "spec/tf_cluster.h"
#include "store/store.h"

struct local_address {
	char *role;
	int index;
	int port;
	char *text; /* "127.0.0.1:20001" */
	bool is_published;
	bool was_used; /* its replica was started before */
};

struct local_ports {
	struct claims *claims; /* borrowed */
	bool are_private; /* in a private network */
	struct port_reservations reserved; /* against all other muster processes of this machine */
	struct local_address *addresses;
	size_t n_addresses;
	size_t capacity;
	int coordinator_port; /* 0: nothing is claimed */
};

/* Gives the replica its address. The first call claims a port for every replica of the job that has
 * none, and one where rank 0 meets the others; all or none. They stay over restarts. */
int local_ports_publish(struct local_ports *ports, const struct job *job, const char *role,
			int index, struct err *err) MUST_USE;
/* Withdraws it; with the last address all ports are released in the store. */
int local_ports_unpublish(struct local_ports *ports, const char *uid, const char *role, int index,
			  struct err *err) MUST_USE;
/* Releases all ports; no process may listen on them any longer. */
int local_ports_release(struct local_ports *ports, const char *uid, struct err *err);
void local_ports_done(struct local_ports *ports);

/* Tests the port of a replica that is about to restart. The replica keeps its port anyway, but a
 * program that has bound it meanwhile is reported. Returns the port, or 0 when it is free. */
int local_ports_find_taken(struct local_ports *ports, const char *role, int index);
void local_ports_observe(const struct local_ports *ports, struct arena *arena,
			 struct observed *observed);
/* The addresses of all replicas, for the environment of the job's processes; lives in the arena. */
struct tf_cluster local_ports_cluster(const struct local_ports *ports, const struct job *job,
				      struct arena *arena);
