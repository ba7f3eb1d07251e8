/* A folder of this machine, packed to travel with a job: a tar stream compressed by gzip.
 *
 * What .gitignore names stays here: in a git checkout `git ls-files` says which files there are,
 * tracked ones and new ones. Any other folder travels whole, but for .git. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "base/text.h"

#define SYNC_FOLDER_LIMIT ((uint64_t) 64 * 1000 * 1000) /* bytes of its files */
/* Bytes packed: it is kept in etcd, in ConfigMaps, once for the job. */
#define SYNC_PACKED_LIMIT ((size_t) 8 * 1000 * 1000)

/* Adds the packed folder. `script` is a file in it, by its path below it, without which nothing can
 * run; NULL: none. ERR_LIMIT says what in the folder is the largest; ERR_INVALID: it has a
 * .gitignore that nobody can read without git, or one that leaves the script out; ERR_IO. */
typedef int (*sync_folder_pack_fn)(const char *path, const char *script, struct text *packed,
				   struct err *err);
int sync_folder_pack(const char *path, const char *script, struct text *packed,
		     struct err *err) MUST_USE;
