/* A network that nobody else is in: a network namespace (network_namespaces(7)) with a loopback
 * interface of its own and nothing besides. Who may not make one makes a user namespace with it
 * (user_namespaces(7)), in which user and group are what they are outside.
 *
 * The process that has it made (io/private_network_maker.h) stays outside; others enter it before
 * they begin their program. Root and the user that made it can enter, nobody else. */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <sys/types.h>

struct private_network {
	int user_fd; /* -1: it is of the user namespace that we are in */
	int net_fd; /* -1: that of everybody */
};

#define PRIVATE_NETWORK_NONE ((struct private_network){-1, -1})

void private_network_done(struct private_network *network);

/* Goes into it, for good; 0 or errno. For a process with one thread; may be called between vfork
 * and exec. */
int private_network_enter(const struct private_network *network);

/* Goes into the network of another process, for good; stays where that is our own. */
int private_network_join(pid_t pid, struct err *err) MUST_USE;
