/* What this process has: its environment, its program, the files and the time zone of its user, its
 * memory. */
#pragma once

#include "base/err.h"
#include "base/msec.h"

/* The environment for a child program: all variables with `changes`, which ends with NULL:
 * "NAME=VALUE" sets one, "NAME" removes it. The entries are borrowed; the caller frees the list,
 * which ends with NULL. */
char **own_environment_with(const char *const *changes) MUST_USE;

/* The directories of a PATH. An empty element, which a shell takes for the current directory, is
 * skipped: the owner of that directory, and not the user, would choose the programs. Allocates
 * nothing, for children between vfork and exec.
 *
 * Returns the next directory, which no NUL follows, and its length; NULL when none is left. `*rest`
 * is at first the PATH (NULL: no directory) and advances. */
const char *search_path_next(const char **rest, size_t *ret_len);
bool search_path_has_empty(const char *path);
/* The program of this name in such a list; a name with a slash is a path, as for child_start. NULL:
 * there is none. Caller frees. */
char *search_path_find(const char *path, const char *name) MUST_USE;

/* A program in a virtual environment means the Python there, as pip's other programs do, although
 * nobody has activated it (cron, ssh HOST COMMAND): sets VIRTUAL_ENV, unless that or conda's
 * environment is active. `called` is the name that this program was called by. */
void own_virtual_env_activate(const char *called);

/* Where a user's files are (XDG Base Directory Specification 0.8): the directory `muster` in that
 * of the environment variable ("XDG_CONFIG_HOME"), which counts only if it is absolute, else in
 * `below` (".config") of the home directory: $HOME, or that of the password database. Caller frees.
 * NULL: there is none. */
char *home_folder(const char *variable, const char *below) MUST_USE;

/* The offset of this machine's time zone (TZ, else /etc/localtime) from UTC at that moment, in
 * minutes east, with daylight saving time. */
int time_zone_offset(msec time);
/* The same for output on the terminal `fd`; 0, which is UTC, if `fd` is no terminal, or the time is
 * MSEC_UNSET. */
int time_zone_offset_on(int fd, msec time);

/* The path of the running program, to start it again: without links, whatever name it was called
 * by. If the file was replaced meanwhile (an update), "/proc/self/exe", which still starts the same
 * program from this process, and from a child before its exec. Caller frees. */
char *own_program_path(void) MUST_USE;
/* Copies it to a path, replacing another file; all users may execute the copy. ERR_IO,
 * ERR_SPACE. */
int own_program_copy(const char *path, struct err *err) MUST_USE;

/* Returns free memory to the system, also between pieces in use: for a long-running process after a
 * burst of work. Costs about a millisecond for each 30 MB. */
void heap_give_back(void);
