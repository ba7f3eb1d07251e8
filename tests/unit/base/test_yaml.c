/* The table of scalars and structures was compared with sigs.k8s.io/yaml v1.4.0, which kubectl
 * reads its files by. */
#include "unit.h"

#include "base/mem.h"
#include "base/yaml.h"
#include "base/yaml_node.h"

struct documents {
	struct document **list;
	size_t count;
};

static void documents_done(struct documents *documents)
{
	documents_free(documents->list, documents->count);
}

static struct documents read_bytes(const char *bytes, size_t len)
{
	struct documents documents = {0};
	struct err err = {0};

	if (documents_read(bytes, len, &documents.list, &documents.count, &err) < 0)
		fail_msg("%s: %s", bytes, err.text);
	return documents;
}

static struct documents read_text(const char *text)
{
	return read_bytes(text, strlen(text));
}

static void assert_reads(const char *yaml, const char *json)
{
	struct documents documents CLEANUP(documents_done) = read_text(yaml);
	struct text text CLEANUP(text_done) = {0};

	if (documents.count != 1)
		fail_msg("%s: %zu documents", yaml, documents.count);
	json_add_compact(&text, document_root(documents.list[0]));
	if (strcmp(text_of(&text), json) != 0)
		fail_msg("%s: %s is not %s", yaml, text_of(&text), json);
}

static void assert_refused(const char *bytes, size_t len, int code, const char *sentence)
{
	struct documents documents = {0};
	struct err err = {0};

	assert_int_equal(documents_read(bytes, len, &documents.list, &documents.count, &err), code);
	if (strncmp(err.text, sentence, strlen(sentence)) != 0)
		fail_msg("'%s' does not begin with '%s'", err.text, sentence);
	assert_null(documents.list);
}

TEST(plain_scalars_are_what_kubectl_takes_them_for)
{
	static const struct {
		const char *plain;
		const char *json;
	} table[] = {
		/* words */
		{"y", "true"},
		{"Y", "true"},
		{"yes", "true"},
		{"YES", "true"},
		{"yEs", "\"yEs\""},
		{"on", "true"},
		{"On", "true"},
		{"oN", "\"oN\""},
		{"TRUE", "true"},
		{"n", "false"},
		{"No", "false"},
		{"off", "false"},
		{"False", "false"},
		{"~", "null"},
		{"", "null"},
		{"NULL", "null"},
		{"nUll", "\"nUll\""},
		{"=", "\"=\""},
		{"nan", "\"nan\""},
		{"Infinity", "\"Infinity\""},
		/* whole numbers */
		{"0", "0"},
		{"-0", "0"},
		{"+1", "1"},
		{"0755", "493"},
		{"-0755", "-493"},
		{"0o17", "15"},
		{"0O17", "15"},
		{"0o8", "\"0o8\""},
		{"08", "8"},
		{"0_8", "8"},
		{"0b11", "3"},
		{"-0b11", "-3"},
		{"0b12", "\"0b12\""},
		{"0x1F", "31"},
		{"0X1f", "31"},
		{"-0x1F", "-31"},
		{"0xfg", "\"0xfg\""},
		{"0x", "\"0x\""},
		{"0x_1f", "31"},
		{"1_000", "1000"},
		{"1_", "1"},
		{"_1", "\"_1\""},
		{"-_1", "-1"},
		{"1,000", "\"1,000\""},
		{"9223372036854775807", "9223372036854775807"},
		{"-9223372036854775808", "-9223372036854775808"},
		{"9223372036854775808", "9.223372036854776e+18"},
		{"0xFFFFFFFFFFFFFFFF", "1.8446744073709552e+19"},
		{"0x10000000000000000", "\"0x10000000000000000\""},
		/* reals */
		{"1e3", "1000"},
		{"1.5E+2", "150"},
		{"1e-3", "0.001"},
		{"1.", "1"},
		{".5", "0.5"},
		{"-.5", "-0.5"},
		{"+.5", "0.5"},
		{"1_2.3_4", "12.34"},
		{".5_", "\".5_\""},
		{".", "\".\""},
		{"...x", "\"...x\""},
		{"1e", "\"1e\""},
		{"e3", "\"e3\""},
		{"-0.0", "0"},
		{"1e22", "1e+22"},
		{"1e400", "\"1e400\""},
		{"0x1p3", "\"0x1p3\""},
		{"1.2.3", "\"1.2.3\""},
		/* text to kubectl, if not to every YAML reader */
		{"12:30:00", "\"12:30:00\""},
		{"2001-01-01", "\"2001-01-01\""},
		{"2001-01-01T00:00:00Z", "\"2001-01-01T00:00:00Z\""},
		{"10.0.0.1", "\"10.0.0.1\""},
		{"5s", "\"5s\""},
		{"a#b", "\"a#b\""},
		{"-x", "\"-x\""},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		char *yaml CLEANUP(mem_free_text) = mem_format("a: %s", table[i].plain);
		char *json CLEANUP(mem_free_text) = mem_format("{\"a\":%s}", table[i].json);
		char *quoted CLEANUP(mem_free_text) = mem_format("a: '%s'", table[i].plain);
		char *text CLEANUP(mem_free_text) = mem_format("{\"a\":\"%s\"}", table[i].plain);

		assert_reads(yaml, json);
		assert_reads(quoted, text);
	}
}

TEST(structures_read_as_json)
{
	static const struct {
		const char *yaml;
		const char *json;
	} table[] = {
		{"a:\n- 1\n- b: c\n  d: e\n", "{\"a\":[1,{\"b\":\"c\",\"d\":\"e\"}]}"},
		{"- - a\n  - b\n- c", "[[\"a\",\"b\"],\"c\"]"},
		{"{a: [1, 'x', {}], b: []}", "{\"a\":[1,\"x\",{}],\"b\":[]}"},
		{"{a}", "{\"a\":null}"},
		{"? a", "{\"a\":null}"},
		{"'text'", "\"text\""},
		{"a: |\n  x\n   y\n", "{\"a\":\"x\\n y\\n\"}"},
		{"a: >-\n  x\n  y\n\n  z\n", "{\"a\":\"x y\\nz\"}"},
		{"a: x\n  y\n", "{\"a\":\"x y\"}"},
		{"a: 'it''s'", "{\"a\":\"it's\"}"},
		{"a: \"\\x41\\u00e9\\n\\t\\/\"", "{\"a\":\"A\xc3\xa9\\n\\t/\"}"},
		{"# c\na: 1 # d\n", "{\"a\":1}"},
		{"\xef\xbb\xbf"
		 "a: 1",
		 "{\"a\":1}"},
		{"a:\tb\r\nc: d\r\n", "{\"a\":\"b\",\"c\":\"d\"}"},
		{"%YAML 1.1\n---\na: 1\n...\n", "{\"a\":1}"},
		/* keys */
		{"1: a", "{\"1\":\"a\"}"},
		{"012: a", "{\"10\":\"a\"}"},
		{"yes: a", "{\"true\":\"a\"}"},
		{"1.5: a", "{\"1.5\":\"a\"}"},
		{"'yes': a", "{\"yes\":\"a\"}"},
		/* tags */
		{"a: !!str 12", "{\"a\":\"12\"}"},
		{"a: !!str", "{\"a\":\"\"}"},
		{"a: !!int '0x1F'", "{\"a\":31}"},
		{"a: !!float 1", "{\"a\":1}"},
		{"a: !!bool 'yes'", "{\"a\":true}"},
		{"a: !!null ''", "{\"a\":null}"},
		{"a: !foo 12", "{\"a\":\"12\"}"},
		{"a: !foo {b: 1}", "{\"a\":{\"b\":1}}"},
		{"a: !!timestamp 2001-01-01", "{\"a\":\"2001-01-01\"}"},
		/* anchors and merges */
		{"a: &x [1]\nb: *x", "{\"a\":[1],\"b\":[1]}"},
		{"a: &x k\n*x : v", "{\"a\":\"k\",\"k\":\"v\"}"},
		{"a: &x 1\nb: &x 2\nc: *x", "{\"a\":1,\"b\":2,\"c\":2}"},
		{"a: &x {m: 1, k: 2}\nb: {<<: *x, m: 3}",
		 "{\"a\":{\"m\":1,\"k\":2},\"b\":{\"m\":3,\"k\":2}}"},
		{"a: &x {m: 1, k: 2}\nb: {m: 3, <<: *x}",
		 "{\"a\":{\"m\":1,\"k\":2},\"b\":{\"m\":3,\"k\":2}}"},
		{"a: &x {m: 1}\nb: &y {m: 2, k: 2}\nc: {<<: [*x, *y]}",
		 "{\"a\":{\"m\":1},\"b\":{\"m\":2,\"k\":2},\"c\":{\"m\":1,\"k\":2}}"},
		{"<<: {a: 1}", "{\"a\":1}"},
		{"'<<': {a: 1}", "{\"<<\":{\"a\":1}}"},
		/* JSON that YAML 1.1 does not take */
		{"{\"a\": \"\\/\\ud83d\\ude00\"}", "{\"a\":\"/\xf0\x9f\x98\x80\"}"},
		{"[\"\\ud83d\\ude00\", 1e3, 0.5, true, null]",
		 "[\"\xf0\x9f\x98\x80\",1000,0.5,true,null]"},
		{"{\n\t\"a\"\n\t:1, \"<<\" : [\n\t]}", "{\"a\":1,\"<<\":[]}"},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		assert_reads(table[i].yaml, table[i].json);
}

TEST(faults_have_place_and_reason)
{
	static const struct {
		const char *yaml;
		const char *sentence;
	} table[] = {
		{"a:\n\tb: c", "line 2, column 1: found a tab (expected spaces)"},
		{"a: b: c", "line 1, column 5: mapping values are not allowed in this context"},
		{"a:\n  - 1\n -2", "line 3, column 2: did not find expected key while parsing a "
				   "block mapping that begins at line 1"},
		{"a: [1,\n 2", "line 3, column 1: did not find expected ',' or ']' while parsing "
			       "a flow sequence that begins at line 1"},
		{"- a\nb: c", "line 2, column 1: "},
		{"[a]\nb",
		 "line 2, column 1: the document ended before this line; begin another document "
		 "with '---'"},
		{"a: 1\nb: 2\na: 3",
		 "line 3, column 1: duplicate key 'a' (first at line 1, column 1)"},
		{"{1: a, '1': b}",
		 "line 1, column 8: duplicate key '1' (first at line 1, column 2)"},
		{"a: {<<: {}, <<: {}}",
		 "line 1, column 13: duplicate key '<<' (first at line 1, column 5)"},
		{"null: x", "line 1, column 1: a key must be a string; this is null"},
		{"? [a]\n: b", "line 1, column 3: a key must be a string; this is a list"},
		{"? {a: b}\n: b", "line 1, column 3: a key must be a string; this is a map"},
		{"a:\n  <<: 1", "line 2, column 7: '<<' needs a map or a list of maps"},
		{"<<: [{}, 1]", "line 1, column 10: '<<' needs a map or a list of maps"},
		{"a: .inf", "line 1, column 4: .inf is not a number in JSON"},
		{"- .NaN", "line 1, column 3: .NaN is not a number in JSON"},
		{"a: !!int x", "line 1, column 4: 'x' is not a !!int"},
		{"a: !!bool 1", "line 1, column 4: '1' is not a !!bool"},
		{"a:\n  b:\n\xc2\xa0   c: 2\n    d:\n",
		 "line 4, column 6: mapping values are not allowed in this context; line 3, column "
		 "1 has U+00A0 (no-break space)"},
		{"a: 1\n\xe3\x80\x80 b: 2", "line 2, column 1: the key '\xe3\x80\x80 b' has U+3000 "
					    "(ideographic space)"},
		{"a\xe2\x80\x8b: 1",
		 "line 1, column 1: the key 'a\xe2\x80\x8b' has U+200B (zero width space)"},
		{"\xe2\x80\x9c"
		 "a\xe2\x80\x9d: 1",
		 "line 1, column 1: the key '\xe2\x80\x9c"
		 "a\xe2\x80\x9d' has U+201C (left double quotation mark)"},
		{"a: \xe2\x80\x98"
		 "b\xe2\x80\x99",
		 "line 1, column 4: \xe2\x80\x98"
		 "b\xe2\x80\x99 is in typographic quotes (expected \" or ')"},
		{"a: {{ .Values.b }}", "line 1, column 5: a key must be a string; this is a map; "
				       "if this is a template with {{ }}, render it first"},
		{"{{- if .Values.b }}\na: 1",
		 "line 1, column 3: did not find expected node content; "
		 "if this is a template with {{ }}, render it first"},
		{"\xff\xfe"
		 "a",
		 "encoded in UTF-16 (expected UTF-8); convert it: iconv -f UTF-16 -t UTF-8"},
		{"!!null x: 1", "line 1, column 1: 'x' is not a !!null"},
		{"a: !!binary aGk=", "line 1, column 4: !!binary is not supported"},
		{"a: &a [*a]", "line 1, column 8: the anchor '&a' would contain itself"},
		{"a: *b", "line 1, column 4: anchor '&b' is not defined before this line"},
		{"a: &b 1\n--- *b",
		 "line 2, column 5: anchor '&b' is not defined before this line"},
		{"a: \"x\\0y\"", "line 1, column 4: a string cannot contain a NUL character"},
		{"a: \"\\q\"", "line 1, column 5: found unknown escape character"},
		{"[a, b\n", "line 2, column 1: did not find expected ',' or ']' while"},
		{"{\"a\": 1\n", "line 2, column 0: '}' expected near end of file"},
		{"a:\n  b: \xff", "line 2, column 6: invalid leading UTF-8 octet"},
		{"a: \xc3\xa9\x1b", "line 1, column 5: control characters are not allowed"},
		{"{\"a\": \"\\/\" \"\"}", "line 1, column 13: '}' expected near '\"\"'"},
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		assert_refused(table[i].yaml, strlen(table[i].yaml), ERR_INVALID,
			       table[i].sentence);
	assert_refused("a: b\0c", 6, ERR_INVALID,
		       "line 1, column 5: control characters are not allowed");
	assert_refused("\0a\0:", 4, ERR_INVALID, "encoded in UTF-16");
	assert_refused("a\0:\0", 4, ERR_INVALID, "encoded in UTF-16");
}

/* What people write on purpose stays: in quotes, in a comment, within a text. */
TEST(characters_that_mislead_are_let_through_where_they_are_text)
{
	assert_reads("'a\xc2\xa0': 1 # \xc2\xa0", "{\"a\xc2\xa0\":1}");
	assert_reads("a: b\xc2\xa0-", "{\"a\":\"b\xc2\xa0-\"}");
	assert_reads("a: say \xe2\x80\x9chi\xe2\x80\x9d",
		     "{\"a\":\"say \xe2\x80\x9chi\xe2\x80\x9d\"}");
	assert_reads("a: '\xe2\x80\x9chi\xe2\x80\x9d'", "{\"a\":\"\xe2\x80\x9chi\xe2\x80\x9d\"}");
}

TEST(a_stream_gives_its_documents_without_empty_ones)
{
	struct documents none CLEANUP(documents_done) = read_text("# nothing\n---\n---\nnull\n");
	struct documents two CLEANUP(documents_done) =
		read_text("---\na: 1\n---\n---\nb: 2\n...\n");

	assert_int_equal(none.count, 0);
	assert_int_equal(two.count, 2);
	assert_int_equal(json_as_integer(json_get(document_root(two.list[1]), "b"), 0), 2);
	assert_int_equal(document_place(two.list[1], "b").line, 5);
}

TEST(a_part_has_the_places_of_the_whole_and_a_value_of_its_own)
{
	struct documents whole CLEANUP(documents_done) =
		read_text("a: &a {b: 1}\nlist:\n- x\n- c:\n    d: 2\n- *a\n");
	struct document **parts = mem_new_array(3, sizeof(*parts));

	parts[0] = document_new_part(whole.list[0], "list[1]", json_new_integer(5));
	parts[1] = document_new_part(whole.list[0], "list[2]", json_new_null());
	parts[2] = document_new_part(whole.list[0], "list[9].x", json_new_null());
	assert_int_equal(json_as_integer(document_root(parts[0]), 0), 5);
	assert_int_equal(document_place(parts[0], "c.d").line, 5);
	assert_int_equal(document_place(parts[0], "none").line, 4);
	assert_true(document_find(parts[1], "b", &(struct place){0}));
	assert_int_equal(document_place(parts[1], "b").line, 1);
	assert_int_equal(document_place(parts[2], "").line, 3);
	documents_free(parts, 3);
}

TEST(small_texts_do_not_become_large_values)
{
	struct text bomb CLEANUP(text_done) = {0};

	text_add(&bomb, "a0: &a0 [lol, lol]\n");
	for (int i = 1; i < 60; i++)
		text_addf(&bomb, "a%d: &a%d [*a%d, *a%d]\n", i, i, i - 1, i - 1);
	assert_refused(text_of(&bomb), bomb.len, ERR_LIMIT, "line ");

	text_clear(&bomb);
	text_add(&bomb, "a0: &a0 {k: v}\n");
	for (int i = 1; i < 60; i++)
		text_addf(&bomb, "a%d: &a%d {<<: [*a%d, *a%d]}\n", i, i, i - 1, i - 1);
	assert_refused(text_of(&bomb), bomb.len, ERR_LIMIT, "line ");
}

TEST(everything_has_its_limit)
{
	struct text text CLEANUP(text_done) = {0};

	for (int i = 0; i <= YAML_DEPTH_LIMIT; i++)
		text_add_char(&text, '[');
	assert_refused(text_of(&text), text.len, ERR_LIMIT,
		       "line 1, column 101: nested more than 100 levels deep");
	text_clear(&text);
	for (int i = 0; i <= YAML_DOCUMENTS_LIMIT; i++)
		text_add(&text, "--- 1\n");
	assert_refused(text_of(&text), text.len, ERR_LIMIT,
		       "line 65, column 5: more than 64 documents");
	text_clear(&text);
	for (int i = 0; i <= YAML_ANCHORS_LIMIT; i++)
		text_addf(&text, "- &a%d x\n", i);
	assert_refused(text_of(&text), text.len, ERR_LIMIT,
		       "line 1001, column 3: more than 1000 anchors");
	text_clear(&text);
	while (text.len <= YAML_SIZE_LIMIT)
		text_add(&text, "# a comment that is read by nobody\n");
	assert_refused(text_of(&text), text.len, ERR_LIMIT,
		       "4194330 bytes exceed the limit of 4 MiB");
}

static void assert_place(const struct document *document, const char *path, int line, int column)
{
	struct place place = document_place(document, path);

	if (place.line != line || place.column != column)
		fail_msg("%s is at line %d, column %d", path, place.line, place.column);
}

TEST(every_path_has_its_place)
{
	struct documents yaml CLEANUP(documents_done) = read_text("spec:\n"
								  "  base: &base\n"
								  "    cpu: 1\n"
								  "  list:\n"
								  "  - name: x\n"
								  "    image: y\n"
								  "  - *base\n"
								  "  a.b: {c: 1}\n"
								  "  merged:\n"
								  "    <<: [{}, *base]\n"
								  "    empty:\n"
								  "  7: seven\n");
	const struct document *document = yaml.list[0];

	assert_place(document, "", 1, 1);
	assert_place(document, "spec", 1, 1);
	assert_place(document, "spec.base.cpu", 3, 10);
	assert_place(document, "spec.list", 4, 3);
	assert_place(document, "spec.list[0].image", 6, 12);
	assert_place(document, "spec.list[1]", 7, 5);
	assert_place(document, "spec.list[1].cpu", 3, 10);
	assert_place(document, "spec[\"a.b\"].c", 8, 12);
	assert_place(document, "spec.merged.cpu", 3, 10);
	assert_place(document, "spec.merged.empty", 11, 11);
	assert_place(document, "spec.7", 12, 6);
	assert_place(document, "spec.list[2].name", 4, 3);
	assert_place(document, "spec.list.name", 4, 3);
	assert_place(document, "spec.merged.none.deeper", 9, 3);
	assert_place(document, "spec.a.b", 1, 1);
	assert_place(document, "spec[\"a.b", 1, 1);
	assert_place(document, "spec.list[", 4, 3);
}

TEST(json_that_is_no_yaml_has_places_too)
{
	struct documents json CLEANUP(documents_done) =
		read_text("{\n\t\"e\": \"\\ud83d\\ude00\\\"\\\\\",\n\t\"\xc3\xa9\\/\": [1, {\"b\" "
			  ": -1.5e1\n}],"
			  "\"x\":\n {}, \"y\": false}");
	const struct document *document = json.list[0];

	assert_place(document, "e", 2, 7);
	assert_place(document, "\xc3\xa9/", 3, 9);
	assert_place(document, "\xc3\xa9/[0]", 3, 10);
	assert_place(document, "\xc3\xa9/[1].b", 3, 20);
	assert_place(document, "x", 4, 4);
	assert_place(document, "y", 5, 11);
}

static void assert_written(const char *json, const char *yaml)
{
	struct json *value CLEANUP(json_cleanup) = NULL;
	struct text text CLEANUP(text_done) = {0};

	assert_int_equal(json_read(json, strlen(json), &value, NULL), 0);
	yaml_add(&text, value);
	assert_string_equal(text_of(&text), yaml);
	assert_reads(text_of(&text), json);
}

TEST(values_are_written_as_kubectl_writes_them)
{
	assert_written("{\"spec\":{\"list\":[{\"name\":\"x\",\"args\":[\"--a=1\",\"b c\"]}],"
		       "\"none\":[],\"empty\":{},\"nothing\":null,\"on\":true,\"n\":-5,\"r\":0.5}}",
		       "spec:\n"
		       "  list:\n"
		       "  - name: x\n"
		       "    args:\n"
		       "    - --a=1\n"
		       "    - b c\n"
		       "  none: []\n"
		       "  empty: {}\n"
		       "  nothing: null\n"
		       "  \"on\": true\n"
		       "  \"n\": -5\n"
		       "  r: 0.5\n");
	assert_written(
		"{\"a\":\"yes\",\"b\":\"12\",\"c\":\"\",\"d\":\"0x1F\",\"e\":\"1_0\",\"f\":\"~\","
		"\"g\":\"12:30\",\"h\":\"2026-01-02T03:04:05Z\",\"i\":\"- x\",\"j\":\"a: b\"}",
		"a: \"yes\"\nb: \"12\"\nc: \"\"\nd: \"0x1F\"\ne: \"1_0\"\nf: \"~\"\n"
		"g: \"12:30\"\nh: \"2026-01-02T03:04:05Z\"\ni: '- x'\nj: 'a: b'\n");
	assert_written("{\"script\":\"import os\\nif x:\\n  y()\\n\",\"cut\":\"a\\n  b\"}",
		       "script: |\n  import os\n  if x:\n    y()\ncut: |-\n  a\n    b\n");
	assert_written("{\"a\\nb\":\"\xc3\xa9\",\"<<\":\"<<\"}",
		       "? \"a\\nb\"\n: \xc3\xa9\n\"<<\": \"<<\"\n");
}

/* A generator of our own, so that a failing value can be had again from its number. */
static unsigned next_random(unsigned *seed)
{
	*seed = *seed * 1103515245U + 12345U;
	return *seed >> 16;
}

static struct json *random_string(unsigned *seed)
{
	static const char *const pieces[] = {
		" ",
		"\n",
		"\t",
		"\r",
		":",
		"- ",
		"#",
		"a",
		"b c",
		"'",
		"\"",
		"\\",
		"yes",
		"0",
		"1_",
		"0x",
		".",
		"{",
		"]",
		"&",
		"*",
		"!",
		"|",
		">",
		"%",
		"@",
		"`",
		"?",
		"=",
		"<<",
		"~",
		",",
		"---",
		"...",
		"\x01",
		"\x7f",
		"\xc3\xa9",
		"\xc2\x85",
		"\xe2\x80\xa8",
		"\xef\xbb\xbf",
		"\xf0\x9f\x98\x80",
		"e3",
		"-",
		"+",
		"null",
	};
	struct text text CLEANUP(text_done) = {0};

	for (unsigned n = next_random(seed) % 6; n > 0; n--)
		text_add(&text, pieces[next_random(seed) % ARRAY_LEN(pieces)]);
	return json_new_string(text_of(&text));
}

static struct json *random_value(unsigned *seed, int depth)
{
	unsigned kind = next_random(seed) % (depth > 0 ? 9 : 6);

	if (kind == 0)
		return json_new_null();
	if (kind == 1)
		return json_new_bool(next_random(seed) % 2);
	if (kind == 2)
		return json_new_integer((int64_t) next_random(seed) * (int64_t) next_random(seed) -
					9);
	if (kind == 3)
		return json_new_real(next_random(seed) + 0.1);
	if (kind < 6)
		return random_string(seed);
	struct json *value = kind == 6 ? json_new_array() : json_new_object();

	for (unsigned n = next_random(seed) % 4; n > 0; n--) {
		struct json *key CLEANUP(json_cleanup) = random_string(seed);
		struct json *member = random_value(seed, depth - 1);

		if (kind == 6)
			json_append(value, member);
		else
			json_set(value, json_as_string(key, ""), member);
	}
	return value;
}

TEST(whatever_is_written_reads_back)
{
	for (unsigned number = 1; number <= 5000; number++) {
		unsigned seed = number;
		struct json *root CLEANUP(json_cleanup) = json_new_object();
		struct text text CLEANUP(text_done) = {0};

		json_set(root, "root", random_value(&seed, 4));
		yaml_add(&text, root);
		struct documents again CLEANUP(documents_done) = read_text(text_of(&text));

		if (again.count != 1 || !json_equals(root, document_root(again.list[0])))
			fail_msg("value %u was written as\n%s", number, text_of(&text));
	}
}
