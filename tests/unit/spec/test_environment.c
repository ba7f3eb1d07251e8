#include "unit.h"

#include "environment_get.h"

#include "base/mem.h"
#include "spec/environment.h"

TEST(a_name_is_there_once)
{
	struct environment environment CLEANUP(environment_done) = {0};

	environment_set(&environment, "A", "1");
	environment_set(&environment, "AB", "2");
	environment_set(&environment, "A", "3");
	environment_set(&environment, "AB", "x=y");

	assert_int_equal(environment.count, 2);
	assert_string_equal(environment.entries[0], "A=3");
	assert_string_equal(environment.entries[1], "AB=x=y");
	assert_null(environment.entries[2]);
	assert_null(environment_get(&environment, "B"));
}

/* Rows of Kubernetes' own expand_test.go among them. */
TEST(expansion_is_that_of_kubernetes)
{
	static const struct {
		const char *text;
		const char *expanded;
	} rows[] = {
		{"", ""},
		{"plain", "plain"},
		{"$(A)", "1"},
		{"---$(A)---$(B)", "---1---two"},
		{"$(A)$(A)", "11"},
		{"$(EMPTY)", ""},
		{"$(UNKNOWN)", "$(UNKNOWN)"},
		{"$$(A)", "$(A)"},
		{"$$$(A)", "$1"},
		{"$$$$(A)", "$$(A)"},
		{"$$", "$"},
		{"$A", "$A"},
		{"${A}", "${A}"},
		{"$", "$"},
		{"foo$", "foo$"},
		{"$(", "$("},
		{"$(A", "$(A"},
		{"$()", "$()"},
		{"$($(A))", "$($(A))"},
		{"$x$(A)", "$x1"},
		{"\n$(A)\n", "\n1\n"},
		{"$(NESTED)", "$(A)"},
		{"$\xc3\xa9$(B)", "$\xc3\xa9two"},
	};
	struct environment environment CLEANUP(environment_done) = {0};

	environment_set(&environment, "A", "1");
	environment_set(&environment, "B", "two");
	environment_set(&environment, "EMPTY", "");
	environment_set(&environment, "NESTED", "$(A)");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char *expanded CLEANUP(mem_free_text) =
			environment_expand(&environment, rows[i].text);

		assert_string_equal(expanded, rows[i].expanded);
	}
}

TEST(values_see_what_stands_before_them)
{
	const struct env_entry env[] = {
		{"LATER", "$(HOST)"}, {"HOST", "h"},        {"URL", "http://$(HOST):$(RANK)"},
		{"SECRET", NULL},     {"HOST", "$(HOST)2"}, {"RANK", "x$(RANK)"},
	};
	const struct container container = {.env = env, .n_env = ARRAY_LEN(env)};
	struct environment environment CLEANUP(environment_done) = {0};

	environment_set(&environment, "RANK", "7");
	environment_add_container(&environment, &container);

	assert_string_equal(environment_get(&environment, "LATER"), "$(HOST)");
	assert_string_equal(environment_get(&environment, "URL"), "http://h:7");
	assert_string_equal(environment_get(&environment, "HOST"), "h2");
	assert_string_equal(environment_get(&environment, "RANK"), "x7");
	assert_null(environment_get(&environment, "SECRET"));
}

TEST(what_is_literal_comes_back_as_it_was)
{
	static const char *const texts[] = {"",          "$",  "$$",    "$$$",
					    "a$(HOME)b", "$(", "$$(A)", "100$"};
	struct environment environment CLEANUP(environment_done) = {0};

	environment_set(&environment, "HOME", "/root");
	environment_set(&environment, "A", "a");
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct text literal CLEANUP(text_done) = {0};

		environment_add_literal(&literal, texts[i]);
		char *expanded CLEANUP(mem_free_text) =
			environment_expand(&environment, text_of(&literal));

		assert_string_equal(expanded, texts[i]);
	}
}

TEST(cores_are_divided_among_replicas)
{
	assert_int_equal(threads_of_replica(0, 8, 3), 2);
	assert_int_equal(threads_of_replica(0, 2, 4), 1);
	assert_int_equal(threads_of_replica(0, 1.5, 2), 1);
	assert_int_equal(threads_of_replica(0, 7.5, 2), 3);
	assert_int_equal(threads_of_replica(0, 0, 2), 1);
}

TEST(a_single_replica_has_no_limit)
{
	assert_int_equal(threads_of_replica(0, 8, 1), 0);
	assert_int_equal(threads_of_replica(0, 8, 0), 0);
	assert_int_equal(threads_of_replica(3, 8, 1), 3);
}

TEST(what_a_replica_asks_for_is_its_own)
{
	assert_int_equal(threads_of_replica(3, 2, 4), 3);
	assert_int_equal(threads_of_replica(0.5, 8, 1), 1);
	assert_int_equal(threads_of_replica(1e300, 8, 1), THREADS_MAX);
}
