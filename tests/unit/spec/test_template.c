#include "unit.h"

#include "base/mem.h"
#include "spec/limits.h"
#include "spec/template.h"

#define HEAD "apiVersion: template.openshift.io/v1\nkind: Template\n"
#define OBJECT "apiVersion: v1, kind: Thing"

/* What one template became. */
struct outcome {
	struct document **documents; /* of the text */
	size_t n_documents;
	struct document **objects;
	size_t n_objects;
	struct text lines; /* faults, or notes where there is none */
};

static void outcome_done(struct outcome *outcome)
{
	documents_free(outcome->objects, outcome->n_objects);
	documents_free(outcome->documents, outcome->n_documents);
	text_done(&outcome->lines);
}

static void no_chance(void *bytes, size_t len)
{
	memset(bytes, 0, len);
}

static void make(const char *yaml, const struct template_value *values, size_t n_values,
		 struct outcome *outcome)
{
	const struct template_call call = {values, n_values, no_chance};
	struct faults faults CLEANUP(faults_done) = {0};
	struct faults notes CLEANUP(faults_done) = {0};
	struct err err;

	if (documents_read(yaml, strlen(yaml), &outcome->documents, &outcome->n_documents, &err))
		fail_msg("%s in: %s", err.text, yaml);
	int rc = template_make(outcome->documents[0], &call, &faults, &notes, &outcome->objects,
			       &outcome->n_objects);

	assert_int_equal(rc, faults.count ? ERR_INVALID : 0);
	faults_describe(rc ? &faults : &notes, "t.yaml", &outcome->lines);
}

/* The objects as one JSON text, a line for each. */
static void assert_made_with(const char *yaml, const struct template_value *values, size_t n_values,
			     const char *expected)
{
	struct outcome outcome CLEANUP(outcome_done) = {0};
	struct text text CLEANUP(text_done) = {0};

	make(yaml, values, n_values, &outcome);
	assert_string_equal(text_of(&outcome.lines), "");
	for (size_t i = 0; i < outcome.n_objects; i++) {
		json_add_compact(&text, document_root(outcome.objects[i]));
		text_add_char(&text, '\n');
	}
	assert_string_equal(text_of(&text), expected);
}

static void assert_made(const char *yaml, const char *expected)
{
	assert_made_with(yaml, NULL, 0, expected);
}

static void assert_lines(const char *yaml, const struct template_value *values, size_t n_values,
			 const char *expected)
{
	struct outcome outcome CLEANUP(outcome_done) = {0};

	make(yaml, values, n_values, &outcome);
	assert_string_equal(text_of(&outcome.lines), expected);
}

TEST(a_reference_becomes_the_value)
{
	static const struct template_value given[] = {{"A", "0"}, {"A", "x"}};

	assert_made_with(HEAD "parameters: [{name: A}, {name: B, value: b}]\n"
			      "objects: [{" OBJECT ", one: '${A}', two: '${A}-${B}$', "
			      "'${B}': ['$${A}', '${A', '$', '$(A)']}]\n",
			 given, ARRAY_LEN(given),
			 "{\"apiVersion\":\"v1\",\"kind\":\"Thing\",\"one\":\"x\",\"two\":\"x-b$\","
			 "\"b\":[\"$x\",\"${A\",\"$\",\"$(A)\"]}\n");
}

TEST(a_value_is_put_in_once)
{
	assert_made(HEAD "parameters: [{name: A, value: '${B}'}, {name: B, value: '${A}'}]\n"
			 "objects: [{" OBJECT ", m: '${A}${B}'}]\n",
		    "{\"apiVersion\":\"v1\",\"kind\":\"Thing\",\"m\":\"${B}${A}\"}\n");
}

TEST(two_braces_give_the_value_its_own_type)
{
	assert_made(HEAD "parameters: [{name: C, value: '2'}, {name: T, value: 'true'}, "
			 "{name: L, value: '[1, {\"a\": null}]'}, {name: S, value: two}, "
			 "{name: E}]\n"
			 "objects: [{" OBJECT ", m: ['${{C}}', '${{T}}', '${{L}}', '${{S}}', "
			 "'${{E}}', '${C}']}]\n",
		    "{\"apiVersion\":\"v1\",\"kind\":\"Thing\","
		    "\"m\":[2,true,[1,{\"a\":null}],\"two\",\"\",\"2\"]}\n");
}

TEST(labels_go_to_every_object_and_namespaces_of_the_author_do_not)
{
	assert_made(HEAD "parameters: [{name: A, value: x}]\nlabels: {'${A}': '${A}1'}\n"
			 "objects:\n"
			 "- {" OBJECT ", metadata: {namespace: mine, labels: {x: old, w: z}}}\n"
			 "- {" OBJECT ", metadata: {namespace: '${A}'}}\n"
			 "- {" OBJECT "}\n",
		    "{\"apiVersion\":\"v1\",\"kind\":\"Thing\","
		    "\"metadata\":{\"labels\":{\"x\":\"x1\",\"w\":\"z\"}}}\n"
		    "{\"apiVersion\":\"v1\",\"kind\":\"Thing\","
		    "\"metadata\":{\"namespace\":\"x\",\"labels\":{\"x\":\"x1\"}}}\n"
		    "{\"apiVersion\":\"v1\",\"kind\":\"Thing\","
		    "\"metadata\":{\"labels\":{\"x\":\"x1\"}}}\n");
}

TEST(a_value_is_generated_where_none_is_given)
{
	static const char template[] =
		HEAD "parameters: [{name: A, generate: expression, from: 'a[b-z]{3}'}, "
		     "{name: B, generate: expression, from: 'a[b-z]{3}', value: kept}]\n"
		     "objects: [{" OBJECT ", m: '${A} ${B}'}]\n";
	static const struct template_value given[] = {{"A", ""}};

	assert_made(template, "{\"apiVersion\":\"v1\",\"kind\":\"Thing\",\"m\":\"abbb kept\"}\n");
	assert_made_with(template, given, 1,
			 "{\"apiVersion\":\"v1\",\"kind\":\"Thing\",\"m\":\" kept\"}\n");
}

TEST(an_object_has_the_places_of_the_template)
{
	struct outcome outcome CLEANUP(outcome_done) = {0};

	make(HEAD "parameters: [{name: A, value: '1'}]\nobjects:\n- {" OBJECT "}\n"
		  "- apiVersion: v1\n  kind: Thing\n  spec:\n    count: ${{A}}\n",
	     NULL, 0, &outcome);
	struct place place = document_place(outcome.objects[1], "spec.count");

	assert_int_equal(place.line, 9);
	assert_int_equal(place.column, 12);
	assert_int_equal(document_place(outcome.objects[1], "spec.none").line, 8);
	assert_int_equal(document_place(outcome.objects[1], "").line, 6);
}

/* A shell's variables look like that: it is said, and is no fault. */
TEST(names_that_are_no_parameters_stay)
{
	struct outcome outcome CLEANUP(outcome_done) = {0};

	make(HEAD "parameters: [{name: IMAGE, value: i}]\nobjects:\n- apiVersion: v1\n"
		  "  kind: Thing\n  command: ['${HOME}', '${IMAG} ${HOME} ${IMAGE}']\n",
	     NULL, 0, &outcome);
	assert_string_equal(text_of(&outcome.lines), "t.yaml:7:13: objects[0].command[0]: ${HOME} "
						     "is not a parameter, and is left as it is\n"
						     "t.yaml:7:24: objects[0].command[1]: ${IMAG} "
						     "is not a parameter, and is left as it is; "
						     "did you mean IMAGE?\n");
	assert_string_equal(
		json_as_string(json_at(json_get(document_root(outcome.objects[0]), "command"), 1),
			       ""),
		"${IMAG} ${HOME} i");
}

TEST(every_fault_is_told_with_its_place)
{
	static const struct template_value given[] = {{"WOKERS", "2"}, {"XYZ", ""}};

	assert_lines(
		HEAD "parameters:\n"
		     "- {name: WORKERS, value: 2}\n"
		     "- {name: NAME, required: true, description: of the job}\n"
		     "- {name: NAME}\n"
		     "- {name: a-b, requird: true}\n"
		     "- {name: R, generate: random}\n"
		     "- {name: S, generate: expression, from: '[a]{999}'}\n"
		     "objects:\n"
		     "- {kind: Thing, m: '${{NONE}}', o: 'a${{NAME}}'}\n"
		     "- text\n"
		     "- {" OBJECT ", 'a${R}': 1, a: 2}\n"
		     "object: []\n",
		given, ARRAY_LEN(given),
		"t.yaml: unknown parameter WOKERS; did you mean WORKERS?\n"
		"t.yaml: unknown parameter XYZ\n"
		"t.yaml:4:26: parameters[0].value: Invalid value: 2: expected text; put it in "
		"quotes\n"
		"t.yaml:5:3: parameters[1]: Required value: give parameter NAME one "
		"(-p NAME=VALUE): of the job\n"
		"t.yaml:6:10: parameters[2].name: Duplicate value: \"NAME\": another parameter "
		"has this name\n"
		"t.yaml:7:10: parameters[3].name: Required value: a parameter is named with "
		"letters, digits and '_'\n"
		"t.yaml:7:24: parameters[3].requird: unknown field; did you mean "
		"\"required\"?\n"
		"t.yaml:8:23: parameters[4].generate: Unsupported value: \"random\": supported "
		"values: \"expression\"\n"
		"t.yaml:9:41: parameters[5].from: Invalid value: '{999}': a set must produce 1 to "
		"255 characters\n"
		"t.yaml:11:3: objects[0].apiVersion: Required value: every object says what it "
		"is\n"
		"t.yaml:11:20: objects[0].m: Invalid value: unknown parameter NONE\n"
		"t.yaml:11:36: objects[0].o: Invalid value: ${{NAME}} must be the whole value; "
		"inside a string write ${NAME}\n"
		"t.yaml:12:3: objects[1]: Invalid value: \"text\": expected an object\n"
		"t.yaml:13:48: objects[2].a: Duplicate value: \"a\": another key becomes the "
		"same\n"
		"t.yaml:14:9: object: unknown field; did you mean \"objects\"?\n");
	assert_lines("kind: Template\napiVersion: v2\n", NULL, 0,
		     "t.yaml:1:1: objects: Required value: what the template makes\n"
		     "t.yaml:2:13: apiVersion: Unsupported value: \"v2\": supported values: "
		     "\"template.openshift.io/v1\", \"v1\"; did you mean \"v1\"?\n");
}

/* A megabyte for each of a hundred references. */
TEST(what_it_becomes_has_a_limit)
{
	struct text yaml CLEANUP(text_done) = {0};
	char *large CLEANUP(mem_free_text) = mem_new(1024 * 1024 + 1);
	const struct template_value given[] = {{"A", large}};

	memset(large, 'x', 1024 * 1024);
	text_add(&yaml, HEAD "parameters: [{name: A}]\nobjects: [{" OBJECT ", m: [");
	for (int i = 0; i < 100; i++)
		text_add(&yaml, "'${A}', '${{A}}', ");
	text_add(&yaml, "]}]\n");
	assert_lines(text_of(&yaml), given, 1,
		     "t.yaml:1:1: with its parameters, it is larger than 16 MiB\n");

	text_clear(&yaml);
	text_add(&yaml, HEAD "objects: [{" OBJECT "}]\nparameters:\n");
	for (int i = 0; i <= LIMIT_PARAMETERS; i++)
		text_addf(&yaml, "- {name: A%d}\n", i);
	assert_lines(text_of(&yaml), NULL, 0,
		     "t.yaml:4:1: parameters: Too many: must have at most 1000 parameters\n");
}

TEST(parameters_are_listed_as_they_are_written)
{
	static const char yaml[] = HEAD
		"parameters: [{name: A, description: first, required: true}, {name: B, value: b}, "
		"{name: C, generate: expression, from: '[a]{3}'}]\n";
	struct template_parameter *parameters CLEANUP(mem_free_any) = NULL;
	struct faults faults CLEANUP(faults_done) = {0};
	struct document **documents;
	size_t n_documents, count;

	assert_int_equal(documents_read(yaml, strlen(yaml), &documents, &n_documents, NULL), 0);
	assert_int_equal(template_parameters(documents[0], &faults, &parameters, &count), 0);
	assert_int_equal(count, 3);
	assert_string_equal(parameters[0].description, "first");
	assert_true(parameters[0].is_required && !parameters[0].value);
	assert_string_equal(parameters[1].value, "b");
	assert_string_equal(parameters[2].from, "[a]{3}");
	documents_free(documents, n_documents);
}
