/* Ports of this machine that lead into a job's Pod, for the program that speaks to clusters. */
#pragma once

#include "cli/port_arguments.h"
#include "command/options.h"

struct port_forward_call {
	const struct options *options; /* which choose the cluster */
	const char *namespace_name;
	const char *job;
	bool is_tfjob; /* that an operator serves */
	const char *replica; /* "worker-0", as people read it */
	const char *pod; /* its name in every attempt */
	const char *address; /* NULL: loopback */
	const struct port_arguments *ports;
};

/* Forwards until a signal ends it or the job has ended, tells every mistake, and gives the exit
 * code. Each connection finds the Pod that has the replica's name then, so that a restart cuts what
 * is open and nothing else. */
int port_forward_on_cluster(const struct port_forward_call *call);
