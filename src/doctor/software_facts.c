/* Finds the Python that a job would get, and the frameworks among its packages. Nothing is started:
 * Python alone takes longer than all the rest. */
#include "base/text.h"
#include "doctor/facts.h"
#include "tensorflow/library_find.h"
#include "tensorflow/python_find.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* PEP 668: this file of the distribution says that pip must not change its Python. */
static bool is_managed(const struct python_place *python)
{
	char *prefix CLEANUP(mem_free_text) = mem_copy_text(python->interpreter);

	for (int n_parts = 2; n_parts; n_parts--) {
		char *slash = strrchr(prefix, '/');

		if (!slash)
			return false;
		*slash = '\0';
	}
	char *path CLEANUP(mem_free_text) = mem_format("%s/lib/python%s/EXTERNALLY-MANAGED", prefix,
						       python->version ? python->version : "3");

	return access(path, F_OK) == 0;
}

/* The version of a package in the first directory that has it; NULL: none has. */
static const char *package_version_of(const struct python_place *python, const char *name,
				      struct arena *arena)
{
	char *version CLEANUP(mem_free_text) = NULL;

	for (size_t i = 0; i < python->n_packages && !version; i++)
		if (package_find(python->packages[i], &name, 1, NULL, &version))
			break;
	return arena_copy_text(arena, version);
}

/* A package is installed if its modules exist; pip's metadata give its name. */
static void collect_tensorflow(struct doctor_tensorflow *tensorflow,
			       const struct python_place *python, struct arena *arena)
{
	for (size_t i = 0; i < python->n_packages && !tensorflow->is_installed; i++) {
		const char *folder = python->packages[i];
		char *modules CLEANUP(mem_free_text) =
			mem_format("%s/tensorflow/__init__.py", folder);
		char *name CLEANUP(mem_free_text) = NULL, *version CLEANUP(mem_free_text) = NULL;

		if (access(modules, R_OK) < 0)
			continue;
		if (!package_find(folder, tensorflow_package_names, n_tensorflow_package_names,
				  &name, &version))
			version = NULL;
		tensorflow->is_installed = true;
		tensorflow->package = arena_copy_text(arena, name);
		tensorflow->version = arena_copy_text(arena, version);
		tensorflow->folder = arena_copy_text(arena, folder);
	}
	tensorflow->tf_keras = package_version_of(python, "tf-keras", arena);
	tensorflow->scikit_learn = package_version_of(python, "scikit-learn", arena);
}

/* Where script/python-environment creates it. */
static const char *find_prepared(struct arena *arena)
{
	const char *cache = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");
	const char *path = arena_format(arena, "%s%s/muster/python/bin/activate",
					cache && *cache ? cache
					: home          ? home
							: "",
					cache && *cache ? "" : "/.cache");

	return access(path, R_OK) == 0 ? path : NULL;
}

static void collect_python(struct doctor_facts *facts, struct arena *arena)
{
	struct python_search search = python_search_here();
	struct python_place *place CLEANUP(python_place_cleanup) = NULL;
	struct doctor_python *python = &facts->python;
	struct err err;

	python->prepared = find_prepared(arena);
	if (search.virtual_env && *search.virtual_env)
		python->virtual_env = arena_copy_text(arena, search.virtual_env);
	if (python_find(&search, &place, &err)) {
		python->fault = arena_copy_text(arena, err.text);
		return;
	}
	python->interpreter = arena_copy_text(arena, place->interpreter);
	python->version = arena_copy_text(arena, place->version);
	python->is_virtual_env = place->is_virtual_env;
	python->is_managed = is_managed(place);
	collect_tensorflow(&facts->tensorflow, place, arena);
	facts->frameworks.torch = package_version_of(place, "torch", arena);
	facts->frameworks.jax = package_version_of(place, "jax", arena);
}

static void collect_library(struct doctor_library *library, struct arena *arena)
{
	struct library_search search = library_search_here(NULL);
	struct library_place *place CLEANUP(library_place_cleanup) = NULL;
	struct err err;

	if (library_find(&search, &place, NULL, &err)) {
		library->fault = arena_copy_text(arena, err.text);
		return;
	}
	library->path = arena_copy_text(arena, place->path);
	library->version = arena_copy_text(arena, place->version);
	library->origin = library_origin_words[place->origin];
}

void doctor_collect_software(struct doctor_facts *facts, struct arena *arena)
{
	collect_python(facts, arena);
	collect_library(&facts->library, arena);
}
