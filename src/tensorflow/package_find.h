/* Finds what pip recorded about a package (packaging.python.org, "Recording installed projects"): a
 * directory NAME-VERSION.dist-info next to the package's own. */
#pragma once

#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>

/* Finds the first of these packages in a package directory. Names ignore case and treat '-', '_'
 * and '.' alike. *ret_name (may be NULL) is in pip's spelling ("tensorflow-cpu"); the caller frees
 * both. Returns false if there is none. */
bool package_find(const char *folder, const char *const *names, size_t n_names, char **ret_name,
		  char **ret_version) MUST_USE;

/* Packages whose module directory is `tensorflow`. */
extern const char *const tensorflow_package_names[];
extern const size_t n_tensorflow_package_names;
