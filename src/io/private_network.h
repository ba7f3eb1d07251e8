/* A private network: a network namespace (network_namespaces(7)) with only a loopback interface. A
 * user who may not create one creates a user namespace with it (user_namespaces(7)), in which user
 * and group have the same ids as outside.
 *
 * The creating process (io/private_network_maker.c) stays outside; children enter it before they
 * execute their program. Only root and the user that created it can enter. */
#pragma once

#include "base/err.h"

#include <sys/types.h>

struct private_network {
	int user_fd; /* -1: it is in our own user namespace */
	int net_fd; /* -1: the machine's network */
};

#define PRIVATE_NETWORK_NONE ((struct private_network){-1, -1})

void private_network_done(struct private_network *network);

/* Opens the network of another process, except what is our own; 0 or errno. */
int private_network_open(pid_t pid, struct private_network *network) MUST_USE;

/* Enters it for good; 0 or errno. For a process with one thread; may be called between vfork and
 * exec. */
int private_network_enter(const struct private_network *network);

/* Enters the network of another process for good; does nothing if that is our own. */
int private_network_join(pid_t pid, struct err *err) MUST_USE;

/* Creates one. ERR_REFUSED if this is not permitted; the sentence says why, and what to do. The
 * network exists as long as it is open or a process is in it. */
int private_network_create(struct private_network *ret_network, struct err *err) MUST_USE;
