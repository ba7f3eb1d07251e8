/* Finds TensorFlow's C library in the file system; opens and starts nothing.
 *
 * In this order: the file or folder that was asked for (--libtensorflow), MUSTER_LIBTENSORFLOW, the
 * active virtual environment, the packages of python3, the system's library folders. A wheel brings
 * libtensorflow_cc.so.2 since TensorFlow 2.12; the C package brings libtensorflow.so.2. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "base/text.h"
#include "tensorflow/python_find.h"

#include <stdbool.h>
#include <stddef.h>

#define LIBRARY_VARIABLE "MUSTER_LIBTENSORFLOW"

struct library_search {
	const char *asked; /* --libtensorflow: a file, or a folder with it somewhere; NULL: none */
	const char *variable; /* MUSTER_LIBTENSORFLOW, likewise */
	const char *library_path; /* LD_LIBRARY_PATH */
	const char *system_root; /* "" but in tests: what stands before /usr/lib */
	struct python_search python;
};

/* What this process would look for; `asked` may be NULL. */
struct library_search library_search_here(const char *asked);

enum library_origin {
	LIBRARY_ASKED,
	LIBRARY_VARIABLE_SET,
	LIBRARY_VIRTUAL_ENV,
	LIBRARY_PYTHON,
	LIBRARY_SYSTEM,
};
/* "--libtensorflow", "MUSTER_LIBTENSORFLOW", "virtual environment", "python3", "system". */
extern const char *const library_origin_words[5];

struct library_place {
	char *path; /* of the file to open */
	enum library_origin origin;
	char *folder; /* of packages, for a wheel: "/…/site-packages"; NULL: not of a wheel */
	char *version; /* of the wheel, from its dist-info: "2.21.0"; NULL: not known before opening
			*/
	char *package; /* its name as pip knows it: "tensorflow-cpu"; NULL likewise */
};

/* Finds the library. ERR_NOT_FOUND: there is none, the sentence says what to install. `looked_at`
 * (may be NULL) gets a line for each place that was looked at and what was there, whether one is
 * found or not. ERR_UNSUPPORTED: TensorFlow is there and too old, or without the library.
 *
 * What was asked for by name is taken or refused; no other place is looked at then. */
int library_find(const struct library_search *search, struct library_place **ret_place,
		 struct text *looked_at, struct err *err) MUST_USE;
void library_place_free(struct library_place *place); /* NULL is fine */
void library_place_cleanup(struct library_place **place);

#define LIBRARY_LEAST_VERSION "2.12"

/* "2.21.0", "2.12.0rc1" …; false also for what is no version. */
bool library_version_suffices(const char *version);
