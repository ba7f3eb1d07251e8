/* The Pods and Services of TFJobs, against what training-operator 1.9.4 was seen to make. */
#include "unit_json.h"

#include "kube/tfjob_objects.h"
#include "spec/pod_template.h"

#define UID "5d0c1f3e-0000-4000-8000-000000000001"

static struct job *job_of(const char *roles)
{
	struct faults faults CLEANUP(faults_done) = {0};
	char *yaml CLEANUP(mem_free_text) = mem_format(
		"{apiVersion: kubeflow.org/v1, kind: TFJob, metadata: {name: j, namespace: ns}, "
		"spec: {tfReplicaSpecs: {%s}}}",
		roles);
	struct document **documents;
	struct job *job = NULL;
	struct err err = {0};
	size_t count;

	if (documents_read(yaml, strlen(yaml), &documents, &count, &err) < 0)
		fail_msg("%s", err.text);
	if (job_read(document_root(documents[0]), NULL, JOB_LENIENT, &faults, &job) < 0)
		fail_msg("%s", faults.list[0].sentence);
	documents_free(documents, count);
	return job;
}

#define ROLE(more, container)                                                                      \
	"{" more " template: {metadata: {labels: {team: vision, "                                  \
	"training.kubeflow.org/job-name: mine}}, spec: {containers: [{name: sidecar, image: b}, "  \
	"{name: tensorflow, image: a" container "}]}}}"

static struct json *pod_in_manner(const struct tfjob_manner *manner, const struct job *job,
				  const char *role, int index, int attempt)
{
	struct objects *objects = objects_new(job, manner);
	struct json *pod = tfjob_pod_new(objects, job_role(job, role), index, attempt, UID);

	objects_free(objects);
	return pod;
}

static struct json *pod_of(const struct job *job, const char *role, int index, int attempt)
{
	return pod_in_manner(&(struct tfjob_manner){0}, job, role, index, attempt);
}

static const char *tf_config_of(const struct json *pod)
{
	const struct json *env = json_get(pod_template_container(pod), "env");

	return json_as_string(json_get(pod_template_find(env, "name", "TF_CONFIG"), "value"), NULL);
}

TEST(a_pod_has_the_labels_the_owner_and_the_port)
{
	struct job *job CLEANUP(job_cleanup) = job_of("Worker: " ROLE("replicas: 2,", ""));
	struct json *pod CLEANUP(json_cleanup) = pod_of(job, "worker", 0, 0);
	const struct json *metadata = json_get(pod, "metadata");

	assert_json(json_get(metadata, "name"), "\"j-worker-0\"");
	assert_json(json_get(metadata, "labels"),
		    "{\"team\":\"vision\",\"training.kubeflow.org/job-name\":\"j\","
		    "\"training.kubeflow.org/operator-name\":\"tfjob-controller\","
		    "\"training.kubeflow.org/replica-type\":\"worker\","
		    "\"training.kubeflow.org/replica-index\":\"0\","
		    "\"training.kubeflow.org/job-role\":\"master\"}");
	assert_json(json_get(metadata, "ownerReferences"),
		    "[{\"apiVersion\":\"kubeflow.org/"
		    "v1\",\"kind\":\"TFJob\",\"name\":\"j\",\"uid\":\"" UID
		    "\",\"controller\":true,\"blockOwnerDeletion\":true}]");
	assert_json(json_get(pod_template_container(pod), "ports"),
		    "[{\"name\":\"tfjob-port\",\"containerPort\":2222}]");
	assert_string_equal(
		tf_config_of(pod),
		"{\"cluster\":{\"worker\":[\"j-worker-0.ns.svc:2222\","
		"\"j-worker-1.ns.svc:2222\"]},\"task\":{\"type\":\"worker\",\"index\":0},"
		"\"environment\":\"cloud\"}");
	assert_null(json_get(metadata, "annotations"));
	assert_null(json_get_path(pod, "spec", "hostname", NULL));
}

TEST(only_the_leader_has_its_role_and_later_attempts_say_so)
{
	struct job *job CLEANUP(job_cleanup) =
		job_of("Chief: " ROLE("", "") ", Worker: " ROLE("", ""));
	struct json *chief CLEANUP(json_cleanup) = pod_of(job, "chief", 0, 0);
	struct json *worker CLEANUP(json_cleanup) = pod_of(job, "worker", 0, 3);
	const struct json *labels = json_get_path(worker, "metadata", "labels", NULL);

	assert_json(json_get(json_get_path(chief, "metadata", "labels", NULL),
			     "training.kubeflow.org/job-role"),
		    "\"master\"");
	assert_null(json_get(labels, "training.kubeflow.org/job-role"));
	assert_json(json_get_path(worker, "metadata", "annotations", NULL),
		    "{\"muster/attempt\":\"3\"}");
}

TEST(one_replica_alone_is_told_nothing)
{
	struct job *job CLEANUP(job_cleanup) = job_of("Worker: " ROLE("", ""));
	struct json *pod CLEANUP(json_cleanup) = pod_of(job, "worker", 0, 0);

	assert_null(tf_config_of(pod));
}

TEST(the_policy_of_a_pod_is_that_of_its_role)
{
	static const char *const rows[][2] = {{"Never", "\"Never\""},
					      {"ExitCode", "\"Never\""},
					      {"OnFailure", "\"OnFailure\""},
					      {"Always", "\"Always\""}};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char *roles CLEANUP(mem_free_text) = mem_format(
			"Worker: {restartPolicy: %s, template: {spec: {restartPolicy: Always, "
			"containers: [{name: tensorflow, image: a}]}}}",
			rows[i][0]);
		struct job *job CLEANUP(job_cleanup) = job_of(roles);
		struct json *pod CLEANUP(json_cleanup) = pod_of(job, "worker", 0, 0);

		assert_json(json_get_path(pod, "spec", "restartPolicy", NULL), rows[i][1]);
	}
}

TEST(a_service_has_all_ports_of_the_container_that_trains)
{
	struct job *job CLEANUP(job_cleanup) = job_of(
		"PS: " ROLE("", ", ports: [{name: web, containerPort: 80}]") ", Worker: " ROLE(
			"", ", ports: [{name: tfjob-port, containerPort: 9}]"));
	struct json *ps CLEANUP(json_cleanup) = tfjob_service_new(job, job_role(job, "ps"), 0, UID);
	struct json *worker CLEANUP(json_cleanup) =
		tfjob_service_new(job, job_role(job, "worker"), 0, UID);

	assert_json(json_get(ps, "spec"),
		    "{\"clusterIP\":\"None\",\"selector\":{\"training.kubeflow.org/operator-name\":"
		    "\"tfjob-controller\",\"training.kubeflow.org/job-name\":\"j\","
		    "\"training.kubeflow.org/replica-type\":\"ps\","
		    "\"training.kubeflow.org/replica-index\":\"0\"},\"ports\":[{\"name\":\"web\","
		    "\"port\":80},{\"name\":\"tfjob-port\",\"port\":2222}]}");
	assert_json(json_get_path(worker, "spec", "ports", NULL),
		    "[{\"name\":\"tfjob-port\",\"port\":9}]");
}

/* A server takes no Service of several ports in which one has no name, or the number of another. */
TEST(a_service_leaves_out_ports_that_no_server_takes)
{
	struct job *job CLEANUP(job_cleanup) =
		job_of("Worker: " ROLE("", ", ports: [{containerPort: 80}, {containerPort: 2222}, "
					   "{name: dns, containerPort: 53}, {name: dns-udp, "
					   "containerPort: 53, protocol: UDP}, {name: own, "
					   "containerPort: 2222}]"));
	struct json *service CLEANUP(json_cleanup) =
		tfjob_service_new(job, job_role(job, "worker"), 0, UID);

	assert_json(json_get_path(service, "spec", "ports", NULL),
		    "[{\"name\":\"dns\",\"port\":53},{\"name\":\"tfjob-port\",\"port\":2222}]");
}

TEST(one_service_has_the_pods_of_the_job_under_their_host_names)
{
	const struct tfjob_manner manner = {.has_one_service = true, .cluster_domain = "c.local"};
	struct job *job CLEANUP(job_cleanup) = job_of("Chief: " ROLE("", "") ", Worker: " ROLE(
		"", ", ports: [{name: tfjob-port, containerPort: 9}]"));
	struct json *pod CLEANUP(json_cleanup) = pod_in_manner(&manner, job, "worker", 0, 0);
	struct json *service CLEANUP(json_cleanup) = tfjob_job_service_new(job, UID);

	assert_json(json_get_path(pod, "spec", "hostname", NULL), "\"j-worker-0\"");
	assert_json(json_get_path(pod, "spec", "subdomain", NULL), "\"j\"");
	assert_string_equal(tf_config_of(pod),
			    "{\"cluster\":{\"chief\":[\"j-chief-0.j.ns.svc.c.local:2222\"],"
			    "\"worker\":[\"j-worker-0.j.ns.svc.c.local:9\"]},\"task\":{"
			    "\"type\":\"worker\",\"index\":0},\"environment\":\"cloud\"}");
	assert_json(service,
		    "{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"j\","
		    "\"namespace\":\"ns\",\"ownerReferences\":[{\"apiVersion\":\"kubeflow.org/v1\","
		    "\"kind\":\"TFJob\",\"name\":\"j\",\"uid\":\"" UID
		    "\",\"controller\":true,\"blockOwnerDeletion\":true}],\"labels\":{"
		    "\"training.kubeflow.org/operator-name\":\"tfjob-controller\","
		    "\"training.kubeflow.org/job-name\":\"j\"}},\"spec\":{\"clusterIP\":\"None\","
		    "\"publishNotReadyAddresses\":true,\"selector\":{"
		    "\"training.kubeflow.org/operator-name\":\"tfjob-controller\","
		    "\"training.kubeflow.org/job-name\":\"j\"},\"ports\":[{\"name\":\"tfjob-port\","
		    "\"port\":2222},{\"name\":\"port-9\",\"port\":9}]}}");
}

/* Each worker knows itself and the parameter servers alone. */
TEST(a_worker_that_comes_and_goes_is_told_of_no_other)
{
	struct job *job CLEANUP(job_cleanup) = job_of("PS: " ROLE("", "") ", Worker: " ROLE(
		"replicas: 2,", "") "}, enableDynamicWorker: true, successPolicy: \"\", "
				    "runPolicy: {");
	struct json *pod CLEANUP(json_cleanup) = pod_of(job, "worker", 1, 0);

	assert_string_equal(tf_config_of(pod),
			    "{\"cluster\":{\"worker\":{\"1\":\"j-worker-1.ns.svc:2222\"},"
			    "\"ps\":[\"j-ps-0.ns.svc:2222\"]},\"task\":{\"type\":\"worker\","
			    "\"index\":1}}");
}
