#include "unit.h"

#include "base/fields.h"

static const char *const color_words[] = {"red", NULL, "blue"};

struct inner {
	const char *name;
	int number;
	msec time;
};

struct outer {
	const char *text, *hidden;
	msec time;
	bool flag, truth;
	int color, number;
	int64_t size;
	const char **lines;
	size_t n_lines;
	struct inner *list;
	size_t n_list;
	struct inner *map;
	size_t n_map;
	struct inner there, part, *pointer;
};

static bool is_short(const char *text)
{
	return strlen(text) < 4;
}

static const struct json_field inner_fields[] = {
	FIELD(TEXT, NEEDED, "name", inner, name),
	FIELD(INT, OPTIONAL, "number", inner, number, -1, 9),
	FIELD(TIME, OPTIONAL, "time", inner, time),
	{0},
};
static const struct json_field part_fields[] = {
	FIELD(INT, SHOWN, "partNumber", inner, number, 0, 5),
	{0},
};
static const struct json_field outer_fields[] = {
	FIELD(TEXT, OPTIONAL, "text", outer, text, .accepts = is_short, .wanted = "a word"),
	FIELD(TEXT, HIDDEN, "hidden", outer, hidden),
	FIELD(TIME, OPTIONAL, "time", outer, time),
	FIELD(FLAG, OPTIONAL, "flag", outer, flag),
	FIELD(TRUTH, OPTIONAL, "truth", outer, truth),
	FIELD(WORD, OPTIONAL, "color", outer, color, FIELD_WORDS(color_words)),
	FIELD(INT, TOLERATED, "number", outer, number, -7, 7),
	FIELD(LONG, OPTIONAL, "size", outer, size, 0, INT64_MAX),
	FIELD(LINES, OPTIONAL, "lines", outer, lines, FIELD_ELEMENTS(outer, lines, 2, NULL)),
	FIELD(LIST, OPTIONAL, "list", outer, list, FIELD_ELEMENTS(outer, list, 2, inner_fields)),
	FIELD(MAP, OPTIONAL, "map", outer, map, FIELD_ELEMENTS(outer, map, 0, inner_fields)),
	FIELD(STRUCT, OPTIONAL, "there", outer, there, .fields = inner_fields),
	FIELD(PART, OPTIONAL, "", outer, part, .fields = part_fields),
	FIELD(POINTER, OPTIONAL, "pointer", outer, pointer, .fields = inner_fields,
	      .size = sizeof(struct inner)),
	{0},
};

#define FULL                                                                                       \
	"{\"text\":\"abc\",\"time\":\"1970-01-01T00:00:01.500Z\",\"flag\":true,\"truth\":"         \
	"\"True\","                                                                                \
	"\"color\":\"blue\",\"number\":3,\"size\":9000000000,\"lines\":[\"a\",\"b\"],"             \
	"\"list\":[{\"name\":\"x\",\"number\":0},{\"name\":\"y\"}],"                               \
	"\"map\":{\"k\":{\"number\":4,\"time\":\"1970-01-01T00:00:02Z\"}},"                        \
	"\"there\":{\"name\":\"z\"},\"partNumber\":0,\"pointer\":{\"name\":\"p\"}}"

static int read_outer(const char *text, struct arena *arena, struct outer *outer, struct err *err)
{
	struct json *json CLEANUP(json_cleanup) = NULL;

	assert_int_equal(json_read(text, strlen(text), &json, NULL), 0);
	*outer = (struct outer){0};
	return fields_read(json, "top", outer_fields, arena, outer, err);
}

static char *write_outer(const struct outer *outer)
{
	struct json *json CLEANUP(json_cleanup) = json_new_object();

	fields_write(json, outer_fields, outer);
	return json_compact_text(json);
}

TEST(what_is_written_is_read_again)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct outer outer, again;

	assert_int_equal(read_outer(FULL, arena, &outer, NULL), 0);
	char *text CLEANUP(mem_free_text) = write_outer(&outer);

	assert_string_equal(text, FULL);
	assert_int_equal(outer.time, 1500);
	assert_string_equal(outer.map[0].name, "k");
	assert_int_equal(outer.list[1].number, -1);
	assert_int_equal(read_outer(text, arena, &again, NULL), 0);
	assert_true(fields_equal(outer_fields, &outer, &again));
	again.list[1].number = 5;
	assert_false(fields_equal(outer_fields, &outer, &again));
}

TEST(unset_fields_are_not_written)
{
	const struct outer outer = {.number = -7, .there.name = "n", .there.number = -1};
	char *text CLEANUP(mem_free_text) = write_outer(&outer);

	assert_string_equal(text, "{\"truth\":\"False\",\"color\":\"red\",\"there\":{\"name\":"
				  "\"n\"},\"partNumber\":0}");
}

TEST(a_fault_is_named_with_its_path)
{
	static const struct {
		const char *json, *sentence;
	} rows[] = {
		{"{\"text\":7}", "top.text: expected text"},
		{"{\"text\":\"long\"}", "top.text: expected a word"},
		{"{\"time\":\"noon\"}", "top.time: expected a time (RFC 3339)"},
		{"{\"flag\":\"True\"}", "top.flag: expected true or false"},
		{"{\"color\":\"green\"}", "top.color: expected one of red, blue"},
		{"{\"color\":\"red\",\"size\":-1}",
		 "top.size: expected a whole number from 0 to 9223372036854775807"},
		{"{\"lines\":[1,2,3]}", "top.lines: expected a shorter list"},
		{"{\"list\":{}}", "top.list: expected a list"},
		{"{\"list\":[{\"name\":\"x\"},{}]}", "top.list[1].name: expected text"},
		{"{\"map\":{\"k\":{\"number\":10}}}",
		 "top.map[0].number: expected a whole number from -1 to 9"},
		{"{\"partNumber\":6}", "top.partNumber: expected a whole number from 0 to 5"},
		{"{\"pointer\":{}}", "top.pointer.name: expected text"},
	};
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct outer outer;
	struct err err;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(read_outer(rows[i].json, arena, &outer, &err), ERR_INVALID);
		assert_string_equal(err.text, rows[i].sentence);
	}
	assert_int_equal(read_outer("{\"number\":\"many\"}", arena, &outer, NULL), 0);
	assert_int_equal(outer.number, -7);
}

TEST(a_copy_is_independent)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct arena *first = arena_new();
	struct outer outer;

	assert_int_equal(read_outer(FULL, first, &outer, NULL), 0);
	outer.hidden = "kept";
	fields_own(outer_fields, arena, &outer);
	arena_free(first);
	char *text CLEANUP(mem_free_text) = write_outer(&outer);

	assert_string_equal(text, FULL);
	assert_string_equal(outer.hidden, "kept");
}

TEST(times_that_are_set_move)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct outer outer;

	assert_int_equal(read_outer(FULL, arena, &outer, NULL), 0);
	fields_move_times(outer_fields, &outer, 100);
	assert_int_equal(outer.time, 1600);
	assert_int_equal(outer.map[0].time, 2100);
	assert_int_equal(outer.list[0].time, MSEC_UNSET);
}
