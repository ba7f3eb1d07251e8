#include "tensorflow/library_find.h"

#include "io/folder.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#define WHEEL_LIBRARY "libtensorflow_cc.so.2"
#define PACKAGE_LIBRARY "libtensorflow.so.2"
#define INSTALL "pip install tensorflow-cpu (" LIBRARY_LEAST_VERSION " or later)"

const char *const library_origin_words[5] = {
	"--libtensorflow", LIBRARY_VARIABLE, "virtual environment", "python3", "system",
};

/* The wheel's file first: it contains the C package's functions, and surely the gRPC server. */
static const char *const library_names[] = {WHEEL_LIBRARY, PACKAGE_LIBRARY};

/* State of one search. */
struct finding {
	const struct library_search *search;
	struct arena *arena;
	struct library_place place; /* the result; without a path: none yet */
	struct text *looked_at;
	struct err unfit; /* an installed TensorFlow without a library; code 0: none found */
};

struct library_search library_search_here(const char *asked)
{
	return (struct library_search){
		.asked = asked,
		.variable = getenv(LIBRARY_VARIABLE),
		.library_path = getenv("LD_LIBRARY_PATH"),
		.system_root = "",
		.python = python_search_here(),
	};
}

static bool is_file(const char *path)
{
	struct stat status;

	return !stat(path, &status) && !S_ISDIR(status.st_mode);
}

static void select_library_file(struct finding *finding, const char *path,
				enum library_origin origin)
{
	static const char ending[] = "/tensorflow/" WHEEL_LIBRARY;
	struct library_place *place = &finding->place;

	*place = (struct library_place){arena_copy_text(finding->arena, path), origin};
	/* ".../site-packages" of ".../site-packages/tensorflow/libtensorflow_cc.so.2" */
	if (text_ends_with(path, ending)) {
		place->folder = arena_format(finding->arena, "%.*s",
					     (int) (strlen(path) - strlen(ending)), path);
		(void) tensorflow_package_find(place->folder, finding->arena, &place->package,
					       &place->version);
	}
	text_addf(finding->looked_at, "%s: %s\n", library_origin_words[origin], path);
}

/* Looks for the library's file in the directory itself. */
static bool find_library_in_folder(struct finding *finding, const char *folder,
				   enum library_origin origin)
{
	for (size_t i = 0; i < ARRAY_LEN(library_names); i++) {
		char *path CLEANUP(mem_free_text) = mem_format("%s/%s", folder, library_names[i]);

		if (!is_file(path))
			continue;
		select_library_file(finding, path, origin);
		return true;
	}
	return false;
}

/* Records an installed TensorFlow that lacks the library. */
static void note_unfit(struct finding *finding, const char *packages)
{
	const char *version = NULL;

	if (finding->unfit.code)
		return;
	bool is_broken = tensorflow_package_find(packages, finding->arena, NULL, &version) &&
			 library_version_suffices(version);

	err_set(&finding->unfit, ERR_UNSUPPORTED,
		"TensorFlow%s%s in %s has no libtensorflow_cc: %s", version ? " " : "",
		version ? version : "", packages,
		is_broken ? "reinstall it (" INSTALL ")"
			  : LIBRARY_LEAST_VERSION " or later is needed");
}

/* Looks for the wheel's file in one package directory. */
static bool find_library_in_packages(struct finding *finding, const char *packages,
				     enum library_origin origin)
{
	char *modules CLEANUP(mem_free_text) = mem_format("%s/tensorflow", packages);

	if (!folder_exists(modules))
		return false;
	if (find_library_in_folder(finding, modules, origin))
		return true;
	char *first CLEANUP(mem_free_text) = mem_format("%s/__init__.py", modules);

	if (is_file(first))
		note_unfit(finding, packages);
	return false;
}

static void search_python_packages(struct finding *finding, const struct python_place *python,
				   enum library_origin origin)
{
	for (size_t i = 0; i < python->n_packages; i++)
		if (find_library_in_packages(finding, python->packages[i], origin))
			return;
	text_addf(finding->looked_at, "%s: %s has no TensorFlow library in ",
		  library_origin_words[origin], python->interpreter);
	for (size_t i = 0; i < python->n_packages; i++)
		text_addf(finding->looked_at, "%s%s", i == 0 ? "" : ", ", python->packages[i]);
	text_add(finding->looked_at, python->n_packages ? "\n" : "any folder\n");
}

/* The active virtual environment, then python3, if it is another one. */
static void search_python_installs(struct finding *finding)
{
	const struct python_search *search = &finding->search->python;
	char *first CLEANUP(mem_free_text) = python_in_path(search->path);
	struct python_place python = {0};
	struct err err = {0};

	if (!python_find(search, finding->arena, &python, NULL) && python.is_virtual_env)
		search_python_packages(finding, &python, LIBRARY_VIRTUAL_ENV);
	else
		text_add(finding->looked_at, "virtual environment: none active\n");
	if (finding->place.path)
		return;
	if (!first)
		text_add(finding->looked_at, "python3: not found in PATH\n");
	else if (!text_equals(first, python.interpreter) &&
		 python_ask(first, finding->arena, &python, &err) < 0)
		text_addf(finding->looked_at, "python3: %s\n", err.text);
	else if (!python.is_virtual_env)
		search_python_packages(finding, &python, LIBRARY_PYTHON);
}

#if defined(__x86_64__)
#define MULTIARCH "x86_64-linux-gnu"
#elif defined(__aarch64__)
#define MULTIARCH "aarch64-linux-gnu"
#else
#define MULTIARCH "lib"
#endif

static void search_system_libraries(struct finding *finding)
{
	static const char *const folders[] = {
		"/usr/local/lib", "/usr/local/lib/" MULTIARCH, "/usr/lib", "/usr/lib/" MULTIARCH,
		"/usr/lib64",     "/usr/local/lib64",
	};
	char *list CLEANUP(mem_free_text) = mem_copy_text(finding->search->library_path);
	char *rest = list;

	for (char *folder; !finding->place.path && (folder = strsep(&rest, ":"));)
		if (folder[0])
			find_library_in_folder(finding, folder, LIBRARY_SYSTEM);
	for (size_t i = 0; i < ARRAY_LEN(folders) && !finding->place.path; i++) {
		char *folder CLEANUP(mem_free_text) =
			mem_format("%s%s", finding->search->system_root, folders[i]);

		find_library_in_folder(finding, folder, LIBRARY_SYSTEM);
	}
	if (!finding->place.path)
		text_add(finding->looked_at, "system: no " WHEEL_LIBRARY " and no " PACKAGE_LIBRARY
					     " in LD_LIBRARY_PATH, /usr/local/lib and /usr/lib\n");
}

/* A named place is accepted or rejected. As a directory it is the library's own, one with `lib` in
 * it (the unpacked C package), a package directory, or a virtual environment. */
static int find_named_library(struct finding *finding, const char *named,
			      enum library_origin origin, struct err *err)
{
	const char *by = library_origin_words[origin];
	char *lib CLEANUP(mem_free_text) = mem_format("%s/lib", named);
	struct python_search inside = {.virtual_env = named};
	struct python_place python;
	struct stat status;

	if (stat(named, &status)) {
		if (errno == ENOENT || errno == ENOTDIR)
			return err_set(err, ERR_NOT_FOUND, "%s: '%s' not found", by, named);
		return err_set_errno(err, errno, "%s: '%s'", by, named);
	}
	if (!S_ISDIR(status.st_mode)) {
		char *path CLEANUP(mem_free_text) = realpath(named, NULL);

		select_library_file(finding, path ? path : named, origin);
		return 0;
	}
	if (!find_library_in_folder(finding, named, origin) &&
	    !find_library_in_folder(finding, lib, origin) &&
	    !find_library_in_packages(finding, named, origin) &&
	    !python_find(&inside, finding->arena, &python, NULL))
		search_python_packages(finding, &python, origin);
	if (finding->place.path)
		return 0;
	if (finding->unfit.code)
		return err_set(err, ERR_UNSUPPORTED, "%s: %s", by, finding->unfit.text);
	return err_set(err, ERR_NOT_FOUND, "%s: no " WHEEL_LIBRARY " in directory '%s'", by, named);
}

static int search_library_places(struct finding *finding, struct err *err)
{
	search_python_installs(finding);
	if (!finding->place.path)
		search_system_libraries(finding);
	if (finding->place.path)
		return 0;
	if (finding->unfit.code)
		return err_set(err, ERR_UNSUPPORTED, "%s", finding->unfit.text);
	return err_set(err, ERR_NOT_FOUND,
		       "TensorFlow not found; install it (" INSTALL
		       "), or name its library with --libtensorflow");
}

int library_find(const struct library_search *search, struct arena *arena,
		 struct library_place *ret_place, struct text *looked_at, struct err *err)
{
	struct text unseen CLEANUP(text_done) = {0};
	struct finding finding = {
		.search = search, .arena = arena, .looked_at = looked_at ? looked_at : &unseen};
	const char *asked = search->asked, *variable = search->variable;
	int rc = asked && *asked ? find_named_library(&finding, asked, LIBRARY_ASKED, err)
		 : variable && *variable
			 ? find_named_library(&finding, variable, LIBRARY_VARIABLE_SET, err)
			 : search_library_places(&finding, err);

	if (!rc)
		*ret_place = finding.place;
	return rc;
}

#define LEAST_MAJOR 2
#define LEAST_MINOR 12

bool library_version_suffices(const char *version)
{
	int major = 0, minor = 0;

	if (sscanf(version, "%d.%d", &major, &minor) != 2)
		return false;
	return major > LEAST_MAJOR || (major == LEAST_MAJOR && minor >= LEAST_MINOR);
}
