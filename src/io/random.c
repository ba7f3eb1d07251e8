#include "io/random.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

void random_bytes(void *bytes, size_t len)
{
	if (getentropy(bytes, len) < 0)
		mem_abort(); /* a kernel older than 3.17 */
}

double random_fraction(void)
{
	uint32_t number;

	random_bytes(&number, sizeof(number));
	return (double) number / UINT32_MAX;
}

char *random_token(void)
{
	uint8_t bytes[32];
	char *text = mem_new(2 * sizeof(bytes) + 1);

	random_bytes(bytes, sizeof(bytes));
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
	explicit_bzero(bytes, sizeof(bytes));
	return text;
}
