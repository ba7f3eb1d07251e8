/* Files and folders between a container and this machine, as tar streams through a shell and a tar
 * program that the container has to have.
 *
 * Where a copy goes follows the rules of cp -r: into a folder that is there, under its own name;
 * else it gets the name that was given. Of a source that ends in "/." the contents are meant. A
 * link at the end of the source is followed, links below it are copied as links. What is copied
 * lies beside its place, or hidden in a folder that is there, until it has come as a whole, so that
 * nothing half is ever found; of two folders of one name the files of the new one go into the old
 * one, which itself stays as it is. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "io/loop.h"
#include "pods/exec.h"

#include <stdbool.h>
#include <stdint.h>

struct kube_copy;

struct kube_copy_request {
	struct loop *loop;
	struct kube_container container;
	const char *there; /* path in the container; a relative one begins at its working folder */
	const char *here; /* path on this machine */
	/* From a container: a folder without any file is an error, ERR_CONFLICT. */
	bool must_have_files;
	/* The last call, once; the copy is gone after it. With `err` NULL all is there but for what
	 * `warnings` says, "" for nothing: what tar said of a file that changed or cannot be read,
	 * and what archive/archive.h leaves out. Else nothing was changed: ERR_NOT_FOUND;
	 * ERR_EXISTS (a folder where a file should go, or the other way round); ERR_UNSUPPORTED (no
	 * tar in the container); ERR_REFUSED, ERR_INVALID, ERR_LIMIT, ERR_SPACE as
	 * archive/archive.h; ERR_UNREACHABLE. */
	void (*on_end)(const char *warnings, const struct err *err, void *data);
	void *data;
};

/* Errors that show at once are told at once, and `on_end` is not called then. The request is needed
 * only until this returns. From a container: forks, best before there are calls. */
int kube_copy_from(struct kube_api *api, const struct kube_copy_request *request,
		   struct kube_copy **ret_copy, struct err *err) MUST_USE;
int kube_copy_to(struct kube_api *api, const struct kube_copy_request *request,
		 struct kube_copy **ret_copy, struct err *err) MUST_USE;
/* Ends it without a callback, and takes away what lies here; not from `on_end`. NULL is fine. */
void kube_copy_cancel(struct kube_copy *copy);
/* Of the stream, until now. */
uint64_t kube_copy_bytes(const struct kube_copy *copy);

/* What came, for `on_end` of a copy from a container that went well: "12 files, 3.4 MB, to
 * models". Caller frees. */
char *kube_copy_describe(const struct kube_copy *copy) MUST_USE;
