/* A line on the terminal that says how far a long copy is: bytes, and how many a second. Without a
 * terminal on standard error it shows nothing. */
#pragma once

#include "base/own.h"
#include "io/loop.h"

#include <stdint.h>

struct copy_progress;

/* `count_bytes` tells how many there are until now. */
struct copy_progress *copy_progress_new(struct loop *loop, uint64_t (*count_bytes)(void *data),
					void *data) MUST_USE;
/* Takes the line away; NULL is fine. */
void copy_progress_end(struct copy_progress *progress);
void copy_progress_free(struct copy_progress *progress); /* NULL is fine */
