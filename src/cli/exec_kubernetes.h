/* For commands that need the program for clusters. */
#pragma once

#include "command/options.h"

/* Executes the other program (cli/kubernetes_program.h) with this command line. Returns only when
 * that fails: it has printed why, and returns the exit code. Call it before anything was
 * started. */
int exec_kubernetes_program(const struct options *options);
