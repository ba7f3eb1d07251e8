#include "unit.h"

#include "archive/name.h"
#include "base/own.h"

TEST(names_inside_are_relative_and_never_go_up)
{
	static const char *const inside[] = {"a",     "./a", "a/b/", "a//b",
					     "a/...", "..a", ".",    "a/."};
	static const char *const outside[] = {NULL,   "",     "/",      "/a",   "..",
					      "../a", "a/..", "a/../b", "./..", "a//../.."};

	for (size_t i = 0; i < ARRAY_LEN(inside); i++)
		assert_true(archive_name_is_inside(inside[i]));
	for (size_t i = 0; i < ARRAY_LEN(outside); i++)
		assert_false(archive_name_is_inside(outside[i]));
}

TEST(the_folder_itself_has_several_names)
{
	assert_true(archive_name_is_folder_itself("."));
	assert_true(archive_name_is_folder_itself("././/"));
	assert_false(archive_name_is_folder_itself("./a"));
	assert_false(archive_name_is_folder_itself("..."));
}

TEST(links_lead_up_no_further_than_they_lie_deep)
{
	static const struct {
		const char *name, *target;
		bool is_inside;
	} links[] = {
		{"latest", "step-3", true},
		{"latest", "./step-3/", true},
		{"a/b/latest", "../../step-3", true},
		{"a/b/latest", "./.././../step-3", true},
		{"./a/latest", "..", true},
		{"latest", "..", false},
		{"./latest", "../step-3", false},
		{"a/b/latest", "../../../etc", false},
		{"a//b", "../..", false},
		{"latest", "/etc/passwd", false},
		{"latest", "", false},
		{"latest", NULL, false},
		/* `a` may be a link to a place that is less deep. */
		{"b/latest", "a/../x", false},
		{"b/c/latest", "../a/..", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(links); i++)
		assert_int_equal(archive_link_is_inside(links[i].name, links[i].target),
				 links[i].is_inside);
}
