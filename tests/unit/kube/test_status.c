#include "unit.h"

#include "base/mem.h"
#include "kube/status.h"

static const struct kube_resource pods = {"", "v1", "pods", false};
static const struct kube_request create = {
	.verb = KUBE_CREATE, .resource = &pods, .name = "worker-0"};

static int read_answer(int http_code, const char *body, struct kube_status *status, struct err *err)
{
	return kube_status_read(&create, "ada", http_code, body, strlen(body), status, err);
}

TEST(the_reason_decides_which_conflict_it_is)
{
	struct kube_status status;

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

TEST(codes_become_errors_of_ours)
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

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(read_answer(rows[i].code, "", &status, NULL), rows[i].expected);
}

TEST(a_missing_right_comes_with_the_rule_to_add)
{
	struct kube_status status;
	struct err err = {0};

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

TEST(a_quota_needs_no_rule)
{
	struct kube_status status;
	struct err err = {0};

	read_answer(403,
		    "{\"kind\":\"Status\",\"reason\":\"Forbidden\",\"message\":\"pods "
		    "\\\"worker-0\\\" is "
		    "forbidden: exceeded quota: pods, requested: pods=1\"}",
		    &status, &err);
	assert_non_null(strstr(err.text, "exceeded quota"));
	assert_null(strstr(err.text, "rule"));
	assert_int_equal(status.refusal, KUBE_REFUSED_QUOTA);
}

TEST(the_server_may_say_how_long_to_wait)
{
	struct kube_status status;

	read_answer(503, "{\"kind\":\"Status\",\"details\":{\"retryAfterSeconds\":3}}", &status,
		    NULL);
	assert_int_equal(status.retry_after, 3000);
	read_answer(503, "{\"kind\":\"Status\",\"details\":{\"retryAfterSeconds\":-5}}", &status,
		    NULL);
	assert_int_equal(status.retry_after, -1);
}

TEST(what_is_no_status_still_becomes_a_sentence)
{
	struct kube_status status;
	struct err err = {0};

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

TEST(a_warning_is_shown_without_its_wrapping)
{
	char *text CLEANUP(mem_free_text) = kube_warning_text("299 - \"it is \\\"old\\\"\"");

	assert_string_equal(text, "it is \"old\"");
	assert_null(kube_warning_text("299"));
	assert_null(kube_warning_text("299 - \"\""));
}

static const struct {
	int code;
	enum kube_refusal expected;
	const char *message;
} rows[] = {
	{403, KUBE_REFUSED_RIGHT,
	 "pods is forbidden: User \"eve\" cannot create resource \"pods\" in API group \"\" in the "
	 "namespace \"ada\""},
	{403, KUBE_REFUSED_QUOTA,
	 "pods \"a\" is forbidden: exceeded quota: few, requested: pods=1, used: pods=2, limited: "
	 "pods=2"},
	{403, KUBE_REFUSED_FOR_EVER,
	 "pods \"a\" is forbidden: failed quota: few: must specify cpu for: tensorflow"},
	{403, KUBE_REFUSED_FOR_EVER,
	 "pods \"a\" is forbidden: violates PodSecurity \"restricted:latest\": hostPath volumes "
	 "(volume \"v\")"},
	{403, KUBE_REFUSED_FOR_EVER,
	 "pods \"a\" is forbidden: maximum cpu usage per Container is 1, but limit is 2"},
	{403, KUBE_REFUSED_FOR_EVER,
	 "pods \"a\" is forbidden: unable to create new content in namespace n because it is being "
	 "terminated"},
	{403, KUBE_REFUSED_FOR_NOW,
	 "pods \"a\" is forbidden: error looking up service account n/default: serviceaccount "
	 "\"default\" not found"},
	{404, KUBE_REFUSED_FOR_EVER, "namespaces \"n\" not found"},
	{422, KUBE_REFUSED_FOR_EVER, "Pod \"a\" is invalid: spec.containers[0].name: Required"},
	{400, KUBE_REFUSED_FOR_EVER, "admission webhook \"w\" denied the request: no"},
	{409, KUBE_REFUSED_FOR_NOW, "pods \"a\" already exists"},
	{429, KUBE_NOT_REFUSED, "too many requests"},
	{500, KUBE_NOT_REFUSED, "failed calling webhook \"w\""},
	{401, KUBE_NOT_REFUSED, "Unauthorized"},
	{201, KUBE_NOT_REFUSED, ""},
};

TEST(each_refusal_is_known_by_its_words)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (kube_refusal_of(rows[i].code, rows[i].message) != rows[i].expected)
			fail_msg("%d %s", rows[i].code, rows[i].message);
}

TEST(what_many_are_refused_for_is_said_without_their_names)
{
	assert_string_equal(
		kube_refusal_why("cannot create pods 'a' in namespace 'n': pods \"a\" is "
				 "forbidden: exceeded quota: few"),
		"exceeded quota: few");
	assert_string_equal(
		kube_refusal_why("cannot create pods 'a' in namespace 'n': Pod \"a\" is "
				 "invalid: spec: Required"),
		"spec: Required");
	assert_string_equal(kube_refusal_why("cannot create pods 'a': connection refused"),
			    "connection refused");
	assert_string_equal(kube_refusal_why("no colon"), "no colon");
}
