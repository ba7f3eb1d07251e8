/* Finding Python and TensorFlow's library in trees of files that are made for each test. */
#include "unit.h"

#include "base/mem.h"
#include "base/text.h"
#include "io/folder.h"
#include "own_folder.h"
#include "tensorflow/library_find.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define WHEEL "/lib/python3.11/site-packages"

struct tree {
	char root[OWN_FOLDER_SIZE];
	char *texts[8]; /* what searches borrow */
	size_t n_texts;
};

static int make_tree(void **state)
{
	struct tree *tree = mem_new(sizeof(*tree));

	own_folder_make(tree->root);
	*state = tree;
	return 0;
}

static int remove_tree(void **state)
{
	struct tree *tree = *state;

	own_folder_remove(tree->root);
	for (size_t i = 0; i < tree->n_texts; i++)
		free(tree->texts[i]);
	free(tree);
	return 0;
}

/* The path of something in the tree, which lives as long as the tree. */
static const char *in(struct tree *tree, const char *path)
{
	assert_in_range(tree->n_texts, 0, ARRAY_LEN(tree->texts) - 1);
	return tree->texts[tree->n_texts++] = mem_format("%s%s", tree->root, path);
}

static void make_parents(const char *path)
{
	char *folder CLEANUP(mem_free_text) = mem_copy_text(path);

	*strrchr(folder, '/') = '\0';
	assert_int_equal(folder_create(folder, NULL), 0);
}

static void make_file(const struct tree *tree, const char *path, const char *content)
{
	char *whole CLEANUP(mem_free_text) = mem_format("%s%s", tree->root, path);

	make_parents(whole);
	FILE *file = fopen(whole, "w");

	assert_non_null(file);
	assert_true(fputs(content, file) >= 0);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(whole, 0755), 0);
}

static void make_link(const struct tree *tree, const char *path, const char *target)
{
	char *whole CLEANUP(mem_free_text) = mem_format("%s%s", tree->root, path);

	make_parents(whole);
	assert_int_equal(symlink(target, whole), 0);
}

/* TensorFlow as pip leaves it in a folder of packages. */
static void make_wheel(const struct tree *tree, const char *packages, const char *dist_info)
{
	char *modules CLEANUP(mem_free_text) = mem_format("%s/tensorflow/__init__.py", packages);
	char *library CLEANUP(mem_free_text) =
		mem_format("%s/tensorflow/libtensorflow_cc.so.2", packages);
	char *other CLEANUP(mem_free_text) =
		mem_format("%s/tensorflow_estimator-2.15.0.dist-info/METADATA", packages);
	char *info CLEANUP(mem_free_text) = mem_format("%s/%s/METADATA", packages, dist_info);

	make_file(tree, modules, "");
	make_file(tree, library, "library");
	make_file(tree, other, "");
	make_file(tree, info, "");
}

/* As `python3 -m venv` makes it. */
static void make_venv(const struct tree *tree, const char *folder, const char *more_settings)
{
	char *python CLEANUP(mem_free_text) = mem_format("%s/bin/python3", folder);
	char *settings CLEANUP(mem_free_text) = mem_format("%s/pyvenv.cfg", folder);
	char *packages CLEANUP(mem_free_text) = mem_format("%s" WHEEL "/x", folder);
	char *content CLEANUP(mem_free_text) =
		mem_format("home = %s/usr/bin\nversion = 3.11.2\n%s", tree->root, more_settings);

	make_file(tree, "/usr/bin/python3.11", "");
	make_link(tree, python, "../../usr/bin/python3.11");
	make_file(tree, settings, content);
	make_file(tree, packages, "");
}

static void assert_found(const struct tree *tree, const struct library_search *search,
			 enum library_origin origin, const char *path, const char *version,
			 const char *package)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct library_place place;
	char *wanted CLEANUP(mem_free_text) = mem_format("%s%s", tree->root, path);
	struct err err = {0};

	if (library_find(search, arena, &place, NULL, &err))
		fail_msg("%s", err.text);
	assert_string_equal(place.path, wanted);
	assert_int_equal(place.origin, origin);
	assert_true(text_equals(place.version, version));
	assert_true(text_equals(place.package, package));
	assert_int_equal(place.folder != NULL, version != NULL);
}

static void assert_not_found(const struct library_search *search, int code, const char *part)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct library_place place = {0};
	struct err err = {0};

	assert_int_equal(library_find(search, arena, &place, NULL, &err), code);
	assert_null(place.path);
	if (!strstr(err.text, part))
		fail_msg("'%s' is not in '%s'", part, err.text);
}

#define TREE_TEST(name) TEST_IN(make_tree, remove_tree, struct tree *tree, name)

TREE_TEST(nothing_anywhere_says_what_to_install_and_where_was_looked)
{
	struct library_search search = {.system_root = tree->root};
	struct text looked_at CLEANUP(text_done) = {0};
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct library_place place;
	struct err err = {0};

	assert_int_equal(library_find(&search, arena, &place, &looked_at, &err), ERR_NOT_FOUND);
	assert_non_null(strstr(err.text, "pip install tensorflow-cpu"));
	assert_string_equal(text_of(&looked_at),
			    "virtual environment: none active\n"
			    "python3: not found in PATH\n"
			    "system: no libtensorflow_cc.so.2 and no libtensorflow.so.2 in "
			    "LD_LIBRARY_PATH, /usr/local/lib and /usr/lib\n");
}

TREE_TEST(each_place_goes_before_those_that_follow)
{
	struct library_search search = {.system_root = tree->root};

	make_file(tree, "/usr/lib/libtensorflow.so.2", "");
	assert_found(tree, &search, LIBRARY_SYSTEM, "/usr/lib/libtensorflow.so.2", NULL, NULL);
	make_file(tree, "/usr/local/lib/libtensorflow_cc.so.2", "");
	assert_found(tree, &search, LIBRARY_SYSTEM, "/usr/local/lib/libtensorflow_cc.so.2", NULL,
		     NULL);
	make_file(tree, "/mine/libtensorflow.so.2", "");
	search.library_path = in(tree, "/mine");
	assert_found(tree, &search, LIBRARY_SYSTEM, "/mine/libtensorflow.so.2", NULL, NULL);

	make_venv(tree, "/venv", "");
	make_wheel(tree, "/usr" WHEEL, "tensorflow-2.15.1.dist-info");
	make_link(tree, "/usr/bin/python3", "python3.11");
	search.python.path = in(tree, "/usr/bin");
	assert_found(tree, &search, LIBRARY_PYTHON,
		     "/usr" WHEEL "/tensorflow/libtensorflow_cc.so.2", "2.15.1", "tensorflow");

	make_wheel(tree, "/venv" WHEEL, "tensorflow_cpu-2.21.0.dist-info");
	search.python.virtual_env = in(tree, "/venv");
	assert_found(tree, &search, LIBRARY_VIRTUAL_ENV,
		     "/venv" WHEEL "/tensorflow/libtensorflow_cc.so.2", "2.21.0", "tensorflow-cpu");

	search.variable = in(tree, "/usr/lib/libtensorflow.so.2");
	assert_found(tree, &search, LIBRARY_VARIABLE_SET, "/usr/lib/libtensorflow.so.2", NULL,
		     NULL);
	search.asked = in(tree, "/usr/local/lib/libtensorflow_cc.so.2");
	assert_found(tree, &search, LIBRARY_ASKED, "/usr/local/lib/libtensorflow_cc.so.2", NULL,
		     NULL);
}

TREE_TEST(what_was_named_may_be_a_folder)
{
	static const char *const folders[] = {"/venv", "/venv" WHEEL, "/venv" WHEEL "/tensorflow"};

	make_venv(tree, "/venv", "");
	make_wheel(tree, "/venv" WHEEL, "tf_nightly-2.22.0.dev1.dist-info");
	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		struct library_search search = {.asked = in(tree, folders[i])};

		assert_found(tree, &search, LIBRARY_ASKED,
			     "/venv" WHEEL "/tensorflow/libtensorflow_cc.so.2", "2.22.0.dev1",
			     "tf-nightly");
	}
	make_file(tree, "/opt/tf/lib/libtensorflow.so.2", "");
	struct library_search package = {.asked = in(tree, "/opt/tf")};

	assert_found(tree, &package, LIBRARY_ASKED, "/opt/tf/lib/libtensorflow.so.2", NULL, NULL);
}

TREE_TEST(what_was_named_is_taken_or_refused)
{
	struct library_search search = {.system_root = tree->root};

	make_file(tree, "/usr/lib/libtensorflow.so.2", "");
	make_file(tree, "/empty/x", "");
	search.asked = in(tree, "/nowhere.so");
	assert_not_found(&search, ERR_NOT_FOUND, "--libtensorflow: '");
	assert_not_found(&search, ERR_NOT_FOUND, "/nowhere.so' not found");
	search.asked = in(tree, "/empty");
	assert_not_found(&search, ERR_NOT_FOUND,
			 "--libtensorflow: no libtensorflow_cc.so.2 in directory '");
	search.asked = NULL;
	search.variable = in(tree, "/nowhere.so");
	assert_not_found(&search, ERR_NOT_FOUND, "MUSTER_LIBTENSORFLOW: '");
}

TREE_TEST(a_tensorflow_that_is_too_old_is_named_unless_a_newer_one_is_found)
{
	struct library_search search = {.system_root = tree->root};

	make_venv(tree, "/venv", "");
	make_file(tree, "/venv" WHEEL "/tensorflow/__init__.py", "");
	make_file(tree, "/venv" WHEEL "/tensorflow_cpu-2.11.1.dist-info/METADATA", "");
	search.python.virtual_env = in(tree, "/venv");
	assert_not_found(&search, ERR_UNSUPPORTED, "TensorFlow 2.11.1 in ");
	assert_not_found(&search, ERR_UNSUPPORTED,
			 "has no libtensorflow_cc: 2.12 or later is needed");
	search.asked = search.python.virtual_env;
	assert_not_found(&search, ERR_UNSUPPORTED, "--libtensorflow: TensorFlow 2.11.1 in ");
	search.asked = NULL;
	make_file(tree, "/usr/lib/libtensorflow.so.2", "");
	assert_found(tree, &search, LIBRARY_SYSTEM, "/usr/lib/libtensorflow.so.2", NULL, NULL);
}

TREE_TEST(a_new_tensorflow_without_its_library_is_broken)
{
	struct library_search search = {.system_root = tree->root};

	make_venv(tree, "/venv", "");
	make_file(tree, "/venv" WHEEL "/tensorflow/__init__.py", "");
	make_file(tree, "/venv" WHEEL "/tensorflow-2.12.0.dist-info/METADATA", "");
	search.python.virtual_env = in(tree, "/venv");
	assert_not_found(&search, ERR_UNSUPPORTED, "has no libtensorflow_cc: reinstall it");
}

/* The folders of packages, the root taken away, a line each. */
static char *packages_of(const struct tree *tree, const struct python_search *search)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct python_place place;
	struct text text = {0};

	assert_int_equal(python_find(search, arena, &place, NULL), 0);
	assert_string_equal(place.version, "3.11");
	for (size_t i = 0; i < place.n_packages; i++)
		text_addf(&text, "%s\n", place.packages[i] + strlen(tree->root));
	return text_take(&text);
}

TREE_TEST(python_of_debian_looks_at_the_users_packages_then_at_dist_packages)
{
	struct python_search search = {.path = in(tree, "/usr/bin"), .home = in(tree, "/home")};

	make_file(tree, "/usr/bin/python3.11", "");
	make_link(tree, "/usr/bin/python3", "python3.11");
	make_file(tree, "/home/.local" WHEEL "/x", "");
	make_file(tree, "/usr/local/lib/python3.11/dist-packages/x", "");
	make_file(tree, "/usr/lib/python3/dist-packages/x", "");
	make_file(tree, "/more/x", "");
	char *packages CLEANUP(mem_free_text) = packages_of(tree, &search);

	assert_string_equal(packages, "/home/.local" WHEEL "\n"
				      "/usr/local/lib/python3.11/dist-packages\n"
				      "/usr/lib/python3/dist-packages\n");
	search.python_path = in(tree, "/more");
	search.user_base = in(tree, "/nobody");
	char *others CLEANUP(mem_free_text) = packages_of(tree, &search);

	assert_string_equal(others, "/more\n"
				    "/usr/local/lib/python3.11/dist-packages\n"
				    "/usr/lib/python3/dist-packages\n");
}

TREE_TEST(a_virtual_environment_sees_its_base_where_it_says_so)
{
	struct python_search search = {.virtual_env = in(tree, "/venv"), .home = in(tree, "/home")};

	make_venv(tree, "/venv", "include-system-site-packages = false\n");
	make_file(tree, "/home/.local" WHEEL "/x", "");
	make_file(tree, "/usr/lib/python3/dist-packages/x", "");
	make_link(tree, "/venv/lib64", "lib");
	char *alone CLEANUP(mem_free_text) = packages_of(tree, &search);

	assert_string_equal(alone, "/venv" WHEEL "\n");
	make_file(tree, "/venv/pyvenv.cfg", "");
	char *settings CLEANUP(mem_free_text) = mem_format(
		"home = %s/usr/bin\r\ninclude-system-site-packages = True\r\n", tree->root);

	make_file(tree, "/venv/pyvenv.cfg", settings);
	char *both CLEANUP(mem_free_text) = packages_of(tree, &search);

	assert_string_equal(both, "/venv" WHEEL "\n/home/.local" WHEEL "\n"
				  "/usr/lib/python3/dist-packages\n");
}

TREE_TEST(the_python_of_a_virtual_environment_in_path_is_known_by_its_settings)
{
	struct python_search search = {.path = in(tree, "/venv/bin")};

	make_venv(tree, "/venv", "");
	char *packages CLEANUP(mem_free_text) = packages_of(tree, &search);

	assert_string_equal(packages, "/venv" WHEEL "\n");
}

TREE_TEST(behind_a_shim_of_pyenv_stands_the_version_that_it_would_take)
{
	struct python_search search = {.path = in(tree, "/pyenv/shims")};
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct python_place place;

	make_file(tree, "/pyenv/shims/python3", "#!/bin/sh\n");
	make_file(tree, "/pyenv/version", "3.11.7\n");
	assert_int_equal(python_find(&search, arena, &place, NULL), ERR_NOT_FOUND);
	make_file(tree, "/pyenv/versions/3.11.7/bin/python3.11", "");
	make_link(tree, "/pyenv/versions/3.11.7/bin/python3", "python3.11");
	make_file(tree, "/pyenv/versions/3.11.7" WHEEL "/x", "");
	char *packages CLEANUP(mem_free_text) = packages_of(tree, &search);

	assert_string_equal(packages, "/pyenv/versions/3.11.7" WHEEL "\n");
	search.pyenv_version = "system";
	assert_int_equal(python_find(&search, arena, &place, NULL), ERR_NOT_FOUND);
}

TREE_TEST(a_version_that_no_name_tells_is_read_from_the_folders)
{
	struct python_search search = {.path = in(tree, "/opt/bin")};

	make_file(tree, "/opt/bin/python3", "");
	make_file(tree, "/opt/lib/python3.9/site-packages/x", "");
	make_file(tree, "/opt" WHEEL "/x", "");
	make_file(tree, "/opt/lib/python3.8/x", "");
	make_file(tree, "/opt/lib/python3.12-old/x", "");
	char *packages CLEANUP(mem_free_text) = packages_of(tree, &search);

	assert_string_equal(packages, "/opt" WHEEL "\n");
}

TEST(versions_are_new_enough_from_2_12_on)
{
	static const char *const enough[] = {"2.12", "2.12.0rc1", "2.21.0", "3.0", "10.1"};
	static const char *const old[] = {"2.11.1", "2.9", "1.15.5", "0.12", "2", "", "new"};

	for (size_t i = 0; i < ARRAY_LEN(enough); i++)
		assert_true(library_version_suffices(enough[i]));
	for (size_t i = 0; i < ARRAY_LEN(old); i++)
		assert_false(library_version_suffices(old[i]));
}
