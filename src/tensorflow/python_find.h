/* Finds the Python that a person would get, and the folders of its packages, without starting it:
 * Python takes 20 ms to say hello, TensorFlow's 2 s.
 *
 * Follows Python's own rules (docs.python.org: "site", "venv"; Modules/getpath.py) and Debian's
 * (dist-packages). Not followed: .pth files, `python3` that is a wrapper of its own (pyenv's is
 * known). */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>

/* What of the surroundings decides. Texts are borrowed; NULL or "": not set. */
struct python_search {
	const char *virtual_env; /* VIRTUAL_ENV: the active virtual environment */
	const char *path; /* PATH */
	const char *home; /* HOME */
	const char *python_path; /* PYTHONPATH */
	const char *user_base; /* PYTHONUSERBASE */
	const char *pyenv_version; /* PYENV_VERSION */
};

/* The surroundings of this process. */
struct python_search python_search_here(void);

struct python_place {
	char *interpreter; /* "/home/me/.venv/bin/python3" */
	char *version; /* "3.11"; NULL when its folders do not tell */
	char **packages; /* folders of packages that exist, in the order in which Python looks */
	size_t n_packages;
	bool is_virtual_env; /* it is that of VIRTUAL_ENV */
};

/* The Python of VIRTUAL_ENV, else the first python3 (python) in PATH. ERR_NOT_FOUND. */
int python_find(const struct python_search *search, struct python_place **ret_place,
		struct err *err) MUST_USE;
/* The first python3 (python) in PATH, whatever VIRTUAL_ENV says. */
int python_find_in_path(const struct python_search *search, struct python_place **ret_place,
			struct err *err) MUST_USE;
void python_place_free(struct python_place *place); /* NULL is fine */
void python_place_cleanup(struct python_place **place);
