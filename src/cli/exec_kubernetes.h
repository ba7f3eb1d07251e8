/* A call that needs the program which speaks to clusters. */
#pragma once

#include "command/options.h"

/* Goes on with the call in the other program (cli/kubernetes_program.h). Comes back only when that
 * fails: why is told then, and the exit code given. Call it before anything was started. */
int exec_kubernetes_program(const struct options *options);
