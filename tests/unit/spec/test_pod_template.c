#include "unit.h"

#include "base/yaml.h"
#include "spec/pod_template.h"

static struct json *read_yaml(const char *yaml)
{
	struct document **documents;
	struct err err = {0};
	struct json *value;
	size_t count;

	if (documents_read(yaml, strlen(yaml), &documents, &count, &err))
		fail_msg("%s: %s", yaml, err.text);
	assert_int_equal(count, 1);
	value = json_new_copy(document_root(documents[0]));
	documents_free(documents, count);
	return value;
}

static void expect(const char *ground_yaml, const char *over_yaml, const char *expected_yaml)
{
	struct json *ground CLEANUP(json_cleanup) = read_yaml(ground_yaml);
	struct json *over CLEANUP(json_cleanup) = read_yaml(over_yaml);
	struct json *expected CLEANUP(json_cleanup) = read_yaml(expected_yaml);
	struct json *result CLEANUP(json_cleanup) = pod_template_laid_over(ground, over);
	struct text text CLEANUP(text_done) = {0};

	yaml_add(&text, result);
	if (!json_equals(result, expected))
		fail_msg("%s", text_of(&text));
}

TEST(what_lies_above_wins_and_the_rest_shows_through)
{
	expect("{metadata: {labels: {team: a, tier: x}}, spec: {hostNetwork: true, nodeName: n}}",
	       "{metadata: {labels: {team: b}}, spec: {nodeName: null, priority: 3}}",
	       "{metadata: {labels: {team: b, tier: x}}, spec: {hostNetwork: true, priority: 3}}");
}

TEST(containers_are_merged_by_name)
{
	expect("{spec: {containers: [{name: log, image: l}, {name: tensorflow, image: a, tty: "
	       "true}]}}",
	       "{spec: {containers: [{name: tensorflow, image: b}, {name: more, image: m}]}}",
	       "{spec: {containers: [{name: log, image: l}, {name: tensorflow, image: b, tty: "
	       "true},"
	       " {name: more, image: m}]}}");
}

TEST(the_first_container_trains_where_none_is_called_tensorflow)
{
	expect("{spec: {containers: [{name: main, tty: true}, {name: log}]}}",
	       "{spec: {containers: [{name: tensorflow, image: b}]}}",
	       "{spec: {containers: [{name: tensorflow, tty: true, image: b}, {name: log}]}}");
}

TEST(elements_that_are_a_choice_are_taken_whole)
{
	expect("{spec: {containers: [{name: tensorflow, env: [{name: A, valueFrom: {x: 1}}, {name: "
	       "C}]}],"
	       " volumes: [{name: v, emptyDir: {}}]}}",
	       "{spec: {containers: [{name: tensorflow, env: [{name: A, value: '1'}, {name: B}]}],"
	       " volumes: [{name: v, hostPath: {path: /x}}]}}",
	       "{spec: {containers: [{name: tensorflow, env: [{name: A, value: '1'}, {name: C}, "
	       "{name: B}]}],"
	       " volumes: [{name: v, hostPath: {path: /x}}]}}");
}

TEST(the_last_of_two_variables_counts)
{
	expect("{spec: {containers: [{name: t, env: [{name: A, value: '0'}]}]}}",
	       "{spec: {containers: [{name: t, env: [{name: A, value: '1'}, {name: A, value: "
	       "'2'}]}]}}",
	       "{spec: {containers: [{name: t, env: [{name: A, value: '2'}]}]}}");
}

TEST(lists_of_values_are_taken_whole)
{
	expect("{spec: {containers: [{name: t, args: [a, b], ports: [{containerPort: 1}]}]}}",
	       "{spec: {containers: [{name: t, args: [c], ports: [{containerPort: 2}]}]}}",
	       "{spec: {containers: [{name: t, args: [c], ports: [{containerPort: 1},"
	       " {containerPort: 2}]}]}}");
}

TEST(args_of_another_command_are_left_out)
{
	expect("{spec: {containers: [{name: t, command: [serve], args: [a]}, {name: u, args: "
	       "[b]}]}}",
	       "{spec: {containers: [{name: t, command: [train]}]}}",
	       "{spec: {containers: [{name: t, command: [train]}, {name: u, args: [b]}]}}");
	expect("{spec: {containers: [{name: t, command: [serve], args: [a]}]}}",
	       "{spec: {containers: [{name: t, command: [train], args: [c]}]}}",
	       "{spec: {containers: [{name: t, command: [train], args: [c]}]}}");
	expect("{spec: {containers: [{name: t, args: [a]}]}}",
	       "{spec: {containers: [{name: t, image: i}]}}",
	       "{spec: {containers: [{name: t, args: [a], image: i}]}}");
}

TEST(a_template_without_anything_changes_nothing)
{
	expect("{}", "{spec: {containers: [{name: t}]}}", "{spec: {containers: [{name: t}]}}");
	expect("{spec: {containers: [{name: t}]}}", "{}", "{spec: {containers: [{name: t}]}}");
}
