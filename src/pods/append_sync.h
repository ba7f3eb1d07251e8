/* A folder of a container whose files only grow, brought up to date here again and again: of each
 * file only what was added travels.
 *
 * That is what TensorBoard needs: it keeps event files open and reads on where it was, so that a
 * file which is replaced by a longer one, as a copy would do, does not grow for it. So bytes are
 * added to the files here, at once as they come. A connection that was lost is started again by
 * another kube_append_sync with the same folder, which goes on at the byte where the last one
 * ended.
 *
 * Only event files come (their names contain "tfevents"), and what lies in folders called
 * "plugins" (profiles, projections): a log folder may have gigabytes of checkpoints besides. A file
 * that became shorter comes anew. One that is changed in its middle, or gone, is not noticed. Links
 * are passed over. The container needs sh, find, stat or wc, tail and head. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "pods/exec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The folder here, which is there, empty, and nobody else's to write into; and what came into it.
 * Begin it with the path and the limit alone. */
struct append_sync_folder {
	const char *path;
	uint64_t bytes_left; /* that may still be written: a container could fill the disk */
	struct append_sync_file *files;
	size_t n_files, capacity;
};
void append_sync_folder_done(struct append_sync_folder *folder);

struct kube_append_sync_request {
	struct kube_container container;
	const char *there; /* the folder in the container */
	/* A round is over. `is_there`: the folder was. May ask for the next, not cancel. */
	void (*on_round)(bool is_there, void *data);
	/* The last call, once. `is_lost`: the container, or the way to it; a later try may succeed.
	 * Else it is no use: ERR_LIMIT, a hostile name, a full disk. */
	void (*on_end)(const struct err *err, bool is_lost, void *data);
	void *data;
};

struct kube_append_sync;

/* Begins, with a first round. The request, but for its callbacks, is needed only until this
 * returns, the folder until the end. */
struct kube_append_sync *kube_append_sync_new(struct kube_api *api,
					      const struct kube_append_sync_request *request,
					      struct append_sync_folder *folder) MUST_USE;
/* One more round; not while one goes on. */
void kube_append_sync_poll(struct kube_append_sync *sync);
/* Ends it without a callback; not from a callback. NULL is fine. */
void kube_append_sync_cancel(struct kube_append_sync *sync);
