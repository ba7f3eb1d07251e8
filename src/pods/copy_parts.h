/* Shared by both directions of a copy. Part of pods/copy. */
#pragma once

#include "archive/archive.h"
#include "archive/unpacker.h"
#include "pods/copy.h"
#include "pods/script.h"

#include <stdbool.h>

/* A copy of more files is no training result but an error. */
#define COPY_FILES_LIMIT 10000000

struct kube_copy {
	void (*on_end)(const char *warnings, const struct err *err, void *data);
	void *data;
	struct kube_script *script; /* NULL: it has ended */
	uint64_t bytes;
	struct err err; /* the first one, on this machine */

	char *warnings; /* of the container's tar, and about omitted files; NULL: none */

	/* From a container. */
	char *target; /* the destination */
	char *stage; /* the temporary directory next to it, for the incomplete copy */
	bool must_have_files;
	struct unpacker *unpacker; /* NULL: it has ended */
	bool is_folder; /* what the container sends */
	bool needs_folder; /* the destination ends with a slash, and does not exist yet */
	uint64_t n_files, file_bytes; /* received */

	/* To a container. */
	char *here;
	struct archive_pack *pack; /* NULL: not started, or all was sent */
};

/* The last component of a path: the name of the copy in cp. NULL if it has none ("/", ".", "a/.."):
 * the contents are meant. Caller frees. */
char *copy_base(const char *path) MUST_USE;
void copy_add_warning(struct kube_copy *copy, const char *warning);
void copy_warn_of_left_out(struct kube_copy *copy, const struct archive_left_out *left_out);
const char *copy_warnings(const struct kube_copy *copy); /* "" for none */
void copy_free(struct kube_copy *copy);
