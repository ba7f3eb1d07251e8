/* What glibc has since 2.36 and libevent of Debian 12 asks it for, for a muster that shall also run
 * where glibc is older: in images of Ubuntu 22.04, which TensorFlow's own are. Only the program of
 * `make server-image` has this file. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

/* glibc's own declarations, where its headers have them, are the same. */
uint32_t arc4random(void);
void arc4random_buf(void *bytes, size_t len);

void arc4random_buf(void *bytes, size_t len)
{
	char *next = bytes;

	while (len > 0) {
		ssize_t got = getrandom(next, len, 0);

		/* Interrupted by a signal: nothing else stands in the way (getrandom(2)). */
		if (got < 0)
			continue;
		next += got;
		len -= (size_t) got;
	}
}

uint32_t arc4random(void)
{
	uint32_t number;

	arc4random_buf(&number, sizeof(number));
	return number;
}
