/* Copies a directory of a container whose files only grow, incrementally: each round copies only
 * the bytes that were added to a file.
 *
 * TensorBoard needs this: it keeps event files open and continues reading at the last byte. A file
 * that is replaced by a longer one, as a copy would do, does not grow for it. So bytes are appended
 * to the local files as soon as they arrive. After a lost connection, another kube_append_sync with
 * the same directory continues at the last byte.
 *
 * Only event files are copied (their names contain "tfevents"), and files in directories called
 * "plugins" (profiles, projections), because a log directory may also have gigabytes of
 * checkpoints. A file that became shorter is copied again. A change in a file's middle, or its
 * deletion, is not noticed. Links are ignored. It needs sh, find, stat or wc, tail, head. */
#pragma once

#include "base/err.h"
#include "pods/exec.h"

#include <stdbool.h>
#include <stdint.h>

/* The directory on this machine, which must exist, be empty and not be writable by others; and the
 * files copied into it. Initialize it with path and bytes_left alone. */
struct append_sync_folder {
	const char *path;
	uint64_t bytes_left; /* to write: otherwise a container could fill the disk */
	struct append_sync_file *files;
	size_t n_files, capacity;
};
void append_sync_folder_done(struct append_sync_folder *folder);

struct kube_append_sync_request {
	struct kube_container container;
	const char *there; /* the directory in the container */
	/* A round is over. `is_there`: the directory exists. May start the next, but not cancel. */
	void (*on_round)(bool is_there, void *data);
	/* The last call, once. `is_lost`: the connection or the container was lost; a later try may
	 * succeed. Otherwise it would fail again: ERR_LIMIT, a hostile name, a full disk. */
	void (*on_end)(const struct err *err, bool is_lost, void *data);
	void *data;
};

struct kube_append_sync;

/* Starts with a first round. The request, except its callbacks, is needed only until this returns,
 * the directory until the end. */
struct kube_append_sync *kube_append_sync_new(struct kube_api *api,
					      const struct kube_append_sync_request *request,
					      struct append_sync_folder *folder) MUST_USE;
/* Starts another round; not during a round. */
void kube_append_sync_poll(struct kube_append_sync *sync);
/* Cancels it without a callback; not from a callback. NULL is fine. */
void kube_append_sync_cancel(struct kube_append_sync *sync);
