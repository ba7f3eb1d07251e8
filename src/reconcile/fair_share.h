/* How many places of a limited number one tenant (a namespace) may have, so that one whose work
 * hangs leaves some to the others, and what ends of several that hang goes to others first: nobody
 * takes one who has 8 times as many as are free. Of 18 places one tenant has 16, and two have 17.
 * Pure.
 *
 * Source: A. K. Choudhury and E. L. Hahne, "Dynamic Queue Length Thresholds for Shared-Memory
 * Packet Switches", 1998. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define FAIR_SHARE 8 /* times what is free */

/* Whether one who has `n_taken` may take one of `n_free`. */
static inline bool fair_share_allows(size_t n_taken, size_t n_free)
{
	return n_taken < FAIR_SHARE * n_free;
}
