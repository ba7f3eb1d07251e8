/* TensorFlow's C library, opened at run time: the functions that muster calls, and diagnosis of
 * unusable files.
 *
 * Source: tensorflow/c/c_api.h and c_api_experimental.h of TensorFlow 2.12 and later. The library
 * cannot be unloaded: its threads run until the process ends, with _exit. */
#pragma once

#include "base/err.h"
#include "base/own.h"

/* TensorFlow's own types; muster only holds pointers to them. */
struct TF_Status;
struct TF_Server;

/* The codes that muster checks; tensorflow/c/tf_status.h. */
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

/* Rejects a file that cannot be a library for this machine, by its first bytes, without opening the
 * library. Returns ERR_NOT_FOUND or ERR_UNSUPPORTED. */
int library_check_file(const char *path, struct err *err) MUST_USE;
/* Opens the file. Returns ERR_UNSUPPORTED, each with its own sentence: no library, one for another
 * kind of machine, not TensorFlow's, older than 2.12, without a required function. ERR_IO: the
 * loader's message. TensorFlow may print, start threads, and end the process. */
int library_open(const char *path, struct library **ret_library, struct err *err) MUST_USE;

/* A function of the library, and where to store its address. */
struct library_function {
	const char *name;
	size_t offset; /* in a struct of function pointers */
};

/* Stores the functions' addresses in a struct. ERR_UNSUPPORTED lists all missing names. */
int library_find_functions(const struct library *library, const struct library_function *functions,
			   size_t count, void *ret_struct, struct err *err) MUST_USE;
