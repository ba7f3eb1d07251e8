/* Writes text to a descriptor that must never block us: a pipe or terminal whose reader is slow,
 * stuck or has exited, a socket, or a file.
 *
 * The descriptor's own flags stay unchanged, because other processes share them: a pipe or terminal
 * is opened again through /proc/self/fd, non-blocking, for us alone. From then on SIGPIPE is
 * ignored. */
#pragma once

#include "base/text.h"
#include "io/loop.h"

struct sink;

/* Writes to `fd`, which stays the caller's. `on_change` (may be NULL) is called from the loop when
 * waiting text was written, when the reader has closed it, and when the disk is full. */
struct sink *sink_new(struct loop *loop, int fd, loop_fn on_change, void *data) MUST_USE;
void sink_free(struct sink *sink); /* waiting text is dropped; NULL is fine */

/* The text to append to. Borrowed. */
struct text *sink_text(struct sink *sink);
/* Writes what the descriptor accepts now; the loop writes the rest. */
void sink_flush(struct sink *sink);
/* Some text was not accepted yet: add no more until on_change, or memory grows. */
bool sink_is_waiting(const struct sink *sink);
/* The reader has closed it, or writing failed: from now on everything is dropped. */
bool sink_is_gone(const struct sink *sink);
/* errno of the failure; 0, or EPIPE for a closed reader. */
int sink_failure(const struct sink *sink);

/* Whether both descriptors are of the same file, terminal or pipe. */
bool sink_is_same(int fd, int other_fd);
