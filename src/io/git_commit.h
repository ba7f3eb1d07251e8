/* The commit of a program's sources. */
#pragma once

#include "base/own.h"

/* The commit that is checked out where this process is, as `git rev-parse HEAD` prints it, read
 * from the files of git (gitrepository-layout(5)). NULL: there is none. Caller frees. */
char *git_commit_here(void) MUST_USE;
