/* The module muster-archive.so: all of archive/archive.h that needs libarchive, behind one symbol.
 *
 * libarchive depends on libxml2 and ICU, 30 MB that most commands never need. So only this module
 * links it, and archive/open.c opens the module on first use. */
#pragma once

#include "archive/archive.h"

#define ARCHIVE_MODULE "muster-archive.so"
#define ARCHIVE_MODULE_SYMBOL "muster_archive_functions"

struct archive_functions {
	int (*pack_new)(const char *path, const char *name, enum archive_format format,
			const struct archive_limits *limits, struct archive_pack **ret_pack,
			struct err *err);
	void (*pack_only)(struct archive_pack *pack, bool (*wants)(const char *path, void *data),
			  void *data);
	void (*pack_end_with)(struct archive_pack *pack, const char *name);
	int (*pack_next)(struct archive_pack *pack, const char **ret_bytes, size_t *ret_len,
			 struct err *err);
	const struct archive_left_out *(*pack_left_out)(const struct archive_pack *pack);
	void (*pack_free)(struct archive_pack *pack);
	int (*unpack)(archive_source_fn source, void *data, const char *folder,
		      const struct archive_limits *limits, struct archive_left_out *ret_left_out,
		      struct err *err);
};
