#include "unit.h"

#include "kube/rights.h"

static const struct kube_resource pods = {"", "v1", "pods", false};
static const struct kube_resource leases = {"coordination.k8s.io", "v1", "leases", false};

static const struct kube_right rights[] = {
	{KUBE_CREATE, &pods, NULL},
	{KUBE_DELETE, &pods, NULL},
	{KUBE_GET, &pods, "log"},
	{KUBE_CREATE, &leases, NULL},
};

TEST(one_rule_gives_all_that_is_missing)
{
	const bool is_missing[] = {false, true, true, true};
	struct err err = {0};

	assert_int_equal(kube_rights_refuse("ada", rights, is_missing, ARRAY_LEN(rights), &err),
			 ERR_REFUSED);
	assert_string_equal(
		err.text,
		"cannot delete pods in namespace 'ada': permission denied; add this rule to a Role "
		"there: {apiGroups: [\"\", \"coordination.k8s.io\"], resources: [\"pods\", "
		"\"pods/log\", \"leases\"], verbs: [\"delete\", \"get\", \"create\"]}");
}

TEST(what_is_allowed_is_in_no_rule)
{
	const bool is_missing[] = {false, false, true, false};
	struct err err = {0};

	kube_rights_refuse("ada", rights, is_missing, ARRAY_LEN(rights), &err);
	assert_non_null(strstr(err.text, "{apiGroups: [\"\"], resources: [\"pods/log\"], "
					 "verbs: [\"get\"]}"));
}
