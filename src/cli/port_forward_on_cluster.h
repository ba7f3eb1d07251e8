/* Forwards ports of this machine into a job's Pod, for the program for clusters. */
#pragma once

#include "cli/port_arguments.h"
#include "command/options.h"

struct port_forward_call {
	const struct options *options; /* these select the cluster */
	const char *namespace_name;
	const char *job;
	bool is_tfjob; /* an operator manages it */
	const char *replica; /* "worker-0", in messages */
	const char *pod; /* its name in every attempt */
	const char *address; /* NULL: loopback */
	const struct port_arguments *ports;
};

/* Forwards until a signal comes or the job has finished, prints every error, and returns the exit
 * code. Each connection goes to the Pod that has the replica's name at that time, so a restart cuts
 * only the open connections. */
int port_forward_on_cluster(const struct port_forward_call *call);
