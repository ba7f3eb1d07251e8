/* The program to start: a Python script with its interpreter, or another program. */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>

/* Makes the argument list of the processes from the plain arguments of a command line. With
 * `is_program` ("--" precedes them) they are taken unchanged. Otherwise the first one is a script
 * when it ends in .py or .pyz. It runs under $PYTHON_EXEC (torchrun's), $VIRTUAL_ENV/bin/python,
 * else python3 or python of $PATH, with -u so that its output is not delayed. An executable file is
 * a program all the same.
 *
 * *ret_command is NULL-terminated. The caller frees the list and *ret_interpreter (NULL: none); the
 * other texts are borrowed from `arguments`. ERR_NOT_FOUND and ERR_INVALID say what to write. */
int program_find(const char *const *arguments, size_t n_arguments, bool is_program,
		 const char ***ret_command, char **ret_interpreter, struct err *err) MUST_USE;
/* The error when there is no argument. */
int program_refuse_nothing(struct err *err);
/* The same for a Python module and its arguments: -m MODULE. */
int program_find_module(const char *const *arguments, size_t n_arguments, const char ***ret_command,
			char **ret_interpreter, struct err *err) MUST_USE;

/* Whether the command runs a Python script or module, found from here, that is for PyTorch
 * (spec/gpus.h). */
bool program_is_for_torch(const char *const *command);
