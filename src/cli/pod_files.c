#include "cli/pod_files.h"

#include "base/mem.h"
#include "cli/program.h"
#include "command/input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* job_document_add_files rejects larger ones, and says why. */
#define READ_LIMIT (16 * 1024 * 1024)

void pod_files_done(struct pod_files *pod_files)
{
	free(pod_files->command);
	free(pod_files->script_path);
	for (size_t i = 0; pod_files->is_folder && i < pod_files->n_files; i++)
		free((char *) pod_files->files[i].path);
	free(pod_files->files);
	text_done(&pod_files->bytes);
}

static bool is_python(const char *name)
{
	return text_ends_with(name, ".py") || text_ends_with(name, ".pyz");
}

static int read_script(const char *path, struct pod_files *pod_files, struct err *err)
{
	const char *slash = strrchr(path, '/');
	struct stat status;

	if (!stat(path, &status) && S_ISDIR(status.st_mode))
		return err_set(err, ERR_INVALID, "%s: a directory (expected a script)", path);
	if (input_read(path, READ_LIMIT, &pod_files->bytes, err)) {
		if (err->code == ERR_NOT_FOUND && !is_python(path))
			return err_set(err, ERR_NOT_FOUND,
				       "%s: no such file; to run a program of the image, write -- "
				       "PROGRAM ARGS",
				       path);
		return err->code;
	}
	pod_files->files = mem_new(sizeof(*pod_files->files));
	pod_files->files[0] = (struct job_file){
		.path = slash ? slash + 1 : path,
		.bytes = text_of(&pod_files->bytes),
		.len = pod_files->bytes.len,
		.is_executable = !is_python(path),
	};
	pod_files->n_files = 1;
	pod_files->script_path = mem_format("%s/%s", JOB_FILES_FOLDER, pod_files->files[0].path);
	return 0;
}

/* The words of the command line, with the script's path replaced and Python before it. */
static void make_command(const char *const *arguments, size_t n_arguments,
			 struct pod_files *pod_files)
{
	size_t n_before = 0;

	pod_files->command = mem_new_array(n_arguments + 4, sizeof(*pod_files->command));
	if (pod_files->is_module || (pod_files->script_path && is_python(arguments[0]))) {
		pod_files->command[n_before++] = "python3";
		pod_files->command[n_before++] = "-u";
	}
	if (pod_files->is_module)
		pod_files->command[n_before++] = "-m";
	memcpy(pod_files->command + n_before, arguments, n_arguments * sizeof(*arguments));
	if (pod_files->script_path)
		pod_files->command[n_before] = pod_files->script_path;
}

static bool is_script(const struct pod_files *pod_files, const char *word, bool is_program)
{
	return !is_program && !pod_files->is_module && (is_python(word) || strchr(word, '/'));
}

int pod_files_find(const char *const *arguments, size_t n_arguments, bool is_program,
		   struct pod_files *pod_files, struct err *err)
{
	if (!n_arguments)
		return program_refuse_nothing(err);
	if (is_script(pod_files, arguments[0], is_program) &&
	    read_script(arguments[0], pod_files, err))
		return err->code;
	make_command(arguments, n_arguments, pod_files);
	return 0;
}

/* A directory in parts. */

static int check_folder(const char *path, struct err *err)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return errno == ENOENT
			       ? err_set(err, ERR_NOT_FOUND, "--sync: '%s' not found", path)
			       : err_set_errno(err, errno, "--sync: cannot read '%s'", path);
	if (!S_ISDIR(status.st_mode))
		return err_set(err, ERR_INVALID, "--sync: '%s' is not a directory", path);
	return 0;
}

/* "./train.py": the path of the script in the copy, which is the working directory. */
static int find_script(const char *path, const char *folder, struct pod_files *pod_files,
		       struct err *err)
{
	char *real CLEANUP(mem_free_text) = realpath(path, NULL);
	char *root CLEANUP(mem_free_text) = realpath(folder, NULL);
	size_t len = root ? strlen(root) : 0;

	if (!root)
		return err_set_errno(err, errno, "--sync: cannot read directory '%s'", folder);
	if (!real)
		return err_set_errno(err, errno, "cannot read '%s'", path);
	if (!text_starts_with(real, root) || real[len] != '/')
		return err_set(err, ERR_INVALID, "%s: not inside the --sync directory %s", path,
			       folder);
	pod_files->script_path = mem_format(".%s", real + len);
	return 0;
}

static void cut_into_parts(struct pod_files *pod_files)
{
	size_t len = pod_files->bytes.len;

	pod_files->is_folder = true;
	pod_files->n_files = (len + JOB_FILES_PART_SIZE - 1) / JOB_FILES_PART_SIZE;
	pod_files->files = mem_new_array(pod_files->n_files, sizeof(*pod_files->files));
	for (size_t i = 0; i < pod_files->n_files; i++) {
		size_t begin = i * JOB_FILES_PART_SIZE;
		size_t left = len - begin;

		pod_files->files[i] = (struct job_file){
			.path = job_files_packed_name(i),
			.bytes = text_of(&pod_files->bytes) + begin,
			.len = left < JOB_FILES_PART_SIZE ? left : JOB_FILES_PART_SIZE,
		};
	}
}

int pod_files_find_in_folder(const char *const *arguments, size_t n_arguments, bool is_program,
			     const char *folder, sync_folder_pack_fn pack,
			     struct pod_files *pod_files, struct err *err)
{
	if (!n_arguments)
		return program_refuse_nothing(err);
	int rc = check_folder(folder, err);

	if (rc == 0 && is_script(pod_files, arguments[0], is_program))
		rc = find_script(arguments[0], folder, pod_files, err);
	if (rc == 0)
		rc = pack(folder,
			  pod_files->script_path ? pod_files->script_path + strlen("./") : NULL,
			  &pod_files->bytes, err);
	if (rc < 0)
		return rc;
	cut_into_parts(pod_files);
	make_command(arguments, n_arguments, pod_files);
	return 0;
}
