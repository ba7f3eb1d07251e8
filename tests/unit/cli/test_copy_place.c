#include "unit.h"

#include "cli/replica_name.h"

static void assert_in_job(const char *text, const char *namespace_name, const char *job,
			  const char *role, int index, const char *path)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct copy_place place;

	copy_place_read(text, arena, &place);
	if (namespace_name)
		assert_string_equal(place.namespace_name, namespace_name);
	else
		assert_null(place.namespace_name);
	assert_string_equal(place.job, job);
	assert_string_equal(place.role, role);
	assert_int_equal(place.index, index);
	assert_string_equal(place.path, path);
}

TEST(a_place_names_a_job_a_replica_and_a_path)
{
	assert_in_job("digits:worker-0:/models", NULL, "digits", "worker", 0, "/models");
	assert_in_job("digits:worker-12:out", NULL, "digits", "worker", 12, "out");
	assert_in_job("a-b:ps-0:", NULL, "a-b", "ps", 0, "");
	assert_in_job("kubernetes/team/digits:chief-0:/a:b", "team", "digits", "chief", 0, "/a:b");
}

TEST(a_job_of_this_machine_is_told_apart)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct copy_place place;

	copy_place_read("local/digits:worker-0:/models", arena, &place);
	assert_true(place.is_here);
	assert_string_equal(place.job, "digits");
}

TEST(anything_else_is_a_path_of_this_machine)
{
	static const char *const paths[] = {
		"models",
		"./digits:worker-0:/models",
		"/a:worker-0:/b",
		"digits:/models",
		"digits:worker:/x",
		"digits:worker-:/x",
		"digits:-0:/x",
		"digits:worker-x:/x",
		":worker-0:/x",
		"elsewhere/team/digits:worker-0:/x",
		"kubernetes/:ps-0:",
		"kubernetes/digits:worker-0:/x",
		"local/:ps-0:/x",
		"digits:worker-99999999999:/x",
		"",
	};

	struct arena *arena CLEANUP(arena_cleanup) = arena_new();

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		struct copy_place place;

		copy_place_read(paths[i], arena, &place);
		assert_null(place.job);
		assert_string_equal(place.path, paths[i]);
	}
}
