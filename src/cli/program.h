/* What is to be started: a Python script under the right interpreter, or a program. */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>

/* Makes the argument list of the processes from the plain arguments of a call. With `is_program`
 * ("--" stood before them) they are taken as they are. Else the first one is a script when it ends
 * in .py or .pyz: it runs under $PYTHON_EXEC (torchrun's), $VIRTUAL_ENV/bin/python, else python3 or
 * python of $PATH, with -u so that its lines come when they are printed. What can be executed is a
 * program all the same.
 *
 * *ret_command is NULL-terminated; the list is the caller's to free, its texts are borrowed from
 * `arguments` but for *ret_interpreter, which is the caller's as well (NULL: none). ERR_NOT_FOUND
 * and ERR_INVALID say what to write. */
int program_find(const char *const *arguments, size_t n_arguments, bool is_program,
		 const char ***ret_command, char **ret_interpreter, struct err *err) MUST_USE;
/* There is no argument: what there is to write. */
int program_refuse_nothing(struct err *err);
/* The same of a Python module and its arguments: -m MODULE. */
int program_find_module(const char *const *arguments, size_t n_arguments, const char ***ret_command,
			char **ret_interpreter, struct err *err) MUST_USE;
