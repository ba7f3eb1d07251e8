/* Finds what pip noted about a package (packaging.python.org, "Recording installed projects"): a
 * folder NAME-VERSION.dist-info beside the package's own. */
#pragma once

#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>

/* The first of the packages of these names that a folder of packages has. Case, and '-', '_' and
 * '.', are the same in names. *ret_name (may be NULL) is as pip writes it ("tensorflow-cpu"); the
 * caller frees both. False when there is none. */
bool package_find(const char *folder, const char *const *names, size_t n_names, char **ret_name,
		  char **ret_version) MUST_USE;

/* Packages whose folder of modules is `tensorflow`. */
extern const char *const tensorflow_package_names[];
extern const size_t n_tensorflow_package_names;
