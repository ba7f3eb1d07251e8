/* The limit of open descriptors of this process (RLIMIT_NOFILE).
 *
 * The soft limit is 1024 nearly everywhere, because select(2) handles no more; the administrator
 * sets the hard limit. A program that does not use select may raise its soft limit to the hard one.
 * It gives its child programs the original limit (as systemd does). */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <stddef.h>
#include <sys/resource.h>

/* Raises the soft limit to the hard one; *ret_before is the previous soft limit. ERR_LIMIT, and
 * nothing is raised, when the hard limit is less than `n_needed`. */
int descriptor_limit_raise(size_t n_needed, rlim_t *ret_before, struct err *err) MUST_USE;

/* The same without an error: a descriptor that cannot be opened later gives its own error. */
void descriptor_limit_raise_to_most(void);

/* How many connections a server of this process can have, `wanted` at most: some descriptors of the
 * soft limit remain for its files, and for connections of its own. */
size_t descriptor_limit_connections(size_t wanted);

/* Sets the soft limit. Safe between vfork and exec. */
void descriptor_limit_set(rlim_t soft);
