#include "unit.h"

#include "io/file.h"
#include "local/error_file.h"
#include "own_folder.h"

#define STACK                                                                                      \
	"{\"message\": {\"message\": \"E: no\", \"extraInfo\": {\"py_callstack\": "                \
	"\"Traceback:\\n  in main\\nE: no\\n\"}}}"

struct row {
	const char *file;
	size_t most;
	const char *printed[3]; /* before */
	const char *expected[6];
};

static void assert_row(const struct row *row)
{
	char folder[OWN_FOLDER_SIZE];

	own_folder_make(folder);
	char *path CLEANUP(mem_free_text) = mem_format("%s/error.json", folder);
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct printed printed = {
		.lines = arena_take_array(arena, row->most, sizeof(*printed.lines)),
		.times = arena_take_array(arena, row->most, sizeof(*printed.times)),
	};
	size_t count = 0;

	for (; row->printed[printed.count]; printed.count++)
		printed.lines[printed.count] = row->printed[printed.count];
	if (row->file)
		assert_int_equal(file_create(path, row->file, strlen(row->file), NULL), 0);
	error_file_add(path, row->most, arena, &printed);
	for (; row->expected[count]; count++)
		assert_string_equal(printed.lines[count], row->expected[count]);
	assert_int_equal(printed.count, count);
	own_folder_remove(folder);
}

TEST(an_error_follows_what_was_printed)
{
	const struct row rows[] = {
		{STACK, 5, {"a", "b"}, {"a", "b", "Traceback:", "  in main", "E: no"}},
		{STACK, 5, {NULL}, {"Traceback:", "  in main", "E: no"}},
		{STACK, 4, {"a", "b"}, {"b", "Traceback:", "  in main", "E: no"}},
		{STACK, 2, {"a", "b"}, {"  in main", "E: no"}},
		{"{\"message\": \"words\"}", 5, {"a"}, {"a", "words"}},
		{"{\"message\": {\"message\": \"words\"}}", 5, {"a"}, {"a", "words"}},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_row(&rows[i]);
}

TEST(an_error_that_was_printed_is_not_repeated)
{
	assert_row(&(struct row){STACK, 5, {"E: no", "b"}, {"E: no", "b"}});
	assert_row(&(struct row){STACK, 5, {"[rank1]: E: no"}, {"[rank1]: E: no"}});
}

TEST(a_file_that_is_none_adds_nothing)
{
	static const char *const files[] = {
		NULL,
		"",
		"{",
		"[]",
		"{\"message\": 3}",
		"{\"message\": {\"message\": []}}",
		"{\"message\": \"\"}",
		"{\"message\": {\"extraInfo\": {\"py_callstack\": {}}}}",
	};

	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		assert_row(&(struct row){files[i], 5, {"a"}, {"a"}});
}
