/* PodGroups of TFJobs, and when one is changed. */
#include "unit_json.h"

#include "kube/pod_group.h"

#define CONTAINER(resources)                                                                       \
	"containers: [{name: tensorflow, image: i, resources: {" resources "}}]"

static struct job *job_of(const char *run_policy, const char *roles)
{
	struct faults faults CLEANUP(faults_done) = {0};
	char *yaml CLEANUP(mem_free_text) =
		mem_format("{apiVersion: kubeflow.org/v1, kind: TFJob, metadata: {name: j}, "
			   "spec: {runPolicy: {schedulingPolicy: {%s}}, tfReplicaSpecs: {%s}}}",
			   run_policy, roles);
	struct document **documents;
	struct job *job = NULL;
	size_t count;

	assert_int_equal(documents_read(yaml, strlen(yaml), &documents, &count, NULL), 0);
	if (job_read(document_root(documents[0]), NULL, JOB_LENIENT, &faults, &job) < 0)
		fail_msg("%s", faults.list[0].sentence);
	documents_free(documents, count);
	return job;
}

TEST(the_scheduler_is_known_by_its_name)
{
	assert_int_equal(gang_of(NULL).kind, GANG_NONE);
	assert_int_equal(gang_of("").kind, GANG_NONE);
	assert_int_equal(gang_of("None").kind, GANG_NONE);
	assert_string_equal(gang_of("VOLCANO").scheduler, "volcano");
	assert_int_equal(gang_of("kubernetes").kind, GANG_KUBERNETES);
	assert_string_equal(gang_of("scheduler-plugins").scheduler, "scheduler-plugins");
}

/* Those that lead first; limits where a container requests nothing. */
TEST(what_has_to_be_there_is_what_the_first_pods_need)
{
	struct gang gang = gang_of("volcano");
	struct job *job CLEANUP(job_cleanup) = job_of(
		"minAvailable: 3, queue: research",
		"Worker: {replicas: 4, template: {spec: {" CONTAINER(
			"requests: {cpu: 500m}, limits: {cpu: 4}") "}}}, "
								   "Chief: {template: {spec: "
								   "{" CONTAINER("limits: {cpu: 2, "
										 "nvidia.com/gpu: "
										 "1}") "}}}");
	struct json *group CLEANUP(json_cleanup) = pod_group_new(&gang, job, "u");

	assert_json(json_get(group, "spec"),
		    "{\"minMember\":3,\"minResources\":{\"cpu\":\"3\",\"nvidia.com/gpu\":\"1\"},"
		    "\"queue\":\"research\"}");
}

TEST(a_group_that_differs_is_changed_but_for_its_queue)
{
	struct gang gang = gang_of("volcano"), fixed = gang_of("kubernetes");
	struct job *job CLEANUP(job_cleanup) =
		job_of("", "Worker: {replicas: 2, template: {spec: {" CONTAINER("") "}}}");
	struct json *wanted CLEANUP(json_cleanup) = pod_group_new(&gang, job, "u");
	struct json *seen CLEANUP(json_cleanup) = json_new_copy(wanted);
	struct json *own CLEANUP(json_cleanup) = pod_group_new(&fixed, job, "u");

	json_set_string(json_get(seen, "spec"), "queue", "other");
	json_set_string(json_get(seen, "spec"), "networkTopology", "of others");
	assert_null(pod_group_patch_new(&gang, wanted, seen));
	json_set_integer(json_get(seen, "spec"), "minMember", 3);
	struct json *patch CLEANUP(json_cleanup) = pod_group_patch_new(&gang, wanted, seen);

	assert_json(patch, "{\"spec\":{\"minMember\":2}}");
	assert_null(pod_group_patch_new(&fixed, own, seen));
}
