/* The objects of jobs. Whole ones are compared in tests/system/test_render_pods.py. */
#include "unit_json.h"

#include "kube/objects.h"
#include "spec/pod_template.h"

#include <limits.h>

/* A job of these roles, as flow YAML: "Worker: {…}". */
static struct job *job_of(const char *name, const char *roles)
{
	struct faults faults CLEANUP(faults_done) = {0};
	char *yaml CLEANUP(mem_free_text) =
		mem_format("{apiVersion: kubeflow.org/v1, kind: TFJob, metadata: {name: %s}, "
			   "spec: {tfReplicaSpecs: {%s}}}",
			   name, roles);
	struct document **documents;
	struct job *job = NULL;
	struct err err = {0};
	size_t count;

	if (documents_read(yaml, strlen(yaml), &documents, &count, &err))
		fail_msg("%s", err.text);
	if (job_read(document_root(documents[0]), NULL, JOB_STRICT, &faults, &job))
		fail_msg("%s", faults.list[0].sentence);
	documents_free(documents, count);
	return job;
}

static struct job *job_of_container(const char *spec, const char *container)
{
	char *roles CLEANUP(mem_free_text) =
		mem_format("Worker: {replicas: 2, template: {spec: {%s containers: [{name: "
			   "tensorflow, image: a, %s}]}}}",
			   spec, container);

	return job_of("digits", roles);
}

static struct json *pod_of(const struct job *job, const char *role, int index, int attempt,
			   const char *owner_uid)
{
	struct objects *objects CLEANUP(objects_cleanup) = objects_new(job, NULL);

	return objects_pod_new(objects, job_role(job, role), index, attempt, owner_uid);
}

static const char *variable(const struct json *pod, const char *name)
{
	const struct json *env = json_get(pod_template_container(pod), "env");

	return json_as_string(json_get(pod_template_find(env, "name", name), "value"), NULL);
}

TEST(a_pod_is_reached_by_the_name_it_has)
{
	struct job *job CLEANUP(job_cleanup) = job_of_container("", "command: [a]");
	struct json *pod CLEANUP(json_cleanup) = pod_of(job, "worker", 1, 3, NULL);
	struct json *spec = json_get(pod, "spec");
	struct json *service CLEANUP(json_cleanup) = objects_service_new(job, NULL);

	assert_json(json_get_path(pod, "metadata", "name", NULL), "\"digits-worker-1\"");
	assert_json(json_get(spec, "hostname"), "\"digits-worker-1\"");
	assert_json(json_get(spec, "subdomain"), "\"digits\"");
	assert_json(json_get_path(service, "metadata", "name", NULL), "\"digits\"");
	assert_string_equal(variable(pod, "TF_CONFIG"),
			    "{\"cluster\":{\"worker\":[\"digits-worker-0.digits.default.svc:2222\","
			    "\"digits-worker-1.digits.default.svc:2222\"]},"
			    "\"task\":{\"type\":\"worker\",\"index\":1}}");
	assert_string_equal(variable(pod, "MUSTER_ATTEMPT"), "3");
}

TEST(a_large_cluster_stands_in_a_config_map)
{
	struct job *small CLEANUP(job_cleanup) = job_of(
		"digits",
		"Worker: {replicas: 50, template: {spec: {containers: [{name: tensorflow}]}}}");
	struct job *large CLEANUP(job_cleanup) = job_of(
		"digits",
		"Worker: {replicas: 500, template: {spec: {containers: [{name: tensorflow}]}}}");
	struct objects *few CLEANUP(objects_cleanup) = objects_new(small, NULL);
	struct objects *many CLEANUP(objects_cleanup) = objects_new(large, NULL);
	struct json *config_map CLEANUP(json_cleanup) = objects_cluster_new(many, "u");
	struct json *pod CLEANUP(json_cleanup) =
		objects_pod_new(many, job_role(large, "worker"), 7, 0, "u");
	const struct json *env = json_get(pod_template_container(pod), "env");
	const char *name = json_as_string(json_get_path(config_map, "metadata", "name", NULL), "");
	const char *cluster =
		json_as_string(json_get_path(config_map, "data", "cluster", NULL), "");

	assert_null(objects_cluster_new(few, "u"));
	assert_int_equal(strncmp(name, "digits.cluster-", strlen("digits.cluster-")), 0);
	assert_true(strlen(cluster) > 500 * strlen("digits-worker-0.digits.default.svc:2222"));
	assert_json(json_get_path(config_map, "metadata", "labels", "muster/part", NULL),
		    "\"files\"");
	assert_string_equal(variable(pod, "TF_CONFIG"),
			    "{\"cluster\":$(MUSTER_CLUSTER),"
			    "\"task\":{\"type\":\"worker\",\"index\":7}}");
	/* It stands before the one that speaks of it. */
	assert_json(json_get(json_at(env, 0), "name"), "\"MUSTER_CLUSTER\"");
	assert_string_equal(json_as_string(json_get_path(json_at(env, 0), "valueFrom",
							 "configMapKeyRef", "name", NULL),
					   ""),
			    name);
}

TEST(each_size_of_a_large_job_has_a_config_map_of_its_own)
{
	struct json *config_maps[2];

	for (int i = 0; i < 2; i++) {
		char *roles CLEANUP(mem_free_text) =
			mem_format("Worker: {replicas: %d, template: {spec: {containers: "
				   "[{name: tensorflow}]}}}",
				   200 + i);
		struct job *job CLEANUP(job_cleanup) = job_of("digits", roles);
		struct objects *objects CLEANUP(objects_cleanup) = objects_new(job, NULL);

		config_maps[i] = objects_cluster_new(objects, NULL);
	}
	assert_false(json_equals(json_get_path(config_maps[0], "metadata", "name", NULL),
				 json_get_path(config_maps[1], "metadata", "name", NULL)));
	json_free(config_maps[0]);
	json_free(config_maps[1]);
}

TEST(the_service_chooses_the_pods)
{
	struct job *job CLEANUP(job_cleanup) = job_of_container("", "command: [a]");
	struct json *pod CLEANUP(json_cleanup) = pod_of(job, "worker", 0, 0, NULL);
	struct json *service CLEANUP(json_cleanup) = objects_service_new(job, NULL);
	const struct json *labels = json_get_path(pod, "metadata", "labels", NULL);
	const struct json *selector = json_get_path(service, "spec", "selector", NULL);
	const char *key = NULL;
	struct json *value;

	assert_true(json_count(selector) > 0);
	while (json_next(selector, &key, &value))
		assert_true(json_equals(json_get(labels, key), value));
}

TEST(each_pod_is_a_machine_of_its_own)
{
	struct job *job CLEANUP(job_cleanup) = job_of_container("", "command: [a]");
	struct json *pod CLEANUP(json_cleanup) = pod_of(job, "worker", 1, 0, NULL);

	assert_string_equal(variable(pod, "RANK"), "1");
	assert_string_equal(variable(pod, "LOCAL_RANK"), "0");
	assert_string_equal(variable(pod, "LOCAL_WORLD_SIZE"), "1");
	assert_string_equal(variable(pod, "GROUP_RANK"), "1");
	assert_string_equal(variable(pod, "MASTER_ADDR"), "digits-worker-0.digits.default.svc");
	assert_string_equal(variable(pod, "MASTER_PORT"), "29500");
}

TEST(a_role_without_a_world_has_no_coordinator)
{
	struct job *job CLEANUP(job_cleanup) = job_of(
		"digits", "PS: {template: {spec: {containers: [{name: tensorflow, image: a}]}}}");
	struct json *pod CLEANUP(json_cleanup) = pod_of(job, "ps", 0, 0, NULL);

	assert_null(variable(pod, "MASTER_ADDR"));
}

TEST(the_jobs_own_variables_win_and_stand_behind)
{
	struct job *job CLEANUP(job_cleanup) = job_of_container(
		"", "env: [{name: RANK, value: '7'}, {name: ME, value: 'w$(WORKER_NUMBER)'}]");
	struct json *pod CLEANUP(json_cleanup) = pod_of(job, "worker", 0, 0, NULL);
	const struct json *env = json_get(pod_template_container(pod), "env");
	size_t n_ranks = 0;

	for (size_t i = 0; i < json_count(env); i++)
		n_ranks +=
			text_equals(json_as_string(json_get(json_at(env, i), "name"), ""), "RANK");
	assert_int_equal(n_ranks, 1);
	assert_string_equal(variable(pod, "RANK"), "7");
	assert_string_equal(variable(pod, "ME"), "w$(WORKER_NUMBER)");
	assert_true(pod_template_find(env, "name", "WORKER_NUMBER") != NULL);
}

TEST(labels_of_the_template_stay_and_ours_win)
{
	struct job *job CLEANUP(job_cleanup) = job_of(
		"digits",
		"Chief: {template: {metadata: {name: x, labels: {team: a, muster/job: b}, "
		"annotations: {note: v}}, spec: {containers: [{name: tensorflow, image: a}]}}}");
	struct json *pod CLEANUP(json_cleanup) = pod_of(job, "chief", 0, 0, "u-1");

	assert_json(json_get(pod, "metadata"),
		    "{\"name\":\"digits-chief-0\",\"namespace\":\"default\",\"labels\":{"
		    "\"app.kubernetes.io/managed-by\":\"muster\",\"muster/job\":\"digits\","
		    "\"muster/role\":\"chief\",\"muster/index\":\"0\",\"muster/attempt\":\"0\","
		    "\"training.kubeflow.org/job-name\":\"digits\","
		    "\"training.kubeflow.org/replica-type\":\"chief\","
		    "\"training.kubeflow.org/replica-index\":\"0\",\"team\":\"a\"},"
		    "\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\","
		    "\"name\":\"digits.job\",\"uid\":\"u-1\",\"controller\":true}],"
		    "\"annotations\":{\"note\":\"v\"}}");
}

TEST(what_the_template_says_is_not_hardened_away)
{
	struct job *job CLEANUP(job_cleanup) = job_of_container(
		"automountServiceAccountToken: true, enableServiceLinks: true, "
		"terminationGracePeriodSeconds: 5, restartPolicy: Always, ",
		"securityContext: {runAsUser: 0, capabilities: {add: [SYS_PTRACE]}}");
	struct json *pod CLEANUP(json_cleanup) = pod_of(job, "worker", 0, 0, NULL);
	const struct json *spec = json_get(pod, "spec");

	assert_json(json_get(spec, "securityContext"),
		    "{\"seccompProfile\":{\"type\":\"RuntimeDefault\"}}");
	assert_json(json_get(pod_template_container(pod), "securityContext"),
		    "{\"runAsUser\":0,\"capabilities\":{\"add\":[\"SYS_PTRACE\"]},"
		    "\"allowPrivilegeEscalation\":false}");
	assert_json(json_get(spec, "automountServiceAccountToken"), "true");
	assert_json(json_get(spec, "enableServiceLinks"), "true");
	assert_json(json_get(spec, "terminationGracePeriodSeconds"), "5");
	assert_json(json_get(spec, "restartPolicy"), "\"Never\"");
	assert_null(variable(pod, "HOME"));
	assert_null(json_get(pod_template_container(pod), "volumeMounts"));
}

/* Its peers wait for it: sooner than after the 5 minutes that a cluster takes by itself. */
TEST(a_lost_node_is_given_up_soon)
{
	static const char *const own[] = {
		"tolerations: [{operator: Exists}],",
		"tolerations: [{key: node.kubernetes.io/unreachable, operator: Exists, "
		"effect: NoExecute, tolerationSeconds: 900}],",
	};

	struct job *job CLEANUP(job_cleanup) = job_of_container(
		"tolerations: [{operator: Exists, effect: NoSchedule}],", "command: [a]");
	struct json *pod CLEANUP(json_cleanup) = pod_of(job, "worker", 0, 0, NULL);

	assert_json(json_at(json_get_path(pod, "spec", "tolerations", NULL), 1),
		    "{\"key\":\"node.kubernetes.io/unreachable\",\"operator\":\"Exists\","
		    "\"effect\":\"NoExecute\",\"tolerationSeconds\":30}");
	for (size_t i = 0; i < ARRAY_LEN(own); i++) {
		struct job *other CLEANUP(job_cleanup) = job_of_container(own[i], "command: [a]");
		struct json *its CLEANUP(json_cleanup) = pod_of(other, "worker", 0, 0, NULL);

		assert_int_equal(json_count(json_get_path(its, "spec", "tolerations", NULL)), 1);
	}
}

TEST(what_an_init_container_says_stays_in_its_pod)
{
	struct job *job CLEANUP(job_cleanup) = job_of_container(
		"initContainers: [{name: a}, {name: b, terminationMessagePolicy: File}],",
		"command: [a]");
	struct json *pod CLEANUP(json_cleanup) = pod_of(job, "worker", 0, 0, NULL);
	const struct json *list = json_get_path(pod, "spec", "initContainers", NULL);

	assert_json(json_get(json_at(list, 0), "terminationMessagePolicy"),
		    "\"FallbackToLogsOnError\"");
	assert_json(json_get(json_at(list, 1), "terminationMessagePolicy"), "\"File\"");
	assert_null(json_get(pod_template_container(pod), "terminationMessagePolicy"));
}

TEST(a_silent_template_is_hardened)
{
	struct job *job CLEANUP(job_cleanup) = job_of_container("", "command: [a]");
	struct json *pod CLEANUP(json_cleanup) = pod_of(job, "worker", 0, 0, NULL);
	const struct json *spec = json_get(pod, "spec");

	assert_json(
		json_get(spec, "securityContext"),
		"{\"runAsNonRoot\":true,\"runAsUser\":1000,\"runAsGroup\":1000,\"fsGroup\":1000,"
		"\"seccompProfile\":{\"type\":\"RuntimeDefault\"}}");
	assert_json(json_get(pod_template_container(pod), "securityContext"),
		    "{\"allowPrivilegeEscalation\":false,\"capabilities\":{\"drop\":[\"ALL\"]}}");
	assert_json(json_get(spec, "automountServiceAccountToken"), "false");
	assert_json(json_get(spec, "terminationGracePeriodSeconds"), "30");
	assert_string_equal(variable(pod, "HOME"), "/tmp");
	assert_json(json_get(pod_template_container(pod), "volumeMounts"),
		    "[{\"name\":\"muster-tmp\",\"mountPath\":\"/tmp\"}]");
	assert_json(json_get(spec, "volumes"), "[{\"name\":\"muster-tmp\",\"emptyDir\":{}}]");
}

TEST(a_temporary_folder_and_a_home_that_were_asked_for_stay)
{
	struct job *job CLEANUP(job_cleanup) = job_of_container(
		"", "env: [{name: HOME, value: /srv}], volumeMounts: [{name: x, mountPath: /tmp}]");
	struct json *pod CLEANUP(json_cleanup) = pod_of(job, "worker", 0, 0, NULL);

	assert_string_equal(variable(pod, "HOME"), "/srv");
	assert_json(json_get(pod_template_container(pod), "volumeMounts"),
		    "[{\"name\":\"x\",\"mountPath\":\"/tmp\"}]");
}

TEST(a_privileged_container_keeps_its_privileges)
{
	struct job *job CLEANUP(job_cleanup) =
		job_of_container("serviceAccountName: s, ", "securityContext: {privileged: true}");
	struct json *pod CLEANUP(json_cleanup) = pod_of(job, "worker", 0, 0, NULL);

	assert_json(json_get(pod_template_container(pod), "securityContext"),
		    "{\"privileged\":true}");
	assert_null(json_get_path(pod, "spec", "automountServiceAccountToken", NULL));
	assert_null(json_get_path(pod, "spec", "securityContext", "runAsUser", NULL));
}

TEST(ports_are_those_of_the_roles)
{
	struct job *job CLEANUP(job_cleanup) = job_of(
		"digits", "Chief: {template: {spec: {containers: [{name: tensorflow, image: a, "
			  "ports: [{name: tfjob-port, containerPort: 29500}]}]}}}, "
			  "Worker: {template: {spec: {containers: [{name: tensorflow, image: a, "
			  "ports: [{name: web, containerPort: 80}]}]}}}, "
			  "PS: {template: {spec: {containers: [{name: tensorflow, image: a}]}}}");
	struct json *worker CLEANUP(json_cleanup) = pod_of(job, "worker", 0, 0, NULL);
	struct json *chief CLEANUP(json_cleanup) = pod_of(job, "chief", 0, 0, NULL);
	struct json *service CLEANUP(json_cleanup) = objects_service_new(job, NULL);

	assert_json(json_get(pod_template_container(worker), "ports"),
		    "[{\"name\":\"web\",\"containerPort\":80},"
		    "{\"name\":\"tfjob-port\",\"containerPort\":2222}]");
	assert_json(json_get_path(service, "spec", "ports", NULL),
		    "[{\"name\":\"tfjob-port\",\"port\":29500},{\"name\":\"port-2222\",\"port\":"
		    "2222}]");
	assert_string_equal(variable(chief, "MASTER_PORT"), "29501");
}

TEST(the_owner_remembers_the_job)
{
	struct job *job CLEANUP(job_cleanup) = job_of_container("", "command: [a]");
	struct json *owner CLEANUP(json_cleanup) = objects_owner_new(job);
	const char *text =
		json_as_string(json_get_path(owner, "data", OBJECTS_DOCUMENT_KEY, NULL), "");
	struct json *document CLEANUP(json_cleanup) = NULL;

	assert_json(json_get(owner, "metadata"),
		    "{\"name\":\"digits.job\",\"namespace\":\"default\",\"labels\":{"
		    "\"app.kubernetes.io/managed-by\":\"muster\",\"muster/job\":\"digits\"}}");
	assert_int_equal(json_read(text, strlen(text), &document, NULL), 0);
	assert_true(json_equals(document, job->document));
}

TEST(files_are_text_or_binary)
{
	static const struct job_file files[] = {
		{"train.py", "pass\n", 5, false},
		{"model.pyz", "PK\0", 3, false},
		{"empty", NULL, 0, false},
	};
	struct job *job CLEANUP(job_cleanup) = job_of_container("", "command: [a]");
	struct json *list CLEANUP(json_cleanup) = json_new_array();

	assert_int_equal(objects_add_files(job, files, 3, "u-1", list, NULL), 0);
	assert_int_equal(json_count(list), 1);
	char *name CLEANUP(mem_free_text) =
		job_files_name("digits", files, 3, (const size_t[]){0, 0, 0}, 0);

	assert_string_equal(
		json_as_string(json_get_path(json_at(list, 0), "metadata", "name", NULL), ""),
		name);
	assert_json(json_get(json_at(list, 0), "data"),
		    "{\"train.py\":\"pass\\n\",\"empty\":\"\"}");
	assert_json(json_get(json_at(list, 0), "binaryData"), "{\"model.pyz\":\"UEsA\"}");
	assert_json(json_get(json_at(list, 0), "immutable"), "true");
}

TEST(a_name_too_long_for_its_pods_is_told)
{
	struct faults faults CLEANUP(faults_done) = {0};
	char name[56] = {0};

	memset(name, 'a', 55);
	struct job *job CLEANUP(job_cleanup) = job_of(
		name, "Worker: {replicas: 11, template: {spec: {containers: [{name: tensorflow, "
		      "image: a}]}}}");

	assert_false(objects_check(job, &faults));
	assert_int_equal(faults.count, 1);
	assert_string_equal(faults.list[0].path, "metadata.name");
	assert_non_null(strstr(faults.list[0].sentence, "so that 53 are left for the job"));
}

TEST(more_replicas_than_a_variable_can_name_are_told)
{
	struct faults faults CLEANUP(faults_done) = {0};
	struct job *many CLEANUP(job_cleanup) =
		job_of("digits", "Worker: {replicas: 2500, template: {spec: {containers: [{name: "
				 "tensorflow, image: a}]}}}");
	struct job *too_many CLEANUP(job_cleanup) =
		job_of("digits", "Worker: {replicas: 3500, template: {spec: {containers: [{name: "
				 "tensorflow, image: a}]}}}");

	assert_true(objects_check(many, &faults));
	assert_false(objects_check(too_many, &faults));
	assert_int_equal(faults.count, 1);
	assert_non_null(strstr(faults.list[0].sentence, "Too many: 3500 replicas"));
}

TEST(a_job_that_leaves_no_room_for_its_status_is_told)
{
	static char words[300000];
	struct faults faults CLEANUP(faults_done) = {0};

	memset(words, 'a', sizeof(words) - 1);
	memcpy(words, "args: [", 7);
	memcpy(words + sizeof(words) - 2, "]", 2);
	struct job *job CLEANUP(job_cleanup) = job_of_container("", words);

	assert_false(objects_check(job, &faults));
	assert_int_equal(faults.count, 1);
	assert_string_equal(faults.list[0].path, "spec");
	assert_non_null(strstr(faults.list[0].sentence, "must have at most 262144 on Kubernetes"));
}

/* Of workers that come and go each is told of itself and of all servers. */
TEST(ten_thousand_may_come_and_go)
{
	static const char workers[] = "Worker: {replicas: 10000, template: {spec: {containers: "
				      "[{name: tensorflow, image: a}]}}}}, enableDynamicWorker: "
				      "true, runPolicy: {";
	static const char servers[] = "PS: {replicas: 5000, template: {spec: {containers: [{name: "
				      "tensorflow, image: a}]}}}}, enableDynamicWorker: true, "
				      "runPolicy: {";
	struct faults faults CLEANUP(faults_done) = {0};
	struct job *job CLEANUP(job_cleanup) = job_of("digits", workers);
	struct job *too_many CLEANUP(job_cleanup) = job_of("digits", servers);

	assert_true(objects_check(job, &faults));
	assert_false(objects_check(too_many, &faults));
}

TEST(every_container_needs_an_image)
{
	struct faults faults CLEANUP(faults_done) = {0};
	struct job *job CLEANUP(job_cleanup) =
		job_of("digits", "Worker: {template: {spec: {initContainers: [{name: first}], "
				 "containers: [{name: tensorflow}, {name: log, image: a}]}}}");

	assert_false(objects_check(job, &faults));
	assert_int_equal(faults.count, 2);
	assert_string_equal(faults.list[0].path,
			    "spec.tfReplicaSpecs[Worker].template.spec.initContainers[0].image");
	assert_string_equal(faults.list[1].path,
			    "spec.tfReplicaSpecs[Worker].template.spec.containers[0].image");
}

static void assert_is_of(const char *name, const char *role, int index)
{
	struct job *job CLEANUP(job_cleanup) = job_of_container("", "");
	const char *found;
	size_t len;
	int found_index;
	bool is_of_replica = objects_read_pod_name(job, name, &found, &len, &found_index);

	assert_int_equal(is_of_replica, role != NULL);
	if (!role)
		return;
	assert_int_equal(len, strlen(role));
	assert_memory_equal(found, role, len);
	assert_int_equal(found_index, index);
}

TEST(a_pods_name_says_which_replica_it_is)
{
	assert_is_of("digits-worker-0", "worker", 0);
	assert_is_of("digits-of-a-role-12", "of-a-role", 12);
	assert_is_of("digits-worker-2147483647", "worker", INT_MAX);
	assert_is_of("digits-worker-2147483648", NULL, 0);
	assert_is_of("digits-worker-01", NULL, 0);
	assert_is_of("digits-worker-+1", NULL, 0);
	assert_is_of("digits-worker--1", "worker-", 1);
	assert_is_of("digits-worker-", NULL, 0);
	assert_is_of("digits-worker", NULL, 0);
	assert_is_of("digits-1", NULL, 0);
	assert_is_of("digits--1", NULL, 0);
	assert_is_of("digits", NULL, 0);
	assert_is_of("digit-worker-0", NULL, 0);
	assert_is_of("digitsworker-0", NULL, 0);
	assert_is_of("", NULL, 0);
}
