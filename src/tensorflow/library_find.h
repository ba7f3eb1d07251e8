/* Finds TensorFlow's C library in the file system, without opening it.
 *
 * Search order: the file or directory of --libtensorflow, MUSTER_LIBTENSORFLOW, the active virtual
 * environment, the packages of python3, the system's library directories. A wheel has
 * libtensorflow_cc.so.2 since TensorFlow 2.12; the C package has libtensorflow.so.2. */
#pragma once

#include "base/text.h"
#include "tensorflow/python_find.h"

#define LIBRARY_VARIABLE "MUSTER_LIBTENSORFLOW"

struct library_search {
	const char *asked; /* --libtensorflow: a file, or a directory with it; NULL: none */
	const char *variable; /* MUSTER_LIBTENSORFLOW, likewise */
	const char *library_path; /* LD_LIBRARY_PATH */
	const char *system_root; /* prefix of /usr/lib; "" except in tests */
	struct python_search python;
};

/* The search of this process; `asked` may be NULL. */
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

/* In an arena. */
struct library_place {
	const char *path; /* of the file to open */
	enum library_origin origin;
	const char *folder; /* its package directory, "/…/site-packages"; NULL: not of a wheel */
	const char *version; /* of the wheel, from its dist-info: "2.21.0"; NULL: not yet known */
	const char *package; /* its name in pip: "tensorflow-cpu"; NULL likewise */
};

/* Finds the library. Returns ERR_NOT_FOUND if there is none; the text says what to install. Returns
 * ERR_UNSUPPORTED if TensorFlow is too old, or has no library. `looked_at` (may be NULL) gets a
 * line for each searched place with the result, whether a library is found or not.
 *
 * A place that the user named is accepted or rejected; no other place is searched then. */
int library_find(const struct library_search *search, struct arena *arena,
		 struct library_place *ret_place, struct text *looked_at, struct err *err) MUST_USE;

#define LIBRARY_LEAST_VERSION "2.12"

/* For "2.21.0", "2.12.0rc1" …; false also if the text is no version. */
bool library_version_suffices(const char *version);
