#include "unit.h"

#include "kube/status.h"

static const struct kube_resource pods = {"", "v1", "pods", false};
static const struct kube_request create = {
	.verb = KUBE_CREATE, .resource = &pods, .name = "worker-0"};

static int read_answer(int http_code, const char *body, struct kube_status *status, struct err *err)
{
	return kube_status_read(&create, "ada", http_code, body, strlen(body), status, err);
}

static void the_reason_decides_which_conflict_it_is(void **state)
{
	struct kube_status status;

	(void) state;
	assert_int_equal(read_answer(409,
				     "{\"kind\":\"Status\",\"reason\":\"AlreadyExists\","
				     "\"message\":\"pods exists\",\"code\":409}",
				     &status, NULL),
			 ERR_EXISTS);
	assert_string_equal(status.reason, "AlreadyExists");
	assert_int_equal(
		read_answer(409, "{\"kind\":\"Status\",\"reason\":\"Conflict\"}", &status, NULL),
		ERR_CONFLICT);
	assert_int_equal(status.code, 409);
}

static void codes_become_errors_of_ours(void **state)
{
	static const struct {
		int code, expected;
	} rows[] = {
		{400, ERR_INVALID},     {401, ERR_REFUSED},     {403, ERR_REFUSED},
		{404, ERR_NOT_FOUND},   {405, ERR_UNSUPPORTED}, {410, ERR_CONFLICT},
		{413, ERR_LIMIT},       {422, ERR_INVALID},     {429, ERR_UNREACHABLE},
		{500, ERR_UNREACHABLE}, {503, ERR_UNREACHABLE}, {302, ERR_UNREACHABLE},
	};
	struct kube_status status;

	(void) state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(read_answer(rows[i].code, "", &status, NULL), rows[i].expected);
}

static void a_missing_right_comes_with_the_rule_to_add(void **state)
{
	struct kube_status status;
	struct err err = {0};

	(void) state;
	read_answer(
		403,
		"{\"kind\":\"Status\",\"reason\":\"Forbidden\",\"code\":403,\"message\":\"pods is "
		"forbidden: User \\\"eve\\\" cannot create resource \\\"pods\\\" in API group "
		"\\\"\\\" in the namespace \\\"ada\\\"\"}",
		&status, &err);
	assert_string_equal(err.text,
			    "cannot create pods 'worker-0' in namespace 'ada': pods is forbidden: "
			    "User \"eve\" cannot create resource \"pods\" in API group \"\" in the "
			    "namespace \"ada\"; add this rule to a Role there: {apiGroups: [\"\"], "
			    "resources: [\"pods\"], verbs: [\"create\"]}");
}

static void a_quota_needs_no_rule(void **state)
{
	struct kube_status status;
	struct err err = {0};

	(void) state;
	read_answer(403,
		    "{\"kind\":\"Status\",\"reason\":\"Forbidden\",\"message\":\"pods "
		    "\\\"worker-0\\\" is "
		    "forbidden: exceeded quota: pods, requested: pods=1\"}",
		    &status, &err);
	assert_non_null(strstr(err.text, "exceeded quota"));
	assert_null(strstr(err.text, "rule"));
	assert_int_equal(status.refusal, KUBE_REFUSED_QUOTA);
}

static void the_server_may_say_how_long_to_wait(void **state)
{
	struct kube_status status;

	(void) state;
	read_answer(503, "{\"kind\":\"Status\",\"details\":{\"retryAfterSeconds\":3}}", &status,
		    NULL);
	assert_int_equal(status.retry_after, 3000);
	read_answer(503, "{\"kind\":\"Status\",\"details\":{\"retryAfterSeconds\":-5}}", &status,
		    NULL);
	assert_int_equal(status.retry_after, -1);
}

static void what_is_no_status_still_becomes_a_sentence(void **state)
{
	struct kube_status status;
	struct err err = {0};

	(void) state;
	read_answer(502, "<html>\nBad Gateway</html>", &status, &err);
	assert_string_equal(
		err.text,
		"cannot create pods 'worker-0' in namespace 'ada': the server responded with 502");
	read_answer(503, "Too busy, sorry\nsecond line", &status, &err);
	assert_string_equal(err.text,
			    "cannot create pods 'worker-0' in namespace 'ada': Too busy, sorry");
	read_answer(500, "{\"kind\":\"Pod\"}", &status, &err);
	assert_int_equal(status.code, 500);
	assert_string_equal(status.reason, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_reason_decides_which_conflict_it_is),
		cmocka_unit_test(codes_become_errors_of_ours),
		cmocka_unit_test(a_missing_right_comes_with_the_rule_to_add),
		cmocka_unit_test(a_quota_needs_no_rule),
		cmocka_unit_test(the_server_may_say_how_long_to_wait),
		cmocka_unit_test(what_is_no_status_still_becomes_a_sentence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
