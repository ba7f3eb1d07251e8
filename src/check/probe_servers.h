/* The servers given to a probe: whether they can be reached, and which tasks they are. Only for the
 * files of check/probe*. */
#pragma once

#include "base/own.h"
#include "check/probe_event.h"

struct probe_server {
	const struct check_server *at;
	char *job; /* of its task; NULL: not reported yet */
	char *error; /* a sentence; NULL: none so far */
	const char *code; /* TensorFlow's code of the error */
};

struct probe_servers {
	struct probe_server *servers;
	size_t count;
};

void probe_servers_init(struct probe_servers *servers, const struct probe_request *request);
void probe_servers_done(struct probe_servers *servers);

/* Tests whether their ports open. Forks, so TensorFlow must not have been loaded. */
int probe_servers_reach(struct probe_servers *servers, msec timeout, struct err *err) MUST_USE;
/* Asks the reachable servers for their own task. */
void probe_servers_ask(struct probe_servers *servers, const struct probe_request *request,
		       const struct library *library);
/* The first server that answered; NULL: none. */
const struct probe_server *probe_servers_first(const struct probe_servers *servers);
