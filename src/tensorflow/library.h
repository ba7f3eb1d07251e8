/* TensorFlow's C library, opened at run time: the functions that muster calls, and what is wrong
 * with a file that does not have them.
 *
 * Source: tensorflow/c/c_api.h and c_api_experimental.h of TensorFlow 2.12 and later. The library
 * cannot be unloaded: its threads go on until the process ends, with _exit. */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <stddef.h>

/* TensorFlow's own types; only pointers to them are ever held. */
struct TF_Status;
struct TF_Server;

/* Those that are looked at; tensorflow/c/tf_status.h. */
enum tf_code {
	TF_CODE_OK = 0,
	TF_CODE_INVALID_ARGUMENT = 3,
	TF_CODE_DEADLINE_EXCEEDED = 4,
	TF_CODE_NOT_FOUND = 5,
	TF_CODE_UNAVAILABLE = 14,
};

struct library {
	char *path;
	void *handle; /* of the loader */

	const char *(*version)(void); /* "2.21.0" */

	struct TF_Status *(*new_status)(void);
	void (*delete_status)(struct TF_Status *status);
	int (*get_code)(const struct TF_Status *status);
	const char *(*message)(const struct TF_Status *status);

	struct TF_Server *(*new_server)(const void *server_def, size_t len,
					struct TF_Status *status);
	void (*server_start)(struct TF_Server *server, struct TF_Status *status);
	const char *(*server_target)(struct TF_Server *server);
};

/* Refuses what cannot be a library of this machine, by its first bytes; opens nothing.
 * ERR_NOT_FOUND, ERR_UNSUPPORTED. */
int library_check_file(const char *path, struct err *err) MUST_USE;
/* Opens the file. ERR_UNSUPPORTED, each with its own sentence: no library at all, one for another
 * kind of machine, not TensorFlow's, older than 2.12, without a function that we need. ERR_IO: the
 * loader's own words. TensorFlow may print, start threads, and end the process. */
int library_open(const char *path, struct library **ret_library, struct err *err) MUST_USE;
void library_free(struct library *library); /* NULL is fine; the library stays loaded */
void library_cleanup(struct library **library);

/* A function of the library, and where its address goes. */
struct library_function {
	const char *name;
	size_t offset; /* in a struct of function pointers */
};

/* Puts the addresses of these functions into a struct. ERR_UNSUPPORTED names all that are missing.
 */
int library_find_functions(const struct library *library, const struct library_function *functions,
			   size_t count, void *ret_struct, struct err *err) MUST_USE;
