/* The servers that a probe was given: can they be reached, and which tasks are they. For the files
 * of check/probe* alone. */
#pragma once

#include "base/own.h"
#include "check/probe_event.h"

struct probe_server {
	const struct check_server *at;
	char *job; /* of the task it is; NULL: it has not said yet */
	char *error; /* a sentence; NULL: none so far */
	const char *code; /* TensorFlow's word for the error */
};

struct probe_servers {
	struct probe_server *servers;
	size_t count;
};

void probe_servers_init(struct probe_servers *servers, const struct probe_request *request);
void probe_servers_done(struct probe_servers *servers);

/* Tries whether their ports open. Forks: TensorFlow must not have been loaded. */
int probe_servers_reach(struct probe_servers *servers, msec timeout, struct err *err) MUST_USE;
/* Asks those that were reached for their own task. */
void probe_servers_ask(struct probe_servers *servers, const struct probe_request *request,
		       const struct library *library);
/* The first that answered; NULL: none did. */
const struct probe_server *probe_servers_first(const struct probe_servers *servers);
