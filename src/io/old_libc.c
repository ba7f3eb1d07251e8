/* A function that glibc has since 2.36 and that libevent of Debian 12 needs. With it, muster also
 * runs on an older glibc: in images of Ubuntu 22.04, such as TensorFlow's. Only the program of
 * `make server-image` has this file. */
#include <stddef.h>
#include <stdint.h>
#include <sys/random.h>
#include <sys/types.h>

/* Under glibc's names, whether its headers declare them or not. */
void old_libc_fill(void *bytes, size_t len) __asm__("arc4random_buf");
uint32_t old_libc_number(void) __asm__("arc4random");

void old_libc_fill(void *bytes, size_t len)
{
	char *next = bytes;

	while (len > 0) {
		ssize_t got = getrandom(next, len, 0);

		/* Interrupted by a signal, the only possible error (getrandom(2)). */
		if (got < 0)
			continue;
		next += got;
		len -= (size_t) got;
	}
}

uint32_t old_libc_number(void)
{
	uint32_t number;

	old_libc_fill(&number, sizeof(number));
	return number;
}
