/* What packing and unpacking ask of libarchive in the same way. Part of archive/archive. */
#pragma once

#include "archive/archive.h"
#include "base/err.h"
#include "base/own.h"

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>
#include <stdbool.h>
#include <stdint.h>

#define ARCHIVE_PERMISSIONS 0777 /* without set-user-ID, set-group-ID and sticky */

/* Names in tar streams are UTF-8, and libarchive reads and writes them through the locale, which
 * nobody else needs to have set: `struct archive_locale locale CLEANUP(archive_locale_end) =
 * archive_locale_begin()`. */
struct archive_locale {
	locale_t own, previous;
};

struct archive_locale archive_locale_begin(void);
void archive_locale_end(struct archive_locale *locale);

/* What libarchive made, unless it found no memory. */
struct archive *archive_or_end(struct archive *archive);
/* "cannot pack 'NAME': …", and returns the code. */
int archive_set_err(struct err *err, struct archive *archive, const char *verb, const char *name);
#define ARCHIVE_NO_FILE "not a file, directory or link"

/* Notes what is left out, with the reason, as long as there is room; and at the end how many more
 * there are. */
void archive_leave_out(struct archive_left_out *left_out, const char *name, const char *why);
void archive_left_out_end(struct archive_left_out *left_out);
/* Takes `count` from what is left of a limit; false when that is too much. */
bool archive_take_from(uint64_t *left, uint64_t count);
