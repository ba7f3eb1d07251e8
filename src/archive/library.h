/* What packing and unpacking share in their use of libarchive. Part of archive/archive. */
#pragma once

#include "archive/archive.h"
#include "base/err.h"
#include "base/own.h"

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>

/* The functions of archive/archive.h. */
int archive_pack_new(const struct archive_packing *packing, struct archive_pack **ret_pack,
		     struct err *err) MUST_USE;
int archive_pack_next(struct archive_pack *pack, const char **ret_bytes, size_t *ret_len,
		      struct err *err) MUST_USE;
const struct archive_left_out *archive_pack_left_out(const struct archive_pack *pack);
void archive_pack_free(struct archive_pack *pack);
int archive_unpack(archive_source_fn source, void *data, const char *folder,
		   const struct archive_limits *limits, struct archive_left_out *ret_left_out,
		   struct err *err) MUST_USE;

#define ARCHIVE_PERMISSIONS 0777 /* without set-user-ID, set-group-ID and sticky */

/* Names in tar streams are UTF-8, and libarchive converts them by the locale, which is set only
 * meanwhile: `struct archive_locale locale CLEANUP(archive_locale_end) =
 * archive_locale_begin()`. */
struct archive_locale {
	locale_t own, previous;
};

struct archive_locale archive_locale_begin(void);
void archive_locale_end(struct archive_locale *locale);

/* Returns its argument; ends the program if that is NULL for lack of memory. */
struct archive *archive_or_end(struct archive *archive);
/* Sets "cannot pack 'NAME': …" and returns the code. */
int archive_set_err(struct err *err, struct archive *archive, const char *verb, const char *name);
#define ARCHIVE_NO_FILE "not a file, directory or link"

/* Record an omitted entry with the reason, as long as there is room; and at the end the number of
 * further ones. */
void archive_leave_out(struct archive_left_out *left_out, const char *name, const char *why);
void archive_left_out_end(struct archive_left_out *left_out);
/* Subtracts `count` from the rest of a limit; false if that is too much. */
bool archive_take_from(uint64_t *left, uint64_t count);
