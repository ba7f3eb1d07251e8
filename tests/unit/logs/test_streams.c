#include "unit.h"

#include "base/mem.h"
#include "logs/output_copies.h"

static const struct log_name out_0 = {.role = "worker"};
static const struct log_name err_0 = {.role = "worker", .is_stderr = true};
static const struct log_name err_1 = {.role = "worker", .index = 1, .is_stderr = true};

TEST(a_rule_is_for_one_process_and_a_set_of_streams)
{
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

TEST(what_has_no_rule_is_shown_and_copied)
{
	const struct streams none = {.are_apart = true};

	assert_true(streams_show(NULL, &err_1) && streams_show(&none, &err_1));
	assert_true(streams_copy(NULL, &err_1) && streams_copy(&none, &err_1));
	assert_false(streams_mark(NULL, &err_1) || streams_mark(&none, &err_1));
}

TEST(streams_that_are_together_follow_either_rule)
{
	const struct stream_rule rules[] = {{.shown = STREAM_STDERR}};
	const struct streams streams = {.rules = rules, .n_rules = 1};

	assert_true(streams_show(&streams, &out_0));
	assert_false(streams_mark(&streams, &out_0));
}

TEST(a_prefix_is_a_template_of_python)
{
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
