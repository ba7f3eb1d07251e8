/* How many places of a limited number one tenant (a namespace) may have. A tenant whose work hangs
 * must leave some to the others, and with several such tenants, freed places go to others first. So
 * a tenant gets no place while it has 8 times as many as are free. Of 18 places one tenant gets 16,
 * and two get 17. Pure.
 *
 * Source: A. K. Choudhury and E. L. Hahne, "Dynamic Queue Length Thresholds for Shared-Memory
 * Packet Switches", 1998. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define FAIR_SHARE 8 /* times the free places */

/* Whether a tenant with `n_taken` places may take one of `n_free`. */
static inline bool fair_share_allows(size_t n_taken, size_t n_free)
{
	return n_taken < FAIR_SHARE * n_free;
}
