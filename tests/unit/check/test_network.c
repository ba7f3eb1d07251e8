#include "unit.h"

#include "base/text.h"
#include "check/network.h"

static bool add(struct json *links, const char *text)
{
	struct json *event CLEANUP(json_cleanup) = NULL;

	assert_int_equal(json_read(text, strlen(text), &event, NULL), 0);
	return check_network_add(links, event);
}

static void assert_ranges(const struct json *links, const char *expected)
{
	struct text text CLEANUP(text_done) = {0};

	check_network_add_ranges(links, &text);
	assert_string_equal(text_of(&text), expected);
}

TEST(ranges_tell_what_was_measured_and_nothing_else)
{
	struct json *links CLEANUP(json_cleanup) = json_new_object();

	assert_true(add(links, "{\"from\":\"a\",\"to\":\"b\"}"));
	assert_ranges(links, "1 link");
	assert_true(add(links, "{\"from\":\"a\",\"to\":\"b\",\"connect\":0.001}"));
	assert_ranges(links, "1 link: connected after 1.0 ms");
	assert_true(add(links, "{\"from\":\"b\",\"to\":\"a\",\"roundTrip\":0.00031,"
			       "\"bandwidth\":1.1e8,\"clock\":-2.5}"));
	assert_ranges(links, "2 links: round trip 310 us, 110 MB/s, clocks within 2.5 s");
	assert_true(add(links, "{\"from\":\"b\",\"to\":\"c\",\"roundTrip\":0.0052,"
			       "\"bandwidth\":1.2e9,\"clock\":0}"));
	assert_ranges(links,
		      "3 links: round trip 0.3 to 5.2 ms, 0.1 to 1.2 GB/s, clocks within 2.5 s");
	assert_true(add(links, "{\"from\":\"c\",\"to\":\"a\",\"roundTrip\":0.00001,"
			       "\"bandwidth\":3.1e6,\"clock\":0}"));
	assert_ranges(
		links,
		"4 links: round trip 10 us to 5.2 ms, 3.1 MB/s to 1.2 GB/s, clocks within 2.5 s");
}

TEST(the_last_word_about_a_way_counts)
{
	struct json *links CLEANUP(json_cleanup) = json_new_object();
	size_t count;

	add(links, "{\"from\":\"a\",\"to\":\"b\",\"stage\":\"connect\",\"error\":\"refused\"}");
	assert_non_null(check_network_failed(links, &count));
	assert_int_equal(count, 1);
	add(links, "{\"from\":\"a\",\"to\":\"b\",\"connect\":0.001}");
	assert_null(check_network_failed(links, &count));
	assert_int_equal(json_count(links), 1);
	assert_non_null(check_network_find(links, "a", "b"));
	assert_null(check_network_find(links, "b", "a"));
}

TEST(an_event_without_a_pair_is_none)
{
	struct json *links CLEANUP(json_cleanup) = json_new_object();

	assert_false(add(links, "{\"from\":\"a\"}"));
	assert_false(add(links, "{\"from\":1,\"to\":[]}"));
	assert_int_equal(json_count(links), 0);
}

TEST(the_table_shows_the_stage_that_failed)
{
	struct json *links CLEANUP(json_cleanup) = json_new_object();
	struct text text CLEANUP(text_done) = {0};

	add(links, "{\"from\":\"ps-0\",\"to\":\"worker-0\",\"roundTrip\":0.00004}");
	add(links,
	    "{\"from\":\"ps-0\",\"to\":\"worker-10\",\"stage\":\"resolve\",\"error\":\"x\"}");
	add(links, "{\"from\":\"ps-0\",\"to\":\"worker-2\",\"stage\":\"connect\",\"error\":\"x\"}");
	add(links, "{\"from\":\"worker-2\",\"to\":\"worker-0\",\"error\":\"x\"}");
	check_network_add_table(links, &text);
	assert_string_equal(text_of(&text), "  from      worker-0   worker-2   worker-10\n"
					    "  ps-0      40 us      NO PORT    NO NAME\n"
					    "  worker-2  NO ANSWER  -          -\n");
}

TEST(of_many_tasks_only_failures_are_listed)
{
	struct json *links CLEANUP(json_cleanup) = json_new_object();
	struct text text CLEANUP(text_done) = {0};

	for (int i = 0; i < 13; i++) {
		struct text event CLEANUP(text_done) = {0};

		text_addf(&event, "{\"from\":\"ps-0\",\"to\":\"worker-%d\",\"address\":\"h:%d\"%s}",
			  i, i, i == 5 ? ",\"stage\":\"connect\",\"error\":\"refused\"" : "");
		add(links, text_of(&event));
	}
	check_network_add_table(links, &text);
	assert_string_equal(text_of(&text), "  ps-0 to worker-5 (h:5): connect: refused\n");
}
