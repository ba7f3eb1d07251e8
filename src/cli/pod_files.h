/* The command to start in a Pod, and the script that has to be copied into the Pod for it. */
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
		*command; /* NULL-terminated; its words are borrowed, except the script's path */
	char *script_path; /* "/muster/files/train.py"; NULL without a script */
	struct job_file *files; /* the script, or the directory in parts */
	size_t n_files;
	bool is_module; /* set by the caller: the first word is a Python module, not a file of this
			   machine */
	bool is_folder;
	struct text bytes; /* of the files */
};

void pod_files_done(struct pod_files *pod_files);

/* Makes the command from the plain arguments of a command line. With `is_program` ("--" precedes
 * them) they are a program of the image. Otherwise a first word that ends in .py or .pyz, or has a
 * slash, is a file of this machine and is copied into the Pod; the image's python3 runs a .py or
 * .pyz file with -u, another file is executed. Any other word is a program of the image.
 * ERR_INVALID, or the errors of input_read. */
int pod_files_find(const char *const *arguments, size_t n_arguments, bool is_program,
		   struct pod_files *pod_files, struct err *err) MUST_USE;

/* The same with a whole directory, in whose copy the command runs; a script is in the directory.
 * ERR_NOT_FOUND or ERR_INVALID: no such directory, or a script outside it; or the errors of
 * sync_folder_pack. */
int pod_files_find_in_folder(const char *const *arguments, size_t n_arguments, bool is_program,
			     const char *folder, sync_folder_pack_fn pack,
			     struct pod_files *pod_files, struct err *err) MUST_USE;
