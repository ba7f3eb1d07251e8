/* Finds the user's Python and its package directories without starting it: Python takes 20 ms to
 * start, TensorFlow 2 s.
 *
 * Follows Python's own rules (docs.python.org: "site", "venv"; Modules/getpath.py) and Debian's
 * (dist-packages). Not supported: .pth files, a `python3` that is a custom wrapper (pyenv's is
 * supported). */
#pragma once

#include "base/err.h"
#include "base/mem.h"

/* The relevant environment. Texts are borrowed; NULL or "": not set. */
struct python_search {
	const char *virtual_env; /* VIRTUAL_ENV: the active virtual environment */
	const char *path; /* PATH */
	const char *home; /* HOME */
	const char *python_path; /* PYTHONPATH */
	const char *user_base; /* PYTHONUSERBASE */
	const char *pyenv_version; /* PYENV_VERSION */
};

/* The environment of this process. */
struct python_search python_search_here(void);

/* In an arena. */
struct python_place {
	const char *interpreter; /* "/home/me/.venv/bin/python3" */
	const char *version; /* "3.11"; NULL: not visible from its directories */
	const char **packages; /* existing package directories, in Python's search order */
	size_t n_packages;
	bool is_virtual_env; /* it is the one of VIRTUAL_ENV */
};

/* The Python of VIRTUAL_ENV, else the first python3 (python) in PATH; else ERR_NOT_FOUND. */
int python_find(const struct python_search *search, struct arena *arena,
		struct python_place *ret_place, struct err *err) MUST_USE;
/* The first python3 (python) in PATH, regardless of VIRTUAL_ENV. */
int python_find_in_path(const struct python_search *search, struct arena *arena,
			struct python_place *ret_place, struct err *err) MUST_USE;

/* Finds the first of these packages in a package directory, by what pip recorded about it
 * (packaging.python.org, "Recording installed projects"): a directory NAME-VERSION.dist-info next
 * to the package's own. Names ignore case and treat '-', '_' and '.' alike. *ret_name (may be NULL)
 * is in pip's spelling ("tensorflow-cpu"); the version is in the arena. Without one it returns
 * false, and both stay unchanged. */
bool package_find(const char *folder, const char *const *names, size_t n_names, struct arena *arena,
		  const char **ret_name, const char **ret_version);

/* The same for the packages whose modules are in a directory `tensorflow`. */
bool tensorflow_package_find(const char *folder, struct arena *arena, const char **ret_name,
			     const char **ret_version);
/* The first package directory of this Python that has these modules; NULL: none has. */
const char *python_tensorflow_folder(const struct python_place *place);

/* The version of a package in the first directory of this Python that has it; NULL: none has. */
const char *python_package_version(const struct python_place *place, const char *name,
				   struct arena *arena);
