/* Chance that can be had again: the same seed gives the same numbers everywhere. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* splitmix64 (Steele, Lea, Flood 2014): one number of state, good for every seed. */
struct dice {
	uint64_t state;
};

int dice_below(struct dice *dice, int limit); /* 0 … limit - 1 */
bool dice_one_in(struct dice *dice, int chance);
