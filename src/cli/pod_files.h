/* What is started in a Pod, and the script that has to travel there for it. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "base/text.h"
#include "cli/sync_folder.h"
#include "spec/job_files.h"

#include <stdbool.h>
#include <stddef.h>

/* Zero it to begin. */
struct pod_files {
	const char *
		*command; /* NULL-terminated; its words are borrowed but for the script's path */
	char *script_path; /* "/muster/files/train.py"; NULL without a script */
	struct job_file *files; /* the script, or the folder in parts */
	size_t n_files;
	bool is_module; /* set by the caller: Python looks for the first word, here is no file */
	bool is_folder;
	struct text bytes; /* of the files */
};

void pod_files_done(struct pod_files *pod_files);

/* Makes the command from the plain arguments of a call. With `is_program` ("--" stood before them)
 * they are a program of the image. Else a name that ends in .py or .pyz, or has a slash, is a file
 * of this machine, which travels: Python runs the former, the image's python3 with -u; the latter
 * runs by itself. Any other word is a program of the image. ERR_INVALID, or the errors of
 * input_read. */
int pod_files_find(const char *const *arguments, size_t n_arguments, bool is_program,
		   struct pod_files *pod_files, struct err *err) MUST_USE;

/* The same with a whole folder, in a copy of which the command runs: a script is one in it.
 * ERR_NOT_FOUND or ERR_INVALID: no folder, or a script elsewhere; or what sync_folder_pack says. */
int pod_files_find_in_folder(const char *const *arguments, size_t n_arguments, bool is_program,
			     const char *folder, sync_folder_pack_fn pack,
			     struct pod_files *pod_files, struct err *err) MUST_USE;
