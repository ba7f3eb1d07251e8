/* Files: what open, read and write leave to the caller, done once. Folders are io/folder's. */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `int fd CLEANUP(file_close) = …`; a negative number is passed over, and -1 is left behind. */
void file_close(int *fd);

/* Standard input, output and error output that we were started without (`>&-`) would be the numbers
 * of the next files that we open, and our messages would be written into those. They are opened so
 * that reading or writing them fails as before. */
void file_keep_standard_numbers(void);

/* Closes what our caller had open beyond those three: a lock or a pipe of its own is not to be held
 * for as long as a process in the background runs. All that we open closes on exec, which is how
 * the two are told apart; of a library that is not so, so before any is at work. */
void file_close_inherited(void);

/* Writes all of it, over interruptions and short writes. Returns 0 or errno; *ret_written (may be
 * NULL) is how much was taken in either case. */
int file_write_all(int fd, const void *bytes, size_t len, size_t *ret_written);

/* Reads up to `len` bytes at an offset, over interruptions and short reads; less only at the end
 * of the file or on an error. Returns how many. */
size_t file_read_at(int fd, void *bytes, size_t len, int64_t offset);

/* A file that may be run. */
bool file_is_program(const char *path);
/* The part before the last slash; "/" and "." as dirname(3). Caller frees. */
char *file_folder_of(const char *path) MUST_USE;

/* The whole of a file (or pipe), at most `limit` bytes: ERR_NOT_FOUND, ERR_LIMIT, ERR_IO. A NUL is
 * put behind the bytes; the caller frees them. */
int file_read_whole(const char *path, size_t limit, char **ret_bytes, size_t *ret_len,
		    struct err *err) MUST_USE;

/* A small file (64 KiB at most) as text, for the caller to free; NULL when it cannot be read. */
char *file_read_text(const char *path) MUST_USE;

/* Writes into a file that is there, as those of the kernel are. */
bool file_write_text(const char *path, const char *text);

/* The path is the folder's own, or below it, by the names alone. */
bool file_is_in(const char *path, const char *folder);

/* Makes the file hold these bytes, for this user alone to read: they are written to a new name,
 * flushed and renamed, so that a reader of `path` finds the old file or the new one, whole.
 * ERR_IO or ERR_SPACE; nothing is left behind then. */
int file_replace(const char *path, const void *bytes, size_t len, struct err *err) MUST_USE;
/* The same where it does not hold them already. */
int file_ensure(const char *path, const void *bytes, size_t len, struct err *err) MUST_USE;
