/* Functions of a later glibc than the one that script/portable builds for. */
#pragma once

#define CLOSE_RANGE_CLOEXEC 4

int close_range(unsigned int first, unsigned int last, int flags); /* glibc 2.34 */
