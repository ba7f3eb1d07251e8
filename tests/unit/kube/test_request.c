#include "unit.h"

#include "kube/request.h"

static const struct kube_resource pods = {"", "v1", "pods", false};
static const struct kube_resource leases = {"coordination.k8s.io", "v1", "leases", false};
static const struct kube_resource nodes = {"", "v1", "nodes", true};

static void assert_url(const struct kube_request *request, const char *expected)
{
	struct text url CLEANUP(text_done) = {0};

	kube_request_add_url(&url, request, "https://h:1/p", "own");
	assert_string_equal(text_of(&url), expected);
}

static void core_objects_and_those_of_groups_have_different_addresses(void **state)
{
	(void) state;
	assert_url(&(struct kube_request){.verb = KUBE_GET, .resource = &pods, .name = "a"},
		   "https://h:1/p/api/v1/namespaces/own/pods/a");
	assert_url(&(struct kube_request){.verb = KUBE_GET,
					  .resource = &leases,
					  .namespace_name = "other",
					  .name = "a"},
		   "https://h:1/p/apis/coordination.k8s.io/v1/namespaces/other/leases/a");
	assert_url(&(struct kube_request){.verb = KUBE_GET, .resource = &nodes, .name = "a"},
		   "https://h:1/p/api/v1/nodes/a");
}

static void all_namespaces_are_none_in_the_address(void **state)
{
	(void) state;
	assert_url(&(struct kube_request){.verb = KUBE_LIST,
					  .resource = &pods,
					  .namespace_name = KUBE_ALL_NAMESPACES},
		   "https://h:1/p/api/v1/pods");
}

static void parameters_are_escaped_and_a_watch_says_so(void **state)
{
	const struct kube_parameter parameters[] = {
		{"labelSelector", "muster/job=a b,x in (1,2)"}, {"limit", "5"}, {NULL, NULL}};

	(void) state;
	assert_url(&(struct kube_request){.verb = KUBE_WATCH,
					  .resource = &pods,
					  .parameters = parameters},
		   "https://h:1/p/api/v1/namespaces/own/pods"
		   "?labelSelector=muster%2Fjob%3Da%20b%2Cx%20in%20%281%2C2%29&limit=5&watch=true");
}

static void no_name_can_leave_its_place(void **state)
{
	(void) state;
	assert_url(&(struct kube_request){.verb = KUBE_GET,
					  .resource = &pods,
					  .name = "../../secrets?x#y",
					  .subresource = "log"},
		   "https://h:1/p/api/v1/namespaces/own/pods/..%2F..%2Fsecrets%3Fx%23y/log");
}

static void each_verb_has_its_method_and_type(void **state)
{
	struct kube_request request = {.verb = KUBE_APPLY, .resource = &pods, .name = "a"};

	(void) state;
	assert_string_equal(kube_request_method(&request), "PATCH");
	assert_string_equal(kube_request_content_type(&request), "application/apply-patch+yaml");
	assert_string_equal(kube_verb_word(KUBE_APPLY), "patch");
	assert_string_equal(kube_verb_word(KUBE_DELETE_COLLECTION), "deletecollection");
}

static void the_name_of_what_is_created_stands_in_its_body(void **state)
{
	struct json *body CLEANUP(json_cleanup) = json_new_object();
	struct text object CLEANUP(text_done) = {0};

	(void) state;
	json_set_string(json_object_at(body, "metadata"), "name", "worker-0");
	const struct kube_request request = {.verb = KUBE_CREATE, .resource = &pods, .body = body};

	assert_string_equal(kube_request_name(&request), "worker-0");
	assert_url(&request, "https://h:1/p/api/v1/namespaces/own/pods");
	kube_request_add_object(&object, &request);
	assert_string_equal(text_of(&object), "pods 'worker-0'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(core_objects_and_those_of_groups_have_different_addresses),
		cmocka_unit_test(all_namespaces_are_none_in_the_address),
		cmocka_unit_test(parameters_are_escaped_and_a_watch_says_so),
		cmocka_unit_test(no_name_can_leave_its_place),
		cmocka_unit_test(each_verb_has_its_method_and_type),
		cmocka_unit_test(the_name_of_what_is_created_stands_in_its_body),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
