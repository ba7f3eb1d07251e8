/* What both directions of a copy share. Part of pods/copy. */
#pragma once

#include "archive/archive.h"
#include "archive/unpacker.h"
#include "pods/copy.h"
#include "pods/script.h"

#include <stdbool.h>

/* A copy of more files is no training result but a mistake. */
#define COPY_FILES_LIMIT 10000000

struct kube_copy {
	void (*on_end)(const char *warnings, const struct err *err, void *data);
	void *data;
	struct kube_script *script; /* NULL: it ended */
	uint64_t bytes;
	struct err err; /* the first one, on this side */

	char *warnings; /* of the tar there, and of what was left out; NULL: none */

	/* From a container. */
	char *target; /* the place for it */
	char *stage; /* the folder beside that, where it lies until it is whole */
	bool must_have_files;
	struct unpacker *unpacker; /* NULL: it ended */
	bool is_folder; /* what the container sends */
	bool needs_folder; /* the place was written with a slash behind it, and is none yet */
	uint64_t n_files, file_bytes; /* that came */

	/* To a container. */
	char *here;
	struct archive_pack *pack; /* NULL: not started, or all was sent */
};

/* The last component of a path: what cp calls the copy. NULL where it has none ("/", ".", "a/.."):
 * the contents are meant. Caller frees. */
char *copy_base(const char *path) MUST_USE;
void copy_add_warning(struct kube_copy *copy, const char *warning);
void copy_warn_of_left_out(struct kube_copy *copy, const struct archive_left_out *left_out);
const char *copy_warnings(const struct kube_copy *copy); /* "" for none */
void copy_free(struct kube_copy *copy);
