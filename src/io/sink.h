/* Text on its way to a descriptor that must never hold us up: a pipe or terminal whose reader is
 * slow, stuck or gone, a socket, or a file.
 *
 * The descriptor's own flags are left alone, because other processes share them: a pipe or terminal
 * is opened once more through /proc/self/fd, non-blocking, for us alone. SIGPIPE is ignored from
 * then on. */
#pragma once

#include "base/own.h"
#include "base/text.h"
#include "io/loop.h"

#include <stdbool.h>

struct sink;

/* Writes to `fd`, which stays the caller's. `on_change` (may be NULL) is called from the loop when
 * what waited is written, and when the reader is found to be gone or the disk to be full. */
struct sink *sink_new(struct loop *loop, int fd, loop_fn on_change, void *data) MUST_USE;
void sink_free(struct sink *sink); /* what waits is dropped; NULL is fine */

/* Where to add what is to be written. Borrowed. */
struct text *sink_text(struct sink *sink);
/* Writes what the descriptor takes now; the rest follows from the loop. */
void sink_flush(struct sink *sink);
/* Something was not taken so far: add no more until on_change, or the memory grows. */
bool sink_is_waiting(const struct sink *sink);
/* The reader is gone, or writing failed: everything is dropped from now on. */
bool sink_is_gone(const struct sink *sink);
/* errno of what ended it; 0, or EPIPE for a reader that is gone. */
int sink_failure(const struct sink *sink);

/* Both descriptors lead to the same file, terminal or pipe. */
bool sink_is_same(int fd, int other_fd);
