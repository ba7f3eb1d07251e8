/* Where a user's files are (XDG Base Directory Specification 0.8). */
#pragma once

#include "base/own.h"

/* The directory `muster` in that of the environment variable ("XDG_CONFIG_HOME"), which counts only
 * if it is absolute, else in `below` (".config") of the home directory: $HOME, or that of the
 * password database. Caller frees. NULL: there is none. */
char *home_folder(const char *variable, const char *below) MUST_USE;
