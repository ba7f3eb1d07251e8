#include "io/random.h"

#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/types.h>

void random_bytes(void *bytes, size_t len)
{
	char *next = bytes;

	while (len > 0) {
		ssize_t got = getrandom(next, len, 0);

		if (got < 0 && errno != EINTR)
			mem_abort(); /* a kernel older than 3.17 */
		next += got > 0 ? got : 0;
		len -= got > 0 ? (size_t) got : 0;
	}
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
