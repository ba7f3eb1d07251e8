/* How `muster` goes on as `muster-kubernetes` when a call needs a cluster. */
#pragma once

#include "base/err.h"
#include "base/own.h"

/* Finds the program that speaks to clusters: in the folder of `own_program`, as in a build folder,
 * else in `libexec_folder`, as where muster is installed. ERR_NOT_FOUND names both. Caller frees.
 */
int kubernetes_program_find(const char *own_program, const char *libexec_folder, char **ret_path,
			    struct err *err) MUST_USE;

/* Goes on as that program, with the same arguments (all of them, as main got them) and environment,
 * in this process. Returns only when that fails. Call it before anything was started. */
int kubernetes_program_exec(char *const *argv, struct err *err) MUST_USE;
