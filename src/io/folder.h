/* Directories: created with all their parents, moved into others, removed with their contents,
 * watched. */
#pragma once

#include "base/err.h"
#include "io/loop.h"

#include <dirent.h>

/* Creates the directory and its missing parents, for this user alone (mode 0700). An existing one
 * stays unchanged. ERR_IO or ERR_SPACE names the directory that could not be created. */
int folder_create(const char *path, struct err *err) MUST_USE;
/* The same for all users, as far as the umask permits, and opens it (O_PATH): for files in a place
 * that users share. ERR_REFUSED: a link on the way belongs to another user (root may own it), who
 * could make it lead to other files of this user. */
int folder_open_shared(const char *path, int *ret_fd, struct err *err) MUST_USE;

/* Checks that what this user creates in the open directory stays there under its name: only others'
 * own files may be renamed by others (it is sticky, or others may not write to it), and its owner
 * is trusted. ERR_REFUSED names `path`. */
int folder_check_lasting(int fd, const char *path, struct err *err) MUST_USE;

/* Whether the path is a directory, or a symbolic link to one. */
bool folder_exists(const char *path);
/* Closes an open directory, for CLEANUP; *folder may be NULL. */
void folder_close(DIR **folder);

/* Checks that no other user may change what this user keeps in the directory, or put another one in
 * its place; a missing directory is fine. ERR_REFUSED: another user owns it (root may), or its
 * group or others may write to it; or another user owns a directory or a link on the way to it, or
 * others may write to such a directory, except to a sticky one. So a path that was checked keeps
 * its meaning.
 *
 * A group may write to a directory on the way: homes and directories of projects are often like
 * that, and their groups are chosen by those who share them. In a Pod nothing on the way is
 * checked: its users are those of its own containers, and each emptyDir has mode 0777. Where a user
 * namespace has no root, files of root look like those of any user that it lacks, and count as
 * root's.
 *
 * The sentence ends with `advice`: what to do instead of changing the owner or mode. */
#define FOLDER_ADVICE_STATE "set MUSTER_STATE_DIR to a directory of your own"
int folder_check_own(const char *path, const char *advice, struct err *err) MUST_USE;

/* Removes `name` in the open directory `parent_fd`, with everything below it. Symbolic links are
 * removed, never followed; a missing entry is fine. ERR_IO names what could not be removed. */
int folder_remove(int parent_fd, const char *name, struct err *err) MUST_USE;

/* Moves a file or directory to another name in the same file system. An existing file is replaced.
 * A directory is merged into an existing one, entry by entry; that one keeps its mode and its other
 * entries. ERR_EXISTS: a directory would replace a file, or a file a directory; entries moved
 * before stay moved. */
int folder_move(const char *source, const char *target, struct err *err) MUST_USE;
/* The same for all entries of a directory, which is then removed. */
int folder_move_contents(const char *source, const char *target, struct err *err) MUST_USE;

/* Counts the files and links below a directory and their bytes, and adds both numbers; unreadable
 * entries are omitted. */
void folder_measure(const char *path, uint64_t *n_files, uint64_t *bytes);

/* Reports changes of the files in one directory from the kernel (inotify), without polling. Changes
 * by other machines in a shared directory are not seen. */

enum folder_news {
	FOLDER_CHANGED, /* a file was written to, created or renamed */
	FOLDER_FILE_CLOSED, /* its writer closed a file, or was killed */
	FOLDER_GONE, /* the directory was removed: the last report */
};

/* `file_name` is NULL if unknown (the kernel's queue overflowed). */
typedef void (*folder_watch_fn)(enum folder_news news, const char *file_name, void *data);

struct folder_watch;

/* ERR_NOT_FOUND: no such directory; ERR_LIMIT: this user watches too many directories. */
int folder_watch_new(struct loop *loop, const char *path, folder_watch_fn fn, void *data,
		     struct folder_watch **ret_watch, struct err *err) MUST_USE;
void folder_watch_free(struct folder_watch *watch); /* NULL is fine */
