/* Folders of packages with what pip notes in them. */
#include "unit.h"

#include "base/mem.h"
#include "own_folder.h"
#include "tensorflow/python_find.h"

static char packages[OWN_FOLDER_SIZE];

static int begin(void **state)
{
	(void) state;
	own_folder_make(packages);
	return 0;
}

static int end(void **state)
{
	(void) state;
	own_folder_remove(packages);
	return 0;
}

static void put(const char *name)
{
	char *path CLEANUP(mem_free_text) = mem_format("%s/%s", packages, name);

	assert_int_equal(folder_create(path, NULL), 0);
}

static void assert_version(const char *name, const char *expected)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	const char *version = NULL;
	bool is_found = package_find(packages, &name, 1, arena, NULL, &version);

	assert_int_equal(is_found, expected != NULL);
	if (expected)
		assert_string_equal(version, expected);
}

TEST_WITH(begin, end, a_package_is_found_however_its_name_is_written)
{
	put("tf_keras-2.21.0.dist-info");
	put("Scikit.Learn-1.7.2.dist-info");
	assert_version("tf-keras", "2.21.0");
	assert_version("scikit-learn", "1.7.2");
}

TEST_WITH(begin, end, other_packages_and_other_folders_are_none)
{
	put("tf_keras");
	put("tf_keras_nightly-2.22.dist-info");
	put("tf-2.0.dist-info");
	put("tf_keras-2.21.0.egg-info");
	assert_version("tf-keras", NULL);
}

TEST_WITH(begin, end, a_folder_that_does_not_exist_has_none)
{
	const char *name = "tf-keras";
	const char *version = NULL;

	assert_false(package_find("/no/such/folder", &name, 1, NULL, NULL, &version));
	assert_null(version);
}

TEST_WITH(begin, end, any_of_tensorflows_packages_is_told_as_pip_writes_it)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	const char *name = NULL, *version = NULL;

	put("tensorflow_estimator-2.15.0.dist-info");
	put("tensorflow_cpu-2.21.0.dist-info");
	assert_true(tensorflow_package_find(packages, arena, &name, &version));
	assert_string_equal(name, "tensorflow-cpu");
	assert_string_equal(version, "2.21.0");
}
