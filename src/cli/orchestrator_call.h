/* Runs `muster orchestrator`, after its token and TLS files were read. */
#pragma once

#include "cli/server_access.h"
#include "command/options.h"

/* Serves until a signal comes. Returns the exit code. */
int orchestrator_call(const struct options *options, const struct server_access *access);
/* The same; reads the files that the options name. Only programs that link libcrypto have it. */
int orchestrator_call_with_access(const struct options *options);
