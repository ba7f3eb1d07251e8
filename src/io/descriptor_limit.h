/* How many descriptors this process may have open (RLIMIT_NOFILE).
 *
 * The soft limit is 1024 nearly everywhere, because select(2) knows no more; the hard one is what
 * the administrator allows. A program that does not use select may raise the one to the other, and
 * gives the programs that it starts the limit back that it found (systemd does the same). */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <stddef.h>
#include <sys/resource.h>

/* Raises the soft limit to the hard one; *ret_before is what it was. ERR_LIMIT, and nothing raised,
 * when even that is less than `n_needed`. */
int descriptor_limit_raise(size_t n_needed, rlim_t *ret_before, struct err *err) MUST_USE;

/* The same, as far as it goes: what cannot be opened later says so. */
void descriptor_limit_raise_to_most(void);

/* Sets the soft limit. Safe between vfork and exec. */
void descriptor_limit_set(rlim_t soft);
