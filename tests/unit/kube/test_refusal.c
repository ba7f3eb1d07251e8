/* Sentences of API servers (Kubernetes 1.36), and whether they may think better of it. */
#include "unit.h"

#include "base/own.h"
#include "kube/refusal.h"

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

static void each_refusal_is_known_by_its_words(void **state)
{
	(void) state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (kube_refusal_of(rows[i].code, rows[i].message) != rows[i].expected)
			fail_msg("%d %s", rows[i].code, rows[i].message);
}

static void what_many_are_refused_for_is_said_without_their_names(void **state)
{
	(void) state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_refusal_is_known_by_its_words),
		cmocka_unit_test(what_many_are_refused_for_is_said_without_their_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
