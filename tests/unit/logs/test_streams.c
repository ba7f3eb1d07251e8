#include "unit.h"

#include "base/mem.h"
#include "logs/output_copies.h"

static const struct log_name out_0 = {.role = "worker"};
static const struct log_name err_0 = {.role = "worker", .is_stderr = true};
static const struct log_name err_1 = {.role = "worker", .index = 1, .is_stderr = true};

static void a_rule_is_for_one_process_and_a_set_of_streams(void **state)
{
	(void) state;
	const struct stream_rule rules[] = {
		{.shown = STREAM_STDOUT, .marked = STREAM_STDERR, .copied = STREAM_BOTH},
	};
	const struct streams streams = {.are_apart = true, .rules = rules, .n_rules = 1};

	assert_true(streams_show(&streams, &out_0));
	assert_false(streams_show(&streams, &err_0));
	assert_false(streams_mark(&streams, &out_0));
	assert_true(streams_mark(&streams, &err_0));
	assert_true(streams_copy(&streams, &out_0) && streams_copy(&streams, &err_0));
}

static void what_has_no_rule_is_shown_and_copied(void **state)
{
	(void) state;
	const struct streams none = {.are_apart = true};

	assert_true(streams_show(NULL, &err_1) && streams_show(&none, &err_1));
	assert_true(streams_copy(NULL, &err_1) && streams_copy(&none, &err_1));
	assert_false(streams_mark(NULL, &err_1) || streams_mark(&none, &err_1));
}

static void streams_that_are_together_follow_either_rule(void **state)
{
	(void) state;
	const struct stream_rule rules[] = {{.shown = STREAM_STDERR}};
	const struct streams streams = {.rules = rules, .n_rules = 1};

	assert_true(streams_show(&streams, &out_0));
	assert_false(streams_mark(&streams, &out_0));
}

static void a_prefix_is_a_template_of_python(void **state)
{
	(void) state;
	static const struct {
		const char *template;
		const char *prefix;
	} rows[] = {
		{NULL, "[trainer2]:"},
		{"", ""},
		{"${rank}|${local_rank}|", "10|2|"},
		{"$rank $local_rank $role_name", "10 2 trainer"},
		{"$$rank $", "$rank $"},
		{"${none} $none ${rank", "${none} $none ${rank"},
		{"${} ${a-b} $ranks", "${} ${a-b} $ranks"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct streams streams = {.prefix = rows[i].template, .role_name = "trainer"};
		char *prefix CLEANUP(mem_free_text) = streams_prefix(&streams, 2, 8);

		assert_string_equal(prefix, rows[i].prefix);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rule_is_for_one_process_and_a_set_of_streams),
		cmocka_unit_test(what_has_no_rule_is_shown_and_copied),
		cmocka_unit_test(streams_that_are_together_follow_either_rule),
		cmocka_unit_test(a_prefix_is_a_template_of_python),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
