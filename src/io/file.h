/* Files and descriptors: the loops and checks that open, read and write leave to the caller, and
 * the system's headers for these three. Directories are in io/folder. */
#pragma once

#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

/* `int fd CLEANUP(file_close) = …`; ignores a negative number, and sets *fd to -1. */
void file_close(int *fd);

/* Opens standard input, output or error output if this process was started without it (`>&-`), so
 * that reading or writing it fails as before. Otherwise the next file that we open would get its
 * number, and our messages. */
void file_keep_standard_numbers(void);

/* Closes descriptors that were inherited beyond those three, so that a process in the background
 * does not hold a lock or a pipe of its caller. They are recognized because all descriptors that we
 * open close on exec. Libraries do not always do that: call it before any is in use. */
void file_close_inherited(void);

/* Writes all bytes, over interruptions and short writes. Returns 0 or errno; *ret_written (may be
 * NULL) is the number of bytes written in either case. */
int file_write_all(int fd, const void *bytes, size_t len, size_t *ret_written);

/* Reads up to `len` bytes at an offset, over interruptions and short reads; less only at the end
 * of the file or on an error. Returns how many. */
size_t file_read_at(int fd, void *bytes, size_t len, int64_t offset);

/* Whether it is an executable file. */
bool file_is_program(const char *path);
/* The part before the last slash; "/" and "." as dirname(3). Caller frees. */
char *file_folder_of(const char *path) MUST_USE;

/* The whole of a file (or pipe), at most `limit` bytes: ERR_NOT_FOUND, ERR_LIMIT, ERR_IO. A NUL
 * follows the bytes; the caller frees them. */
int file_read_whole(const char *path, size_t limit, char **ret_bytes, size_t *ret_len,
		    struct err *err) MUST_USE;

/* Opens a file of muster's own in a directory where workers write, too, or creates it with mode
 * 0600: no link is followed, and anything else than a regular file is an error (ENXIO), so that a
 * FIFO of this name blocks nothing. Returns the descriptor; -1 sets errno. */
int file_open_regular(const char *path, int flags) MUST_USE;
/* file_read_whole of such a file. */
int file_read_regular(const char *path, size_t limit, char **ret_bytes, size_t *ret_len,
		      struct err *err) MUST_USE;

/* A small file (64 KiB at most) as text, for the caller to free; NULL when it cannot be read. */
char *file_read_text(const char *path) MUST_USE;

/* Writes into an existing file, such as the kernel's. */
bool file_write_text(const char *path, const char *text);

/* Whether it is root's and in a read-only file system, as Secrets are mounted in a Pod. Their modes
 * (0644, and 1777 for the directory) say nothing about other users. */
bool file_is_mounted_by_root(const char *path);
/* The mode of a file, if it lets other users read or change it; else 0. The group of a file of
 * another owner counts as meant, and a file as above is not shared. */
mode_t file_mode_if_shared(const char *path);

/* Whether the path is the directory, or below it, by comparing names only. */
bool file_is_in(const char *path, const char *folder);

/* Makes the file contain these bytes, readable by this user alone. They are written to a new name,
 * flushed and renamed, so that a reader of `path` finds the whole old file or the whole new one.
 * ERR_IO or ERR_SPACE; then the new name is removed. */
int file_replace(const char *path, const void *bytes, size_t len, struct err *err) MUST_USE;
/* The same, unless the path exists: ERR_EXISTS. Of several processes that create it at the same
 * time, one does. */
int file_create(const char *path, const void *bytes, size_t len, struct err *err) MUST_USE;
/* The same as file_replace, if it does not contain them already. */
int file_ensure(const char *path, const void *bytes, size_t len, struct err *err) MUST_USE;

/* The limit of open descriptors of this process (RLIMIT_NOFILE).
 *
 * The soft limit is 1024 nearly everywhere, because select(2) handles no more; the administrator
 * sets the hard limit. A program that does not use select may raise its soft limit to the hard one.
 * It gives its child programs the original limit (as systemd does).
 *
 * Raises the soft limit to the hard one; *ret_before is the previous soft limit. ERR_LIMIT, and
 * nothing is raised, when the hard limit is less than `n_needed`. */
int descriptor_limit_raise(size_t n_needed, rlim_t *ret_before, struct err *err) MUST_USE;

/* How many connections a server of this process can have, `wanted` at most: some descriptors of the
 * soft limit remain for its files, and for connections of its own. */
size_t descriptor_limit_connections(size_t wanted);

/* Sets the soft limit. Safe between vfork and exec. */
void descriptor_limit_set(rlim_t soft);
