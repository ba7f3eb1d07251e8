/* The user's Python and its package directories, as this Python itself reports them: virtual
 * environments, .pth files, conda, pyenv and the distributions' own rules are its business. Asking
 * it takes 20 ms. */
#pragma once

#include "base/err.h"
#include "base/mem.h"

/* The relevant environment. Texts are borrowed; NULL or "": not set. */
struct python_search {
	const char *virtual_env; /* VIRTUAL_ENV: the active virtual environment */
	const char *path; /* PATH */
};

/* The environment of this process. */
struct python_search python_search_here(void);

/* In an arena. */
struct python_place {
	const char *interpreter; /* "/home/me/.venv/bin/python3" */
	const char *version; /* "3.11" */
	const char **packages; /* existing directories that it imports from, in its order */
	size_t n_packages;
	bool is_virtual_env; /* it is the one of VIRTUAL_ENV */
};

/* The first python3, else the first python, in a list of directories as PATH is, or NULL. NULL:
 * none is there. Caller frees. */
char *python_in_path(const char *path);
/* The environment of this process without the empty elements of PYTHONPATH, which mean the current
 * directory. Caller frees the list, and its texts belong to the arena or to the process. */
char **python_environment(struct arena *arena);
/* Asks an interpreter. ERR_INVALID: it fails, or is not Python; its own words went to stderr.
 * Otherwise as program_call_wait. */
int python_ask(const char *interpreter, struct arena *arena, struct python_place *ret_place,
	       struct err *err) MUST_USE;
/* Asks the one of VIRTUAL_ENV, else the one in PATH. Also ERR_NOT_FOUND: there is none. */
int python_find(const struct python_search *search, struct arena *arena,
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
