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

/* A Python whose packages are in that directory, and whose sitecustomize prints. */
static void make_python(const struct tree *tree, const char *path, const char *packages)
{
	char *script CLEANUP(mem_free_text) = mem_format(
		"#!/bin/sh\necho hello\necho muster asks: 3.11\necho %s%s\n", tree->root, packages);

	make_file(tree, path, script);
}

static void make_venv(const struct tree *tree, const char *folder)
{
	char *python CLEANUP(mem_free_text) = mem_format("%s/bin/python3", folder);
	char *packages CLEANUP(mem_free_text) = mem_format("%s" WHEEL, folder);

	make_python(tree, python, packages);
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

	make_venv(tree, "/venv");
	make_wheel(tree, "/usr" WHEEL, "tensorflow-2.15.1.dist-info");
	make_python(tree, "/usr/bin/python3", "/usr" WHEEL);
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

	make_venv(tree, "/venv");
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

	make_venv(tree, "/venv");
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

	make_venv(tree, "/venv");
	make_file(tree, "/venv" WHEEL "/tensorflow/__init__.py", "");
	make_file(tree, "/venv" WHEEL "/tensorflow-2.12.0.dist-info/METADATA", "");
	search.python.virtual_env = in(tree, "/venv");
	assert_not_found(&search, ERR_UNSUPPORTED, "has no libtensorflow_cc: reinstall it");
}

static void assert_python(const struct tree *tree, const struct python_search *search,
			  const char *interpreter, const char *packages)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct python_place place;
	struct err err = {0};

	if (python_find(search, arena, &place, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(place.interpreter + strlen(tree->root), interpreter);
	assert_string_equal(place.version, "3.11");
	assert_int_equal(place.n_packages, 1);
	assert_string_equal(place.packages[0] + strlen(tree->root), packages);
}

TREE_TEST(python_is_that_of_the_virtual_environment_else_the_first_in_path)
{
	char *path CLEANUP(mem_free_text) =
		mem_format("%s/none:%s/first:%s/second", tree->root, tree->root, tree->root);
	struct python_search search = {.virtual_env = in(tree, "/venv"), .path = path};
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct python_place place;

	assert_int_equal(python_find(&search, arena, &place, NULL), ERR_NOT_FOUND);
	make_python(tree, "/first/python", "/a");
	assert_python(tree, &search, "/first/python", "/a");
	make_python(tree, "/second/python3", "/b");
	assert_python(tree, &search, "/second/python3", "/b");
	make_python(tree, "/venv/bin/python", "/c");
	assert_python(tree, &search, "/venv/bin/python", "/c");
}

TREE_TEST(a_python_that_does_not_answer_is_an_error)
{
	struct python_search search = {.path = in(tree, "/bin")};
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct python_place place;
	struct err err = {0};

	make_file(tree, "/bin/python3", "#!/bin/sh\nexit 3\n");
	assert_int_equal(python_find(&search, arena, &place, &err), ERR_INVALID);
	assert_non_null(strstr(err.text, "/bin/python3 does not work: "));
	make_file(tree, "/bin/python3", "#!/bin/sh\n");
	assert_int_equal(python_find(&search, arena, &place, &err), ERR_INVALID);
	assert_non_null(strstr(err.text, "/bin/python3 is not Python"));
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
