/* What a person may write to name a job. */
#include "unit.h"

#include "base/mem.h"
#include "cli/job_reference.h"

static void check(const char *text, enum job_place place, const char *namespace_name,
		  const char *name)
{
	struct job_reference reference CLEANUP(job_reference_done) = {0};
	struct err err = {0};

	assert_int_equal(job_reference_read(text, &reference, &err), 0);
	assert_int_equal(reference.place, place);
	assert_string_equal(reference.name, name);
	if (namespace_name)
		assert_string_equal(reference.namespace_name, namespace_name);
	else
		assert_null(reference.namespace_name);
}

static void a_plain_name_may_be_anywhere(void **state)
{
	(void) state;
	check("digits-x7k2p", JOB_ANYWHERE, NULL, "digits-x7k2p");
	check("kubernetes", JOB_ANYWHERE, NULL, "kubernetes");
	check("local", JOB_ANYWHERE, NULL, "local");
}

static void a_place_before_the_name_decides(void **state)
{
	(void) state;
	check("local/digits", JOB_HERE, NULL, "digits");
	check("kubernetes/ada/digits", JOB_ON_CLUSTER, "ada", "digits");
	check("kubernetes/2nd-team/digits", JOB_ON_CLUSTER, "2nd-team", "digits");
}

static void anything_else_is_refused_with_the_forms_there_are(void **state)
{
	static const char *const texts[] = {"",
					    "/",
					    "local/",
					    "local/a/b",
					    "kubernetes/",
					    "ada/digits",
					    "kubernetes/a/",
					    "kubernetes/ada",
					    "kubernetes/a/b/c"};

	(void) state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct job_reference reference = {0};
		struct err err = {0};

		assert_int_equal(job_reference_read(texts[i], &reference, &err), ERR_INVALID);
		assert_non_null(strstr(err.text, "kubernetes/NAMESPACE/NAME"));
	}
}

static void a_namespace_that_none_can_be_called_is_named(void **state)
{
	struct job_reference reference = {0};
	struct err err = {0};

	(void) state;
	assert_int_equal(job_reference_read("kubernetes/Ada_/digits", &reference, &err),
			 ERR_INVALID);
	assert_string_equal(err.text,
			    "'kubernetes/Ada_/digits': 'Ada_' is not a valid namespace name");
	assert_int_equal(job_reference_read("kubernetes//digits", &reference, &err), ERR_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plain_name_may_be_anywhere),
		cmocka_unit_test(a_place_before_the_name_decides),
		cmocka_unit_test(anything_else_is_refused_with_the_forms_there_are),
		cmocka_unit_test(a_namespace_that_none_can_be_called_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
