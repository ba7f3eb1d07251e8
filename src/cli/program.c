#include "cli/program.h"

#include "base/mem.h"
#include "base/text.h"
#include "command/output.h"
#include "io/file.h"
#include "io/own_process.h"
#include "spec/gpus.h"

#define LONGEST_SCRIPT ((size_t) 4 * 1024 * 1024)

static bool is_in_path(const char *name)
{
	char *path CLEANUP(mem_free_text) = search_path_find(getenv("PATH"), name);

	return path != NULL;
}

/* The Python of an environment in this directory; NULL: it has none. Caller frees. */
static char *python_of(const char *folder)
{
	char *python CLEANUP(mem_free_text) = mem_format("%s/bin/python", folder);

	return file_is_program(python) ? TAKE(python) : NULL;
}

/* The user may have activated another environment since (conda after a virtual environment), whose
 * `python` comes first in PATH. */
static void tell_other_python(const char *environment, const char *python)
{
	char *other CLEANUP(mem_free_text) = search_path_find(getenv("PATH"), "python");

	if (other && !text_starts_with(other, environment))
		output_print_message("using %s; 'python' in PATH is %s", python, other);
}

/* An environment that nobody activated, beside the script or in the current directory, as uv makes
 * it. */
static char *find_beside(const char *script)
{
	const char *slash = script ? strrchr(script, '/') : NULL;
	char *beside CLEANUP(mem_free_text) =
		slash ? mem_format("%.*s/.venv", (int) (slash - script), script) : NULL;
	char *python = beside ? python_of(beside) : NULL;

	if (!python)
		python = python_of(".venv");
	if (python)
		output_print_message("using %s", python);
	return python;
}

/* `script`: NULL for a module. */
static int find_interpreter(const char *script, char **ret_interpreter, struct err *err)
{
	const char *environment = getenv("VIRTUAL_ENV"), *said = getenv("PYTHON_EXEC");
	bool has_environment = environment && *environment, has_said = said && *said;
	char *python = has_said                 ? mem_copy_text(said)
		       : has_environment        ? python_of(environment)
		       : getenv("CONDA_PREFIX") ? NULL
						: find_beside(script);

	if (python) {
		if (has_environment && !has_said)
			tell_other_python(environment, python);
		*ret_interpreter = python;
		return 0;
	}
	const char *name = is_in_path("python3") ? "python3" : "python";

	if (!is_in_path(name))
		return err_set(err, ERR_NOT_FOUND,
			       "python3 not found in PATH; install Python, or activate a virtual "
			       "environment");
	if (has_environment)
		output_print_message(
			"VIRTUAL_ENV is '%s', which has no bin/python; using %s from PATH",
			environment, name);
	*ret_interpreter = mem_copy_text(name);
	return 0;
}

/* A Python file, or a zip archive with a __main__.py (PEP 441). */
static bool is_script(const char *name)
{
	return text_ends_with(name, ".py") || text_ends_with(name, ".pyz");
}

static bool is_job_file(const char *name)
{
	return text_ends_with(name, ".yaml") || text_ends_with(name, ".yml") ||
	       text_ends_with(name, ".json");
}

static int check_script(const char *script, struct err *err)
{
	struct stat status;

	if (stat(script, &status)) {
		if (errno == ENOENT || errno == ENOTDIR)
			return err_set(err, ERR_NOT_FOUND, "%s: no such file", script);
		return err_set_errno(err, errno, "%s", script);
	}
	if (S_ISDIR(status.st_mode))
		return err_set(err, ERR_INVALID, "%s: a directory (expected a script)", script);
	return 0;
}

const char **program_command(const char *interpreter, bool is_module, const char *const *arguments)
{
	size_t count = 0, n_before = 0;

	while (arguments[count])
		count++;
	const char **command = mem_new_array(count + 4, sizeof(*command));

	if (interpreter) {
		command[n_before++] = interpreter;
		command[n_before++] = "-u";
	}
	if (is_module)
		command[n_before++] = "-m";
	memcpy(command + n_before, arguments, count * sizeof(*command));
	return command;
}

void found_program_done(struct found_program *program)
{
	free(program->command);
	free(program->interpreter);
}

int program_refuse_nothing(struct err *err)
{
	return err_set(err, ERR_INVALID,
		       "nothing to run; give SCRIPT.py, -m MODULE, -- PROGRAM, or -f job.yaml");
}

/* "LR=2", as before a command in a shell. */
static bool is_assignment(const char *word)
{
	const char *equals = strchr(word, '=');

	return equals && equals > word &&
	       strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == (size_t) (equals - word);
}

int program_find(const char *const *arguments, bool is_module, bool is_program,
		 struct found_program *program, struct err *err)
{
	const char *first = arguments[0];

	if (!first)
		return program_refuse_nothing(err);
	if (is_module || (!is_program && is_script(first))) {
		if ((!is_module && check_script(first, err)) ||
		    find_interpreter(is_module ? NULL : first, &program->interpreter, err))
			return err->code;
		program->command = program_command(program->interpreter, is_module, arguments);
		return 0;
	}
	if (!is_program && is_job_file(first))
		return err_set(err, ERR_INVALID, "'%s' is not a program; did you mean -f %s?",
			       first, first);
	if (!is_program && !is_in_path(first) && file_is_program(first))
		return err_set(err, ERR_INVALID, "'%s' is not in PATH; did you mean ./%s?", first,
			       first);
	if (!is_program && text_ends_with(first, ".ipynb"))
		return err_set(err, ERR_INVALID,
			       "'%s': not a script; convert the notebook: jupyter nbconvert --to "
			       "script %s",
			       first, first);
	if (!is_program && is_assignment(first))
		return err_set(err, ERR_INVALID, "'%s': not a script; to set a variable: -e %s",
			       first, first);
	if (!is_program && !is_in_path(first))
		return err_set(err, ERR_INVALID,
			       "'%s': not a script (expected a .py or .pyz file); to run a "
			       "program, write -- PROGRAM ARGS",
			       first);
	if (is_program && is_script(first) && !strchr(first, '/') && !is_in_path(first) &&
	    access(first, F_OK) == 0)
		return err_set(err, ERR_INVALID,
			       "'%s' is not in PATH; a script goes without '--', a program that is "
			       "in this directory is ./%s",
			       first, first);
	program->command = program_command(NULL, false, arguments);
	return 0;
}

/* The file of `python -m MODULE` in this directory; caller frees. */
static char *module_file(const char *module)
{
	struct text path = {0};

	for (; *module; module++)
		text_add_char(&path, *module == '.' ? '/' : *module);
	char *file = mem_format("%s.py", text_of(&path));

	if (access(file, R_OK) != 0) {
		mem_free_text(&file);
		file = mem_format("%s/__main__.py", text_of(&path));
	}
	text_done(&path);
	return file;
}

bool program_is_for_torch(const char *const *command)
{
	char *file CLEANUP(mem_free_text) = NULL, *text CLEANUP(mem_free_text) = NULL;
	struct stat status;
	size_t len;

	for (size_t i = 0; command && command[i] && !file; i++) {
		if (text_ends_with(command[i], ".py"))
			file = mem_copy_text(command[i]);
		else if (i > 0 && text_equals(command[i], "-m") && command[i + 1])
			file = module_file(command[i + 1]);
	}
	/* A FIFO would be emptied. */
	return file && stat(file, &status) == 0 && S_ISREG(status.st_mode) &&
	       file_read_whole(file, LONGEST_SCRIPT, &text, &len, NULL) == 0 &&
	       script_is_for_torch(text);
}
