#include "sim/dice.h"

static uint64_t roll(struct dice *dice)
{
	uint64_t z = (dice->state += 0x9e3779b97f4a7c15U);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
	return z ^ (z >> 31);
}

int dice_below(struct dice *dice, int limit)
{
	return (int) (roll(dice) % (uint64_t) limit);
}

bool dice_one_in(struct dice *dice, int chance)
{
	return dice_below(dice, chance) == 0;
}
