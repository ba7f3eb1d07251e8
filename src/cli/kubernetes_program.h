/* How `muster` executes `muster-kubernetes` for a command that needs a cluster. */
#pragma once

#include "base/err.h"
#include "command/options.h"

/* Finds the program for clusters: in the directory of `own_program`, as in a build directory, else
 * in `libexec_folder`, as after an installation; a relative one is relative to that directory, so
 * that the installation can be moved. ERR_NOT_FOUND names both. Caller frees. */
int kubernetes_program_find(const char *own_program, const char *libexec_folder, char **ret_path,
			    struct err *err) MUST_USE;

/* Replaces this process by that program, with the same arguments (all arguments of main) and
 * environment. Returns only when that fails. Call it before anything was started. */
int kubernetes_program_exec(char *const *argv, struct err *err) MUST_USE;

/* Executes the other program with this command line. Returns only when
 * that fails: it has printed why, and returns the exit code. Call it before anything was
 * started. */
int exec_kubernetes_program(const struct options *options);
