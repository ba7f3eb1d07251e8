/* A function that glibc has since 2.36 and that libevent of Debian 12 needs. With it, muster also
 * runs on an older glibc: in images of Ubuntu 22.04, such as TensorFlow's. Only the program of
 * `make server-image` has this file. */
#include "io/random.h"

#include <stddef.h>
#include <stdint.h>

/* Under glibc's names, whether its headers declare them or not. */
void old_libc_fill(void *bytes, size_t len) __asm__("arc4random_buf");
uint32_t old_libc_number(void) __asm__("arc4random");

void old_libc_fill(void *bytes, size_t len)
{
	random_bytes(bytes, len);
}

uint32_t old_libc_number(void)
{
	uint32_t number;

	old_libc_fill(&number, sizeof(number));
	return number;
}
