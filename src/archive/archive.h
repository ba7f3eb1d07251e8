/* Packs directories into tar streams and unpacks tar streams.
 *
 * libarchive depends on libxml2 and ICU, 30 MB that most commands never need. So only the module
 * muster-archive.so links it, and archive/open.c opens that module on first use.
 *
 * Packing proceeds in steps, whenever its reader has room. Unpacking blocks until its bytes arrive,
 * as libarchive does: a program with a loop unpacks in a separate process, from a pipe.
 *
 * Streams are not trusted. Nothing in a stream can create, change or point to anything outside of
 * the target directory. */
#pragma once

#include "base/err.h"
#include "base/own.h"

struct archive_limits {
	uint64_t n_entries;
	uint64_t bytes; /* of the files' sizes, including holes; and of the stream */
};

#define ARCHIVE_LEFT_OUT_SIZE 1000

/* The omitted entries, in a sentence: "'pipe' (not a file, directory or link), 'latest' (a link to
 * '/models/7', which is outside the directory) and 3 more"; "" for none. */
struct archive_left_out {
	uint64_t count, n_told; /* entries named in the text */
	char text[ARCHIVE_LEFT_OUT_SIZE];
};

/* A file or directory being packed. */
struct archive_pack;

enum archive_format {
	ARCHIVE_PAX, /* POSIX.1-2001: sub-second times */
	ARCHIVE_GNU, /* for readers that ignore pax headers, such as busybox's tar */
	ARCHIVE_GNU_GZIP, /* the same, compressed; equal files give equal bytes */
};

/* What to pack: what is at `path`. A link there is followed; a link below it is packed as a link.
 * Bytes, modes and times are exact. Owners are not packed, so that files belong to the unpacking
 * user. Sockets, pipes and devices are omitted. Texts are borrowed. */
struct archive_packing {
	const char *path;
	/* In the stream it is called this, and its contents `name`/…, sorted, with each directory
	 * after its contents, so that any tar sets its time last. With the name "." only the
	 * contents are packed: the target directory may belong to another user, and a tar that has
	 * to set its time or mode fails. */
	const char *name;
	enum archive_format format;
	struct archive_limits limits;
	/* False for a path, relative to the root, that is omitted with all below it; NULL:
	 * everything is packed. */
	bool (*wants)(const char *path, void *data);
	void *data;
	/* An empty file of this name is added at the end; NULL: none. The unpacking side can thus
	 * recognize a complete stream, which no tar program reports. */
	const char *last_name;
};

/* Blocks for the next bytes, valid until the next call; *ret_len is 0 at the end. Returns 0, or an
 * error, which ends the unpacking. */
typedef int (*archive_source_fn)(const char **ret_bytes, size_t *ret_len, void *data,
				 struct err *err);

struct archive_functions {
	/* ERR_NOT_FOUND or ERR_IO. */
	int (*pack_new)(const struct archive_packing *packing, struct archive_pack **ret_pack,
			struct err *err);
	/* The next bytes of the stream, valid until the next call; length 0 at its end. Returns
	 * ERR_IO if a file cannot be read, ERR_CONFLICT if a file became shorter meanwhile, or
	 * ERR_LIMIT. */
	int (*pack_next)(struct archive_pack *pack, const char **ret_bytes, size_t *ret_len,
			 struct err *err);
	/* Complete at the end of the stream; lives as long as the pack. */
	const struct archive_left_out *(*pack_left_out)(const struct archive_pack *pack);
	void (*pack_free)(struct archive_pack *pack); /* NULL is fine */

	/* Unpacks an uncompressed tar stream into an existing directory; the stream is read to its
	 * end. Existing files are replaced, never written into; links are not followed. Modes
	 * (without set-user-ID, set-group-ID and sticky) and times are the stream's, owners are
	 * not.
	 *
	 * Entries that directories may legitimately have, but that could reach outside, are omitted
	 * and reported: links to places outside, pipes, sockets and devices. Returns ERR_REFUSED
	 * for a name outside, or an entry that no tar program writes for a directory; ERR_INVALID
	 * if it is no tar stream, or is cut off within a file; ERR_LIMIT; ERR_IO, ERR_SPACE. Files
	 * unpacked before an error stay. A stream cut off between two files looks complete: its
	 * sender has to mark its end. */
	int (*unpack)(archive_source_fn source, void *data, const char *folder,
		      const struct archive_limits *limits, struct archive_left_out *ret_left_out,
		      struct err *err);
};

/* Opens the module; before a fork, so that the child has it open. NULL and ERR_NOT_FOUND if the
 * installation of muster is incomplete. */
const struct archive_functions *archive_open(struct err *err) MUST_USE;
#define ARCHIVE_MODULE "muster-archive.so"
#define ARCHIVE_MODULE_SYMBOL "muster_archive_functions" /* the only one that is looked for */
