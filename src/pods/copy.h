/* Copies files and directories between a container and this machine, as tar streams through a shell
 * and a tar program of the container.
 *
 * The destination follows the rules of cp -r: into an existing directory, under the source's name;
 * else the given name. A source that ends in "/." means its contents. A link at the end of the
 * source is followed, links below it are copied as links. Until the copy is complete, it is next to
 * its destination, or hidden in an existing directory, so that no partial copy is ever visible. If
 * a directory of the name exists, the new files are moved into it, and its own attributes stay. */
#pragma once

#include "base/err.h"
#include "pods/exec.h"

#include <stdbool.h>
#include <stdint.h>

struct kube_copy;

struct kube_copy_request {
	struct kube_container container;
	const char *there; /* in the container; a relative path starts at its working directory */
	const char *here; /* path on this machine */
	/* From a container: a directory without any file is an error, ERR_CONFLICT. */
	bool must_have_files;
	/* The last call, once; the copy is freed after it. With `err` NULL all was copied except
	 * what `warnings` names, "" for nothing: tar's messages about a file that changed or cannot
	 * be read, and what archive/archive.h omits. With an error nothing was changed:
	 * ERR_NOT_FOUND; ERR_EXISTS (a directory in place of a file, or the other way round);
	 * ERR_UNSUPPORTED (no tar in the container); ERR_REFUSED, ERR_INVALID, ERR_LIMIT, ERR_SPACE
	 * as archive/archive.h; ERR_UNREACHABLE. */
	void (*on_end)(const char *warnings, const struct err *err, void *data);
	void *data;
};

/* Immediate errors are returned, and then `on_end` is not called. The request is needed only until
 * this returns. From a container: forks, so call it before there are calls if possible. */
int kube_copy_from(struct kube_api *api, const struct kube_copy_request *request,
		   struct kube_copy **ret_copy, struct err *err) MUST_USE;
int kube_copy_to(struct kube_api *api, const struct kube_copy_request *request,
		 struct kube_copy **ret_copy, struct err *err) MUST_USE;
/* Cancels it without a callback, and deletes a partial copy here; not from `on_end`. NULL: none. */
void kube_copy_cancel(struct kube_copy *copy);
/* Bytes of the stream so far. */
uint64_t kube_copy_bytes(const struct kube_copy *copy);

/* Describes a successful copy from a container, for `on_end`: "12 files, 3.4 MB, to models". Caller
 * frees. */
char *kube_copy_describe(const struct kube_copy *copy) MUST_USE;
