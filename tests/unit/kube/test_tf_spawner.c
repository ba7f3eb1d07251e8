/* The objects of TF-Spawner. Whole ones are compared in tests/system/test_tf_spawner.py. */
#include "unit_json.h"

#include "kube/tf_spawner.h"
#include "spec/pod_template.h"

static struct tf_spawner two_workers(void)
{
	return (struct tf_spawner){
		.n_workers = 2,
		.port = 1999,
		.tag = "mine",
		.image = "a:1",
		.script = "pass\n",
	};
}

static struct json *objects_of(const struct tf_spawner *wanted)
{
	struct json *list = NULL;
	struct err err = {0};

	if (tf_spawner_objects_new(wanted, &list, &err))
		fail_msg("%s", err.text);
	return list;
}

TEST(names_come_before_those_who_look_for_them)
{
	static const char *const kinds[] = {"ConfigMap", "Service", "Service", "Pod", "Pod"};
	struct tf_spawner wanted = two_workers();
	struct json *list CLEANUP(json_cleanup) = objects_of(&wanted);

	assert_int_equal(json_count(list), ARRAY_LEN(kinds));
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		const struct json *object = json_at(list, i);

		assert_string_equal(json_as_string(json_get(object, "kind"), ""), kinds[i]);
		assert_json(json_get_path(object, "metadata", "labels", TF_SPAWNER_LABEL, NULL),
			    "\"mine\"");
	}
}

TEST(variables_of_a_file_replace_ours_and_are_literal)
{
	static const struct env_entry env[] = {
		{"S3_KEY", "a$(TOT_WORKERS)"}, {"TOT_WORKERS", "7"}, {"S3_KEY", "$$"}};
	struct tf_spawner wanted = two_workers();

	wanted.env = env;
	wanted.n_env = ARRAY_LEN(env);
	struct json *list CLEANUP(json_cleanup) = objects_of(&wanted);

	assert_json(
		json_get(json_at(json_get_path(json_at(list, 4), "spec", "containers", NULL), 0),
			 "env"),
		"[{\"name\":\"TF_CONFIG\",\"value\":\"{\\\"cluster\\\": {\\\"worker\\\": "
		"[\\\"worker0:1999\\\", \\\"worker1:1999\\\"]}, \\\"task\\\": {\\\"type\\\": "
		"\\\"worker\\\", \\\"index\\\": 1}}\"},"
		"{\"name\":\"WORKER_NUMBER\",\"value\":\"1\"},"
		"{\"name\":\"TOT_WORKERS\",\"value\":\"7\"},"
		"{\"name\":\"S3_KEY\",\"value\":\"$$$\"}]");
}

TEST(a_template_keeps_what_is_its_own)
{
	struct json *pod CLEANUP(json_cleanup) = json_of(
		"{\"metadata\":{\"name\":\"PODNAME\",\"labels\":{\"team\":\"a\"}},\"spec\":{"
		"\"containers\":[{\"name\":\"x\",\"image\":\"old\",\"env\":[{\"name\":\"GONE\"}],"
		"\"command\":[\"python\"]},{\"name\":\"side\",\"image\":\"s\"}]}}");
	struct tf_spawner wanted = two_workers();

	wanted.pod = pod;
	wanted.command = "for i in 1 2; do echo $(date); done\n";
	struct json *list CLEANUP(json_cleanup) = objects_of(&wanted);
	const struct json *made = json_at(list, 3);
	const struct json *containers = json_get_path(made, "spec", "containers", NULL);

	assert_json(
		json_get(made, "metadata"),
		"{\"name\":\"worker0\",\"labels\":{\"team\":\"a\",\"training_attempt\":\"mine\","
		"\"app\":\"worker0\"}}");
	assert_json(json_get(json_at(containers, 0), "image"), "\"a:1\"");
	assert_json(json_get(json_at(containers, 0), "command"),
		    "[\"/bin/bash\",\"-e\",\"-c\",\"for i in 1 2; do echo $$(date); done\\n\"]");
	assert_null(pod_template_find(json_get(json_at(containers, 0), "env"), "name", "GONE"));
	assert_json(json_at(containers, 1), "{\"name\":\"side\",\"image\":\"s\"}");
}

TEST(a_template_without_its_main_part_is_refused)
{
	struct json *empty CLEANUP(json_cleanup) = json_of("{\"spec\":{}}");
	struct tf_spawner wanted = two_workers();
	struct json *list = NULL;
	struct err err = {0};

	wanted.pod = empty;
	assert_int_equal(tf_spawner_objects_new(&wanted, &list, &err), ERR_INVALID);
	assert_string_equal(err.text, "the template of a Pod has no spec.containers[0]");
	wanted.pod = NULL;
	wanted.service = empty;
	assert_int_equal(tf_spawner_objects_new(&wanted, &list, &err), ERR_INVALID);
	assert_string_equal(err.text, "the template of a Service has no spec.ports[0]");
	assert_null(list);
}
