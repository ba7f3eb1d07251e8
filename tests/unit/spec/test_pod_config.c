/* What a Pod is told by the master of ElasticDL's launcher. */
#include "unit.h"

#include "base/mem.h"
#include "base/text.h"
#include "spec/pod_config.h"

#include <stdlib.h>
#include <string.h>

static void assert_refused(const char *body, const char *sentence)
{
	struct pod_config config = {0};
	struct err err = {0};

	assert_true(pod_config_read(body, strlen(body), &config, &err) < 0);
	assert_string_equal(err.text, sentence);
	assert_null(config.tf_config);
}

static struct pod_config read_config(const char *body)
{
	struct pod_config config = {0};
	struct err err = {0};

	assert_int_equal(pod_config_read(body, strlen(body), &config, &err), 0);
	return config;
}

static void a_config_becomes_two_variables(void **state)
{
	(void) state;
	struct pod_config config CLEANUP(pod_config_done) =
		read_config("{\"MASTER\": \"10.0.0.1:7897\", \"SET_ID\": 3, \"NUM_WORKERS\": 4,\n"
			    "\"TF_CONFIG\": {\"cluster\": {\"worker\": [\"10.0.0.2:1234\"]},\n"
			    "\"task\": {\"type\": \"worker\", \"index\": 0}}, \"MORE\": null}");

	assert_string_equal(config.master, "10.0.0.1:7897");
	assert_string_equal(config.set_id, "3");
	assert_string_equal(config.num_workers, "4");
	assert_string_equal(config.tf_config, "{\"cluster\":{\"worker\":[\"10.0.0.2:1234\"]},"
					      "\"task\":{\"type\":\"worker\",\"index\":0}}");
}

static void texts_of_values_are_values(void **state)
{
	(void) state;
	struct pod_config config CLEANUP(pod_config_done) =
		read_config("{\"NUM_WORKERS\": \"2\", \"TF_CONFIG\": \"{\\\"a\\\": 1}\"}");

	assert_null(config.master);
	assert_null(config.set_id);
	assert_string_equal(config.num_workers, "2");
	assert_string_equal(config.tf_config, "{\"a\":1}");
}

static void each_fault_has_a_sentence(void **state)
{
	static const char workers[] = "NUM_WORKERS: expected a whole number from 0 to 10000";
	static const char tf_config[] = "TF_CONFIG: expected an object";

	(void) state;
	assert_refused("[]", "expected an object with NUM_WORKERS and TF_CONFIG");
	assert_refused("{\"TF_CONFIG\": {}}", workers);
	assert_refused("{\"NUM_WORKERS\": -1, \"TF_CONFIG\": {}}", workers);
	assert_refused("{\"NUM_WORKERS\": 10001, \"TF_CONFIG\": {}}", workers);
	assert_refused("{\"NUM_WORKERS\": \"4x\", \"TF_CONFIG\": {}}", workers);
	assert_refused("{\"NUM_WORKERS\": 1.5, \"TF_CONFIG\": {}}", workers);
	assert_refused("{\"NUM_WORKERS\": 1}", tf_config);
	assert_refused("{\"NUM_WORKERS\": 1, \"TF_CONFIG\": []}", tf_config);
	assert_refused("{\"NUM_WORKERS\": 1, \"TF_CONFIG\": \"{\"}", tf_config);
}

/* {"NUM_WORKERS": 1, "TF_CONFIG": {"a": "xxx…"}}, of which the variable has so many bytes. */
static char *body_of(size_t variable)
{
	struct text text CLEANUP(text_done) = {0};

	text_add(&text, "{\"NUM_WORKERS\": 1, \"TF_CONFIG\": {\"a\": \"");
	for (size_t i = strlen("TF_CONFIG={\"a\":\"\"}"); i < variable; i++)
		text_add_char(&text, 'x');
	text_add(&text, "\"}}");
	return mem_copy_text(text_of(&text));
}

static void a_config_is_as_long_as_a_variable_at_most(void **state)
{
	char *most CLEANUP(mem_free_text) = body_of(POD_CONFIG_VARIABLE_LIMIT - 1);
	char *more CLEANUP(mem_free_text) = body_of(POD_CONFIG_VARIABLE_LIMIT);
	struct pod_config config CLEANUP(pod_config_done) = read_config(most);

	(void) state;
	assert_int_equal(strlen(config.tf_config) + strlen("TF_CONFIG=") + 1,
			 POD_CONFIG_VARIABLE_LIMIT);
	assert_refused(more, "TF_CONFIG: must be shorter than 128 KiB, as any variable");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_config_becomes_two_variables),
		cmocka_unit_test(texts_of_values_are_values),
		cmocka_unit_test(each_fault_has_a_sentence),
		cmocka_unit_test(a_config_is_as_long_as_a_variable_at_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
