/* The token of this user: servers of muster require it, and its commands send it, unless the
 * command line says otherwise. Machines with a common home directory share it and need no option.
 */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <stdbool.h>

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
