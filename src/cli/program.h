/* The program to start: a Python script with its interpreter, or another program. */
#pragma once

#include "base/err.h"

/* The command of the processes. Zero it to begin. */
struct found_program {
	const char **command; /* NULL-terminated; its other texts are borrowed */
	char *interpreter; /* its first word; NULL: the program itself is that */
};

void found_program_done(struct found_program *program);
/* Makes the command from the plain arguments of a command line. With `is_module`, they are a Python
 * module and its arguments: -m MODULE. With `is_program` ("--" precedes them) they are taken
 * unchanged. Otherwise the first one is a script when it ends in .py or .pyz. It runs under
 * $PYTHON_EXEC (torchrun's), $VIRTUAL_ENV/bin/python, that of a .venv beside the script or here
 * (unless conda is active), else python3 or python of $PATH, with -u so that its output is not
 * delayed. An executable file is a program all the same. ERR_NOT_FOUND and
 * ERR_INVALID say what to write. */
int program_find(const char *const *arguments, bool is_module, bool is_program,
		 struct found_program *program, struct err *err) MUST_USE;
/* The error when there is no argument. */
int program_refuse_nothing(struct err *err);
/* Such a command: the arguments, after "INTERPRETER -u" unless that is NULL, and "-m" before a
 * module. Caller frees the list. */
const char **program_command(const char *interpreter, bool is_module,
			     const char *const *arguments) MUST_USE;

/* Whether the command runs a Python script or module, found from here, that is for PyTorch
 * (spec/gpus.h). */
bool program_is_for_torch(const char *const *command);
