/* Reads whole files that a command line names, and the token of this user. */
#pragma once

#include "base/json.h"

/* Reads a file ("-": standard input) into `text`. ERR_NOT_FOUND, ERR_IO, or ERR_LIMIT for more than
 * `limit` bytes; the sentence names the file. */
int input_read(const char *path, size_t limit, struct text *text, struct err *err) MUST_USE;

/* Reads the one object of a YAML or JSON file. Caller frees. The errors above, and ERR_INVALID. */
int input_read_object(const char *path, struct json **ret_object, struct err *err) MUST_USE;

/* Reads a secret, the first line of a file. Caller frees. The errors above, and ERR_INVALID for one
 * of fewer than 16 characters. From here on the memory of this process is hidden. */
int input_read_secret(const char *path, char **ret_secret, struct err *err) MUST_USE;
/* The same rule for a secret that is not from a file; `where` names it. */
int input_check_secret(const char *secret, const char *where, struct err *err) MUST_USE;

/* The rule for a secret from which a key is made, whose public part lets anyone test guesses: 32
 * characters. */
int input_check_key_secret(const char *secret, const char *where, struct err *err) MUST_USE;

/* Prints a warning if a file with a secret is open to other users (file_mode_if_shared). */
void input_warn_if_shared(const char *path);

/* Handles a line of a file. ERR_INVALID names the error in it. */
typedef int (*input_line_fn)(void *to, const char *line, struct err *err);
/* Calls `take` for each line of a text file, except empty lines and comments (#). Errors become
 * lines of `faults`: "--OPTION: FILE:LINE: sentence". */
void input_each_line(const char *option, const char *path, size_t limit, input_line_fn take,
		     void *to, struct text *faults);

/* The token of this user: servers of muster require it, and its commands send it, unless the
 * command line says otherwise. Machines with a common home directory share it and need no option.
 */

/* Reads $XDG_CONFIG_HOME/muster/token. `creates`: makes the file if it is missing, with mode 0600;
 * of processes that do so at the same time, one succeeds, and all have its token. Otherwise
 * *ret_token is NULL if it is missing. Caller frees with mem_free_secret. ERR_NOT_FOUND: no home
 * directory; ERR_REFUSED: other users may write to its directory; and the errors of
 * input_read_secret. */
int user_token_read(bool creates, char **ret_token, struct err *err) MUST_USE;
/* Reads a token from another file that the command line names: the errors of input_read_secret, and
 * ERR_INVALID for the hash of a token, which only servers know it by. */
int user_token_read_file(const char *path, char **ret_token, struct err *err) MUST_USE;
/* The name of the file of this user; caller frees. NULL: no home directory. */
char *user_token_path(void) MUST_USE;
/* input_warn_if_shared for that file, or for the one that the command line names instead (NULL:
 * none). */
void user_token_warn_if_shared(const char *other_file);
