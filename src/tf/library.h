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

enum tf_code { TF_CODE_OK = 0, TF_CODE_NOT_FOUND = 5 }; /* tensorflow/c/tf_status.h */

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

/* Opens the file. ERR_UNSUPPORTED, each with its own sentence: no library at all, one for another
 * kind of machine, not TensorFlow's, older than 2.12, without a function that we need. ERR_IO: the
 * loader's own words. TensorFlow may print, start threads, and end the process. */
int library_open(const char *path, struct library **ret_library, struct err *err) MUST_USE;
void library_free(struct library *library); /* NULL is fine; the library stays loaded */
void library_cleanup(struct library **library);

/* The address of another function of the library; NULL: it has none of that name. */
void *library_symbol(const struct library *library, const char *name);
