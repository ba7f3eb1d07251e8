/* Packs a directory of this machine for the Pods of a job: a tar stream compressed by gzip.
 *
 * Files that .gitignore names are excluded: in a git checkout, `git ls-files` lists the files,
 * tracked and new ones. Any other directory is packed whole, except .git. */
#pragma once

#include "base/text.h"

#define SYNC_FOLDER_LIMIT ((uint64_t) 64 * 1000 * 1000) /* bytes of its files */
/* Bytes packed: etcd stores them, in ConfigMaps, once for the job. */
#define SYNC_PACKED_LIMIT ((size_t) 8 * 1000 * 1000)

/* Adds the packed directory. `script`, a path in it, has to be among the files; NULL: none.
 * ERR_LIMIT names its largest files. ERR_INVALID: its .gitignore cannot be read without git, or
 * excludes the script. ERR_IO. */
typedef int (*sync_folder_pack_fn)(const char *path, const char *script, struct text *packed,
				   struct err *err);
int sync_folder_pack(const char *path, const char *script, struct text *packed,
		     struct err *err) MUST_USE;
