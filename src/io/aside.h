/* Sets aside what is written to standard error for a while, to be shown later or forgotten: a
 * library's chatter, which is worth reading only when it fails. */
#pragma once

#include "base/err.h"
#include "base/own.h"

struct aside {
	int memory_fd; /* what was written; seen by processes forked after aside_open */
	int error_fd; /* the real standard error while it is set aside; else -1 */
};

int aside_open(struct aside *ret_aside, struct err *err) MUST_USE;
/* From here to aside_end standard error goes aside. Does nothing where that fails. */
void aside_begin(struct aside *aside);
void aside_end(struct aside *aside);
/* Writes what was set aside to standard error. */
void aside_show(const struct aside *aside);
