/* Versions of TFJob before v1, read as files are. */
#include "unit.h"

#include "base/mem.h"
#include "base/yaml.h"
#include "spec/job.h"

#define POD(MORE) "template: {spec: {" MORE "containers: [{name: tensorflow, image: tf}]}}"
#define OLDER(VERSION, SPEC)                                                                       \
	"apiVersion: kubeflow.org/" VERSION "\nkind: TFJob\nmetadata: {name: j}\nspec:\n" SPEC

/* Its faults, where it has any. */
static struct job *read(const char *yaml, struct text *lines)
{
	struct faults faults CLEANUP(faults_done) = {0};
	struct document **documents;
	size_t count;
	struct err err;
	struct job *job = NULL;

	if (documents_read(yaml, strlen(yaml), &documents, &count, &err) < 0)
		fail_msg("%s in: %s", err.text, yaml);
	int rc = job_read(document_root(documents[0]), documents[0], JOB_STRICT, &faults, &job);

	assert_int_equal(rc, faults.count ? ERR_INVALID : 0);
	faults_describe(&faults, "j.yaml", lines);
	documents_free(documents, count);
	return job;
}

static void assert_becomes(const char *yaml, const char *spec, const char *changes)
{
	struct text lines CLEANUP(text_done) = {0};
	struct job *job CLEANUP(job_cleanup) = read(yaml, &lines);
	struct text text CLEANUP(text_done) = {0};

	assert_string_equal(text_of(&lines), "");
	json_add_compact(&text, json_get(job->document, "spec"));
	assert_string_equal(text_of(&text), spec);
	assert_string_equal(json_as_string(json_get(job->document, "apiVersion"), ""),
			    "kubeflow.org/v1");
	if (changes)
		assert_string_equal(job->changes, changes);
	else
		assert_null(job->changes);
}

static void assert_refused(const char *yaml, const char *expected)
{
	struct text lines CLEANUP(text_done) = {0};
	struct job *job CLEANUP(job_cleanup) = read(yaml, &lines);

	assert_null(job);
	assert_string_equal(text_of(&lines), expected);
}

#define PLAIN "{\"spec\":{\"containers\":[{\"name\":\"tensorflow\",\"image\":\"tf\"}]}}"

TEST(the_list_of_v1alpha1_becomes_a_map)
{
	assert_becomes(
		OLDER("v1alpha1",
		      "  runtimeId: x1\n  tfImage: tf\n  schedulerName: mine\n"
		      "  terminationPolicy: {chief: {replicaName: MASTER, replicaIndex: 0}}\n"
		      "  replicaSpecs:\n"
		      "  - {tfReplicaType: MASTER, " POD(
			      "restartPolicy: OnFailure, ") "}\n"
							    "  - {tfReplicaType: WORKER, replicas: "
							    "2, tfPort: 3333, " POD("") "}\n"),
		"{\"runPolicy\":{\"cleanPodPolicy\":\"Running\"},\"tfReplicaSpecs\":{"
		"\"Master\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"tensorflow\","
		"\"image\":\"tf\"}],\"schedulerName\":\"mine\"}},\"restartPolicy\":\"OnFailure\"},"
		"\"Worker\":{\"replicas\":2,\"template\":{\"spec\":{\"containers\":[{\"name\":"
		"\"tensorflow\",\"image\":\"tf\",\"ports\":[{\"name\":\"tfjob-port\","
		"\"containerPort\":3333}]}],\"schedulerName\":\"mine\"}}}}}",
		"apiVersion was kubeflow.org/v1alpha1; spec.replicaSpecs is spec.tfReplicaSpecs; "
		"spec.runPolicy.cleanPodPolicy is Running, the old default; spec.runtimeId was "
		"removed; spec.tfImage was removed; spec.terminationPolicy was removed, because v1 "
		"always ends that way; restartPolicy of the Pods is that of their role; tfPort is "
		"the container's port tfjob-port; spec.schedulerName is that of the Pods");
}

/* Before it was Kubeflow's. */
TEST(a_tfjob_of_tensorflow_org_is_read_too)
{
	assert_becomes("apiVersion: tensorflow.org/v1alpha1\nkind: TfJob\nmetadata: {name: j}\n"
		       "spec: {tfImage: old, replicaSpecs: [{tfReplicaType: PS}, "
		       "{tfReplicaType: MASTER, " POD("") "}]}\n",
		       "{\"runPolicy\":{\"cleanPodPolicy\":\"Running\"},\"tfReplicaSpecs\":{"
		       "\"Master\":{\"template\":" PLAIN "},\"PS\":{\"template\":{\"spec\":{"
		       "\"containers\":[{\"command\":[\"muster\",\"server\"],\"name\":"
		       "\"tensorflow\",\"image\":\"old\"}]}}}}}",
		       "apiVersion was tensorflow.org/v1alpha1; spec.replicaSpecs is "
		       "spec.tfReplicaSpecs; spec.runPolicy.cleanPodPolicy is Running, the old "
		       "default; PS has no template and runs 'muster server'; spec.tfImage was "
		       "removed");
	assert_refused("apiVersion: kubeflow.org/v1\nkind: TfJob\n",
		       "j.yaml:2:7: kind: Unsupported value: \"TfJob\": supported values: "
		       "\"TFJob\"; did you mean \"TFJob\"?\n");
}

TEST(fields_of_v1beta2_move_into_the_run_policy)
{
	static const char *const versions[] = {"v1alpha2", "v1beta1", "v1beta2"};

	for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
		char *yaml CLEANUP(mem_free_text) =
			mem_format(OLDER("%s", "  cleanPodPolicy: All\n  backoffLimit: 3\n"
					       "  ttlSecondsAfterFinished: 60\n  tfRpcLayer: grpc\n"
					       "  tfReplicaSpecs: {Worker: {" POD("") "}}\n"),
				   versions[i]);
		char *changes CLEANUP(mem_free_text) = mem_format(
			"apiVersion was kubeflow.org/%s; "
			"spec.cleanPodPolicy is spec.runPolicy.cleanPodPolicy; "
			"spec.ttlSecondsAfterFinished is spec.runPolicy.ttlSecondsAfterFinished; "
			"spec.backoffLimit is spec.runPolicy.backoffLimit; spec.tfRpcLayer was "
			"removed",
			versions[i]);

		assert_becomes(yaml,
			       "{\"tfReplicaSpecs\":{\"Worker\":{\"template\":" PLAIN "}},"
			       "\"runPolicy\":{\"cleanPodPolicy\":\"All\","
			       "\"ttlSecondsAfterFinished\":60,\"backoffLimit\":3}}",
			       changes);
	}
}

TEST(a_list_in_v1_is_converted_too_and_a_map_changes_nothing)
{
	assert_becomes(OLDER("v1", "  replicaSpecs: [{" POD("") "}]\n"),
		       "{\"tfReplicaSpecs\":{\"Chief\":{\"template\":" PLAIN "}}}",
		       "spec.replicaSpecs is spec.tfReplicaSpecs");
	assert_becomes(OLDER("v1", "  tfReplicaSpecs: {Worker: {" POD("") "}}\n"),
		       "{\"tfReplicaSpecs\":{\"Worker\":{\"template\":" PLAIN "}}}", NULL);
}

TEST(faults_have_the_places_where_they_were_written)
{
	assert_refused(
		OLDER("v1beta2", "  cleanPodPolicy: Al\n  backoffLimit: -1\n"
				 "  tfReplicaSpecs: {Worker: {replicas: -1, " POD("") "}}\n"),
		"j.yaml:5:19: spec.runPolicy.cleanPodPolicy: Unsupported value: \"Al\": "
		"supported values: \"None\", \"Running\", \"All\"; did you mean \"All\"?\n"
		"j.yaml:6:17: spec.runPolicy.backoffLimit: Invalid value: -1: must be greater "
		"than or equal to 0\n"
		"j.yaml:7:39: spec.tfReplicaSpecs[Worker].replicas: Invalid value: -1: must be "
		"greater than or equal to 0\n");
	assert_refused(
		OLDER("v1alpha1",
		      "  terminationPolicy: {chief: {replicaName: WORKER, replicaIndex: 1}}\n"
		      "  replicaSpecs: [{tfReplicaType: WORKER, " POD("") "}]\n"),
		"j.yaml:5:22: spec.terminationPolicy: Unsupported value: in v1 a job ends with "
		"its chief or master, and where it has none with worker 0\n");
	assert_refused(OLDER("v1alpha3", "  tfReplicaSpecs: {Worker: {" POD("") "}}\n"),
		       "j.yaml:1:13: apiVersion: Unsupported value: \"kubeflow.org/v1alpha3\": "
		       "supported values: \"kubeflow.org/v1\"\n");
	assert_refused(OLDER("v1", "  cleanPodPolicy: All\n"
				   "  tfReplicaSpecs: {Worker: {" POD("") "}}\n"),
		       "j.yaml:5:19: spec.cleanPodPolicy: unknown field; it belongs in "
		       "spec.runPolicy\n");
}

TEST(odd_shapes_are_refused_and_crash_nothing)
{
	static const char *const specs[] = {
		"  []\n",
		"  {replicaSpecs: {}, runPolicy: 1}\n",
		"  {replicaSpecs: [1, null, {template: 1, tfPort: 1}, {template: {spec: 2}}]}\n",
		"  {terminationPolicy: 1, replicaSpecs: [], backoffLimit: [], runPolicy: []}\n",
		"  {schedulerName: 1, tfReplicaSpecs: {a: {tfPort: 1, template: {spec: "
		"{containers: "
		"[{ports: 1}]}}}}}\n",
	};

	for (size_t i = 0; i < ARRAY_LEN(specs); i++) {
		struct text lines CLEANUP(text_done) = {0};
		char *yaml CLEANUP(mem_free_text) = mem_format(OLDER("v1alpha1", "%s"), specs[i]);
		struct job *job CLEANUP(job_cleanup) = read(yaml, &lines);

		assert_null(job);
		assert_true(lines.len > 0);
	}
}
