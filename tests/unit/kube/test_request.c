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

TEST(core_objects_and_those_of_groups_have_different_addresses)
{
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

TEST(all_namespaces_are_none_in_the_address)
{
	assert_url(&(struct kube_request){.verb = KUBE_LIST,
					  .resource = &pods,
					  .namespace_name = KUBE_ALL_NAMESPACES},
		   "https://h:1/p/api/v1/pods");
}

TEST(parameters_are_escaped_and_a_watch_says_so)
{
	const struct kube_parameter parameters[] = {
		{"labelSelector", "muster/job=a b,x in (1,2)"}, {"limit", "5"}, {NULL, NULL}};

	assert_url(&(struct kube_request){.verb = KUBE_WATCH,
					  .resource = &pods,
					  .parameters = parameters},
		   "https://h:1/p/api/v1/namespaces/own/pods"
		   "?labelSelector=muster%2Fjob%3Da%20b%2Cx%20in%20%281%2C2%29&limit=5&watch=true");
}

TEST(no_name_can_leave_its_place)
{
	assert_url(&(struct kube_request){.verb = KUBE_GET,
					  .resource = &pods,
					  .name = "../../secrets?x#y",
					  .subresource = "log"},
		   "https://h:1/p/api/v1/namespaces/own/pods/..%2F..%2Fsecrets%3Fx%23y/log");
}

TEST(each_verb_has_its_method_and_type)
{
	struct kube_request request = {.verb = KUBE_APPLY, .resource = &pods, .name = "a"};

	assert_string_equal(kube_verbs[request.verb].method, "PATCH");
	assert_string_equal(kube_verbs[request.verb].content_type, "application/apply-patch+yaml");
	assert_string_equal(kube_verbs[KUBE_APPLY].word, "patch");
	assert_string_equal(kube_verbs[KUBE_DELETE_COLLECTION].word, "deletecollection");
}

TEST(the_name_of_what_is_created_stands_in_its_body)
{
	struct json *body CLEANUP(json_cleanup) = json_new_object();
	struct text object CLEANUP(text_done) = {0};

	json_set_string(json_object_at(body, "metadata"), "name", "worker-0");
	const struct kube_request request = {.verb = KUBE_CREATE, .resource = &pods, .body = body};

	assert_string_equal(kube_request_name(&request), "worker-0");
	assert_url(&request, "https://h:1/p/api/v1/namespaces/own/pods");
	kube_request_add_object(&object, &request);
	assert_string_equal(text_of(&object), "pods 'worker-0'");
}
