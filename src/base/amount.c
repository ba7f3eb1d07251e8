#include "base/amount.h"

#include "base/mem.h"

#include <stddef.h>

char *amount_of_bytes(uint64_t bytes)
{
	static const char *const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
	double amount = (double) bytes / 1000;
	size_t unit = 0;

	if (bytes < 1000)
		return mem_format("%d bytes", (int) bytes);
	/* An amount that would be printed as 1000.0 is 1.0 of the next unit. */
	while (amount >= 999.95) {
		amount /= 1000;
		unit++;
	}
	return mem_format("%.1f %s", amount, units[unit]);
}
