/* A call of `muster orchestrator`, after what it needs of other libraries was read. */
#pragma once

#include "cli/server_access.h"
#include "command/options.h"

/* Serves until a signal comes. Gives the exit code. */
int orchestrator_call(const struct options *options, const struct server_access *access);
/* The same with the files that the options name. Only programs that link libcrypto have it. */
int orchestrator_call_with_access(const struct options *options);
