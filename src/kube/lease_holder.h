/* The text by which a Lease names its holder: a process of a machine, so that whoever looks from
 * that machine knows at once whether it is still there.
 *
 *     HOST_PID_START_SPACE_BOOT_RANDOM, as in laptop_4711_88122_4026531836_6c5e…-…_9f03a1c2
 *
 * START, SPACE and BOOT are those of io/process.h. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "core/lease.h"

#include <stdbool.h>
#include <sys/types.h>

/* Of the calling process; another one with each call. Caller frees. */
int lease_holder_new(char **ret_text, struct err *err) MUST_USE;
/* Its process was one of this machine, as this process sees it, and is no more; or is. What cannot
 * be judged from here (another machine, another container), or stands still, is unknown. */
enum lease_fate lease_holder_fate(const char *text);
/* "muster on laptop (process 4711)"; of what is none of ours the text itself, without characters
 * that a terminal would obey. Caller frees. */
char *lease_holder_describe(const char *text) MUST_USE;
