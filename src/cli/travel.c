#include "cli/travel.h"

#include "base/mem.h"
#include "cli/input.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Larger ones are refused by job_document_add_files, which says why. */
#define READ_LIMIT (16 * 1024 * 1024)

void travel_done(struct travel *travel)
{
	free(travel->command);
	free(travel->script_path);
	text_done(&travel->bytes);
}

static bool is_python(const char *name)
{
	return text_ends_with(name, ".py") || text_ends_with(name, ".pyz");
}

static int read_script(const char *path, struct travel *travel, struct err *err)
{
	const char *slash = strrchr(path, '/');
	struct stat status;

	if (!stat(path, &status) && S_ISDIR(status.st_mode))
		return err_set(err, ERR_INVALID, "%s: a folder, not a script", path);
	if (input_read(path, READ_LIMIT, &travel->bytes, err)) {
		if (err->code == ERR_NOT_FOUND && !is_python(path))
			return err_set(err, ERR_NOT_FOUND,
				       "%s: no such file here; a program of the image is given as "
				       "-- PROGRAM ARGS",
				       path);
		return err->code;
	}
	travel->file = (struct job_file){
		.path = slash ? slash + 1 : path,
		.bytes = text_of(&travel->bytes),
		.len = travel->bytes.len,
		.is_executable = !is_python(path),
	};
	travel->n_files = 1;
	travel->script_path = mem_format("%s/%s", JOB_FILES_FOLDER, travel->file.path);
	return 0;
}

int travel_find(const char *const *arguments, size_t n_arguments, bool is_program,
		struct travel *travel, struct err *err)
{
	const char *first = arguments[0];
	size_t n_before = 0;

	if (!first)
		return err_set(err, ERR_INVALID,
			       "nothing to run: give SCRIPT.py, -- PROGRAM, or -f job.yaml");
	if (!is_program && (is_python(first) || strchr(first, '/')) &&
	    read_script(first, travel, err))
		return err->code;
	travel->command = mem_new_array(n_arguments + 3, sizeof(*travel->command));
	if (travel->n_files && is_python(first)) {
		travel->command[n_before++] = "python3";
		travel->command[n_before++] = "-u";
	}
	memcpy(travel->command + n_before, arguments, n_arguments * sizeof(*arguments));
	if (travel->n_files)
		travel->command[n_before] = travel->script_path;
	return 0;
}
