#include "unit_json.h"

#include "base/mem.h"
#include "spec/job_build.h"
#include "spec/pod_build.h"
#include "spec/pod_template.h"

static const char *const true_command[] = {"true", NULL};

/* A job of a worker and a parameter server. */
static struct json *document_new(void)
{
	struct job_build build = {.name = "digits",
				  .workers = 1,
				  .ps = 1,
				  .command = true_command,
				  .grace = -1,
				  .timeout = -1};

	return job_document_new(&build);
}

static struct json *spec_of(const struct json *document, const char *title)
{
	return json_get_path(document, "spec", "tfReplicaSpecs", title, "template", "spec", NULL);
}

static struct json *container_of(const struct json *document, const char *title)
{
	return pod_template_container(
		json_get_path(document, "spec", "tfReplicaSpecs", title, "template", NULL));
}

static struct json *built(const struct pod_build *build)
{
	struct json *document = document_new();
	struct text faults CLEANUP(text_done) = {0};

	job_document_add_pods(document, build, &faults);
	assert_string_equal(text_of(&faults), "");
	return document;
}

static void refused(const struct pod_build *build, const char *part_of_sentence)
{
	struct json *document CLEANUP(json_cleanup) = document_new();
	struct text faults CLEANUP(text_done) = {0};

	job_document_add_pods(document, build, &faults);
	if (!strstr(text_of(&faults), part_of_sentence))
		fail_msg("%s", text_of(&faults));
}

TEST(an_image_is_for_every_role)
{
	struct pod_build build = {.image = "a:1", .default_image = "b:1"};
	struct json *document CLEANUP(json_cleanup) = built(&build);

	assert_json(json_get(container_of(document, "Worker"), "image"), "\"a:1\"");
	assert_json(json_get(container_of(document, "PS"), "image"), "\"a:1\"");
	build.image = NULL;
	job_document_add_pods(document, &build, &(struct text){0});
	assert_json(json_get(container_of(document, "Worker"), "image"), "\"a:1\"");

	struct json *other CLEANUP(json_cleanup) = built(&build);

	assert_json(json_get(container_of(other, "Worker"), "image"), "\"b:1\"");
}

TEST(memory_is_a_limit_and_cpu_is_none)
{
	struct pod_build build = {.cpu = "500m", .memory = "2Gi"};
	struct json *document CLEANUP(json_cleanup) = built(&build);

	assert_json(json_get(container_of(document, "PS"), "resources"),
		    "{\"requests\":{\"cpu\":\"500m\",\"memory\":\"2Gi\"},\"limits\":{\"memory\":"
		    "\"2Gi\"}"
		    "}");
}

TEST(a_limit_of_cpu_is_that_of_the_flag_where_there_is_one)
{
	struct pod_build build = {.cpu = "2"};
	struct text faults CLEANUP(text_done) = {0};
	struct json *document CLEANUP(json_cleanup) = document_new();
	struct json *resources = json_object_at(container_of(document, "Worker"), "resources");

	json_set_string(json_object_at(resources, "limits"), "cpu", "8");
	job_document_add_pods(document, &build, &faults);
	assert_json(resources, "{\"limits\":{\"cpu\":\"2\"},\"requests\":{\"cpu\":\"2\"}}");
}

TEST(parameter_servers_get_no_gpu)
{
	struct pod_build build = {.gpu = "2"};
	struct json *document CLEANUP(json_cleanup) = built(&build);

	assert_json(json_get(container_of(document, "Worker"), "resources"),
		    "{\"limits\":{\"nvidia.com/gpu\":\"2\"}}");
	assert_null(json_get(container_of(document, "PS"), "resources"));
	build.gpu = "amd.com/gpu=1";

	struct json *other CLEANUP(json_cleanup) = built(&build);

	assert_json(json_get(container_of(other, "Worker"), "resources"),
		    "{\"limits\":{\"amd.com/gpu\":\"1\"}}");
}

static struct json *annotations_of(const struct json *document, const char *title)
{
	return json_get_path(document, "spec", "tfReplicaSpecs", title, "template", "metadata",
			     "annotations", NULL);
}

TEST(no_gpu_is_a_limit_and_all_gpus_are_an_annotation)
{
	struct pod_build build = {.gpu = "all"};
	struct json *document CLEANUP(json_cleanup) = built(&build);

	assert_json(annotations_of(document, "Worker"), "{\"muster/gpus\":\"all\"}");
	assert_null(json_get(container_of(document, "Worker"), "resources"));
	assert_null(annotations_of(document, "PS"));
	build.gpu = "none";
	job_document_add_pods(document, &build, &(struct text){0});
	assert_json(annotations_of(document, "Worker"), "{}");
	assert_json(json_get(container_of(document, "Worker"), "resources"),
		    "{\"limits\":{\"nvidia.com/gpu\":\"0\"}}");
}

TEST(taints_are_written_as_kubectl_writes_them)
{
	static const char *const texts[] = {"gpu", "a.b/c=d:NoExecute", "x:NoSchedule", "*"};
	struct pod_build build = {.tolerations = {texts, ARRAY_LEN(texts)}};
	struct json *document CLEANUP(json_cleanup) = built(&build);

	assert_json(json_get(spec_of(document, "Worker"), "tolerations"),
		    "[{\"key\":\"gpu\",\"operator\":\"Exists\"},"
		    "{\"key\":\"a.b/"
		    "c\",\"operator\":\"Equal\",\"value\":\"d\",\"effect\":\"NoExecute\"},"
		    "{\"key\":\"x\",\"operator\":\"Exists\",\"effect\":\"NoSchedule\"},"
		    "{\"operator\":\"Exists\"}]");
}

TEST(one_claim_is_one_volume_with_several_mounts)
{
	static const char *const texts[] = {"data:/in:ro", "models:/out", "data:/again"};
	struct pod_build build = {.volumes = {texts, ARRAY_LEN(texts)}};
	struct json *document CLEANUP(json_cleanup) = built(&build);

	assert_json(json_get(spec_of(document, "Worker"), "volumes"),
		    "[{\"name\":\"muster-volume-0\",\"persistentVolumeClaim\":{\"claimName\":"
		    "\"data\"}},"
		    "{\"name\":\"muster-volume-1\",\"persistentVolumeClaim\":{\"claimName\":"
		    "\"models\"}}"
		    "]");
	assert_json(json_get(container_of(document, "Worker"), "volumeMounts"),
		    "[{\"name\":\"muster-volume-0\",\"mountPath\":\"/in\",\"readOnly\":true},"
		    "{\"name\":\"muster-volume-1\",\"mountPath\":\"/out\"},"
		    "{\"name\":\"muster-volume-0\",\"mountPath\":\"/again\"}]");
}

TEST(names_and_selectors_go_to_the_pod)
{
	static const char *const selectors[] = {"disk=ssd", "zone=a"};
	static const char *const secrets[] = {"one", "two", "one"};
	struct pod_build build = {.node_selectors = {selectors, 2},
				  .image_pull_secrets = {secrets, 3},
				  .service_account = "trainer",
				  .priority = "high",
				  .name_space = "ml"};
	struct json *document CLEANUP(json_cleanup) = built(&build);
	struct json *spec = spec_of(document, "PS");

	assert_json(json_get_path(document, "metadata", "namespace", NULL), "\"ml\"");
	assert_json(json_get(spec, "nodeSelector"), "{\"disk\":\"ssd\",\"zone\":\"a\"}");
	assert_json(json_get(spec, "imagePullSecrets"), "[{\"name\":\"one\"},{\"name\":\"two\"}]");
	assert_json(json_get(spec, "serviceAccountName"), "\"trainer\"");
	assert_json(json_get(spec, "priorityClassName"), "\"high\"");
}

TEST(what_is_wrong_is_named)
{
	static const char *const odd[] = {"odd"};
	static const char *const bad_path[] = {"data:relative"};
	static const char *const bad_mode[] = {"data:/x:rx"};
	static const char *const bad_claim[] = {"Data:/x"};
	static const char *const bad_effect[] = {"a:Never"};

	refused(&(struct pod_build){.cpu = "two"}, "--cpu: 'two' is not a quantity");
	refused(&(struct pod_build){.memory = "4GB"},
		"--memory: '4GB' is not a quantity; did you mean");
	refused(&(struct pod_build){.gpu = "-1"}, "--gpu: '-1' is not a number of GPUs");
	refused(&(struct pod_build){.gpu = "some"}, "(expected 0 to 1024, all or none)");
	refused(&(struct pod_build){.gpu = "1.5"}, "--gpu:");
	refused(&(struct pod_build){.gpu = "a b=1"}, "--gpu: 'a b' is not a resource");
	refused(&(struct pod_build){.name_space = "Ml"}, "--namespace: 'Ml'");
	refused(&(struct pod_build){.node_selectors = {odd, 1}}, "--node-selector: 'odd'");
	refused(&(struct pod_build){.tolerations = {bad_effect, 1}}, "--toleration: 'a:Never'");
	refused(&(struct pod_build){.volumes = {odd, 1}}, "--volume: 'odd'");
	refused(&(struct pod_build){.volumes = {bad_path, 1}}, "--volume:");
	refused(&(struct pod_build){.volumes = {bad_mode, 1}}, "--volume:");
	refused(&(struct pod_build){.volumes = {bad_claim, 1}}, "--volume:");
}

TEST(a_template_is_the_ground_for_every_role)
{
	struct json *pod CLEANUP(json_cleanup) = json_of(
		"{\"kind\":\"Pod\",\"metadata\":{\"name\":\"old\",\"labels\":{\"a\":\"b\"}},"
		"\"spec\":{\"hostPID\":true,\"containers\":[{\"name\":\"main\","
		"\"image\":\"c:1\",\"command\":[\"sleep\"]}]}}");
	struct pod_build build = {.default_image = "d:1"};

	assert_int_equal(pod_build_template(pod, &build.template, NULL), 0);
	struct json *document CLEANUP(json_cleanup) = built(&build);

	assert_json(json_get_path(document, "spec", "tfReplicaSpecs", "PS", "template", NULL),
		    "{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{\"hostPID\":true,"
		    "\"containers\":"
		    "[{"
		    "\"name\":\"tensorflow\",\"image\":\"c:1\",\"command\":[\"true\"]}]}}");
}

TEST(a_template_is_found_in_what_holds_one)
{
	struct json *deployment CLEANUP(json_cleanup) =
		json_of("{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"a\"}]}}}}");
	struct json *pod_template CLEANUP(json_cleanup) =
		json_of("{\"template\":{\"spec\":{\"containers\":[{\"name\":\"a\"}]}}}");
	struct json *other CLEANUP(json_cleanup) = json_of("{\"data\":{\"a\":\"b\"}}");
	const struct json *found = NULL;
	struct err err = {0};

	assert_int_equal(pod_build_template(deployment, &found, &err), 0);
	assert_ptr_equal(found, json_get_path(deployment, "spec", "template", NULL));
	assert_int_equal(pod_build_template(pod_template, &found, &err), 0);
	assert_ptr_equal(found, json_get(pod_template, "template"));
	assert_int_equal(pod_build_template(other, &found, &err), ERR_INVALID);
	assert_string_equal(err.text, "no Pod template (expected a Pod with spec.containers)");
}

static void expect_no_template(const char *text, const char *words)
{
	struct json *document CLEANUP(json_cleanup) = json_of(text);
	const struct json *found = NULL;
	struct err err = {0};

	assert_int_equal(pod_build_template(document, &found, &err), ERR_INVALID);
	assert_non_null(strstr(err.text, words));
}

#define POD_SPEC "\"spec\":{\"containers\":[{\"name\":\"a\"}]}"

TEST(what_is_of_a_kind_without_a_template_is_none)
{
	struct json *job CLEANUP(json_cleanup) =
		json_of("{\"kind\":\"Job\",\"spec\":{\"template\":{" POD_SPEC "}}}");
	const struct json *found = NULL;

	assert_int_equal(pod_build_template(job, &found, NULL), 0);
	assert_ptr_equal(found, json_get_path(job, "spec", "template", NULL));
	expect_no_template("{\"kind\":\"Gadget\"," POD_SPEC "}", "kind 'Gadget'");
	expect_no_template("{\"kind\":\"Service\",\"spec\":{}}", "kind 'Service'");
}

TEST(a_template_does_not_tell_all_replicas_that_they_are_one)
{
	expect_no_template("{\"kind\":\"Pod\",\"spec\":{\"containers\":[{\"name\":\"a\",\"env\":[{"
			   "\"name\":\"TF_CONFIG\",\"value\":\"{}\"}]}]}}",
			   "TF_CONFIG");
}

TEST(a_default_is_no_flag)
{
	static const char *const texts[] = {"*"};

	assert_true(pod_build_is_empty(&(struct pod_build){.default_image = "a"}));
	assert_false(pod_build_is_empty(&(struct pod_build){.priority = "a"}));
	assert_false(pod_build_is_empty(&(struct pod_build){.tolerations = {texts, 1}}));
}

TEST(every_flag_that_is_wrong_is_told_once)
{
	static const char *const odd[] = {"odd", "odder"};
	struct pod_build build = {
		.memory = "4", .gpu = "many", .node_selectors = {odd, 2}, .volumes = {odd, 2}};
	struct json *document CLEANUP(json_cleanup) = document_new();
	struct text faults CLEANUP(text_done) = {0};
	size_t n_lines = 0;

	job_document_add_pods(document, &build, &faults);
	for (const char *at = text_of(&faults); (at = strchr(at, '\n')); at++)
		n_lines++;
	assert_int_equal(n_lines, 6);
	assert_non_null(strstr(text_of(&faults), "--memory: '4'"));
	assert_non_null(strstr(text_of(&faults), "--node-selector: 'odder'"));
	assert_non_null(strstr(text_of(&faults), "--volume: 'odder'"));
}
