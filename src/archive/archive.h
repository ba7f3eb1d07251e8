/* Folders as tar streams, and tar streams as folders. The one door to libarchive, which is opened
 * on first use (archive/open.c).
 *
 * Packing goes a step at a time, whenever its reader has room. Unpacking waits for its bytes,
 * because libarchive does: a program with a loop unpacks in a process of its own, from a pipe.
 *
 * What is unpacked comes from somewhere that is not trusted. Nothing that a stream says makes, or
 * changes, or points to anything outside of the folder it is unpacked into. */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Opens what all else here needs; before a fork, so that the child finds it open. ERR_NOT_FOUND:
 * muster is not installed whole. */
int archive_load(struct err *err) MUST_USE;

struct archive_limits {
	uint64_t n_entries;
	uint64_t
		bytes; /* of the files as they lie on the disk, holes included; and of the stream */
};

#define ARCHIVE_LEFT_OUT_SIZE 1000

/* What one side has and the other does not get, with its end: "'pipe' (not a file, directory or
 * link), 'latest' (a link to '/models/7', which is outside the directory) and 3 more"; "" for
 * nothing. */
struct archive_left_out {
	uint64_t count, n_told; /* those that the text names */
	char text[ARCHIVE_LEFT_OUT_SIZE];
};

/* A file or a folder on its way into a stream. */
struct archive_pack;

enum archive_format {
	ARCHIVE_PAX, /* POSIX.1-2001: times finer than a second */
	ARCHIVE_GNU, /* for readers that pass over what is new in pax, as busybox's tar does */
	ARCHIVE_GNU_GZIP, /* the same, compressed; the same files give the same bytes */
};

/* Begins with what lies at `path` (a link there is followed, one below it is packed as a link);
 * in the stream it is called `name`, and what lies below it `name`/…, sorted, each folder behind
 * what is in it, so that its time is set last by any tar. With the name "." only what lies below is
 * packed: the folder that it is unpacked into may belong to another user, and a tar that is told a
 * time or mode of it fails. Bytes, modes and times are exact; owners
 * are not packed, so that files belong to the user that unpacks them. Sockets, pipes and devices
 * are left out. ERR_NOT_FOUND, ERR_IO. */
int archive_pack_new(const char *path, const char *name, enum archive_format format,
		     const struct archive_limits *limits, struct archive_pack **ret_pack,
		     struct err *err) MUST_USE;
/* Leaves out what `wants` does not want, by its path below the one that was started with, and all
 * that is below it. Before the first archive_pack_next. */
void archive_pack_only(struct archive_pack *pack, bool (*wants)(const char *path, void *data),
		       void *data);
/* Puts an empty file of this name behind all else. The unpacking side can tell by it that the
 * stream came to its end, which no tar program says. Before the first archive_pack_next. */
void archive_pack_end_with(struct archive_pack *pack, const char *name);
/* The next bytes of the stream, which lie there until the next call; none (length 0) at its end.
 * ERR_IO: something cannot be read; ERR_CONFLICT: a file became shorter meanwhile; ERR_LIMIT. */
int archive_pack_next(struct archive_pack *pack, const char **ret_bytes, size_t *ret_len,
		      struct err *err) MUST_USE;
/* Whole at the end of the stream; lives as long as the pack. */
const struct archive_left_out *archive_pack_left_out(const struct archive_pack *pack);
void archive_pack_free(struct archive_pack *pack); /* NULL is fine */

/* Waits for the next bytes, which lie there until the next call; *ret_len is 0 at the end. 0 or an
 * error, which ends the unpacking as it stands. */
typedef int (*archive_source_fn)(const char **ret_bytes, size_t *ret_len, void *data,
				 struct err *err);

/* Makes all that is in an uncompressed tar stream, in a folder that is there; the stream is read
 * to its end. Files that are there are replaced, never written into; links are not followed. Modes
 * (without set-user-ID and its like) and times are the stream's, owners are not.
 *
 * Left out, and told, is what folders may well have and what could reach outside here: links to
 * places outside, pipes, sockets and devices. ERR_REFUSED: a name outside, or what no tar program
 * makes of a folder; ERR_INVALID: no tar stream, or one that is cut off within a file; ERR_LIMIT;
 * ERR_IO, ERR_SPACE. What was unpacked before the fault stays. A stream that is cut off between two
 * files cannot be told from a whole one: its sender has to say that it came to its end. */
int archive_unpack(archive_source_fn source, void *data, const char *folder,
		   const struct archive_limits *limits, struct archive_left_out *ret_left_out,
		   struct err *err) MUST_USE;
