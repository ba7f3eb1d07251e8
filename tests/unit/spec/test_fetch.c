/* Folders that are fetched from Pods: how they are written, and what a Pod gets for them. */
#include "unit.h"

#include "base/mem.h"
#include "base/text.h"
#include "kube/fetch_sidecar.h"
#include "kube/objects.h"
#include "spec/fetch.h"
#include "spec/job.h"
#include "spec/pod_template.h"

static void assert_reads(const char *text, const char *role, int index, const char *path,
			 const char *folder)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct err err = {0};
	struct fetch fetch;

	if (fetch_read(text, arena, &fetch, &err) < 0)
		fail_msg("%s", err.text);
	char *there CLEANUP(mem_free_text) = fetch_folder(&fetch);

	assert_string_equal(fetch.role, role);
	assert_int_equal(fetch.index, index);
	assert_string_equal(fetch.path, path);
	assert_string_equal(there, folder);
}

TEST(a_folder_is_named_by_its_replica_and_path)
{
	assert_reads("worker-0:/models", "worker", 0, "/models", "/models");
	assert_reads("chief-0:/a/b//", "chief", 0, "/a/b", "/a/b");
	assert_reads("my-ps-12:/models/.", "my-ps", 12, "/models/.", "/models");
	assert_reads("ps-1:/..models", "ps", 1, "/..models", "/..models");
}

TEST(what_names_no_folder_is_refused)
{
	static const char *const wrong[] = {
		"",
		"worker-0",
		"worker:/models",
		"-0:/models",
		"worker-x:/models",
		"worker-0:models",
		"worker-0:",
		"worker-0:/",
		"worker-0://",
		"worker-0:/.",
		"worker-0:/models/../etc",
		"worker-0:/models/..",
		"x/../../evil-0:/models",
		"..-0:/models",
		"WORKER-0:/models",
	};
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct fetch fetch;

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		if (fetch_read(wrong[i], arena, &fetch, NULL) != ERR_INVALID)
			fail_msg("'%s' was taken", wrong[i]);
}

static struct json *document_new(const char *spec, const char *container)
{
	char *text CLEANUP(mem_free_text) = mem_format(
		"{\"apiVersion\": \"kubeflow.org/v1\", \"kind\": \"TFJob\", \"metadata\": "
		"{\"name\": \"digits\"}, \"spec\": {\"tfReplicaSpecs\": {\"Worker\": "
		"{\"replicas\": "
		"2, \"template\": {\"spec\": {%s \"containers\": [{\"name\": \"tensorflow\", "
		"\"image\": \"a\" %s}]}}}}}}",
		spec, container);
	struct json *document;
	struct err err = {0};

	if (json_read(text, strlen(text), &document, &err) < 0)
		fail_msg("%s", err.text);
	return document;
}

static void fetch_also(struct json *document, const char *text)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct fetch fetch;

	assert_int_equal(fetch_read(text, arena, &fetch, NULL), 0);
	fetch_add(document, &fetch);
}

static struct job *job_of(const struct json *document)
{
	struct faults faults CLEANUP(faults_done) = {0};
	struct job *job;

	if (job_read(document, NULL, JOB_STRICT, &faults, &job) < 0)
		fail_msg("%s", faults.list[0].sentence);
	return job;
}

TEST(a_job_knows_what_its_document_names)
{
	struct json *document CLEANUP(json_cleanup) = document_new("", "");

	fetch_also(document, "worker-1:/logs");
	fetch_also(document, "worker-0:/models/.");
	struct job *job CLEANUP(job_cleanup) = job_of(document);

	assert_int_equal(job->n_fetches, 2);
	assert_string_equal(job->fetches[0].path, "/logs");
	assert_int_equal(job->fetches[0].index, 1);
	assert_string_equal(job->fetches[1].path, "/models/.");
	assert_true(fetch_sidecar_is_needed(job, "worker", 1));
	assert_false(fetch_sidecar_is_needed(job, "worker", 2));
	assert_false(fetch_sidecar_is_needed(job, "ps", 1));
}

TEST(an_annotation_that_is_no_list_is_a_fault)
{
	static const char *const wrong[] = {"worker-0:/models", "{}", "[1]", "[\"worker-0\"]"};

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		struct json *document CLEANUP(json_cleanup) = document_new("", "");
		struct faults faults CLEANUP(faults_done) = {0};
		struct job *job;

		json_set_string(json_object_at(json_get(document, "metadata"), "annotations"),
				JOB_ANNOTATION_FETCH, wrong[i]);
		assert_int_equal(job_read(document, NULL, JOB_STRICT, &faults, &job), ERR_INVALID);
		assert_string_equal(faults.list[0].path, "metadata.annotations[muster/fetch]");
	}
}

static void assert_fault(const char *spec, const char *text, const char *sentence)
{
	struct json *document CLEANUP(json_cleanup) = document_new(spec, "");
	struct faults faults CLEANUP(faults_done) = {0};

	fetch_also(document, text);
	struct job *job CLEANUP(job_cleanup) = job_of(document);

	assert_false(objects_check(job, &faults));
	assert_string_equal(faults.list[0].sentence, sentence);
}

TEST(what_no_pod_has_cannot_be_fetched)
{
	assert_fault(
		"", "worker-2:/models",
		"Invalid value: 'worker-2:/models' cannot be fetched: the job has no worker-2");
	assert_fault("", "ps-0:/models",
		     "Invalid value: 'ps-0:/models' cannot be fetched: the job has no ps-0");
	assert_fault("\"shareProcessNamespace\": true,", "worker-0:/models",
		     "Invalid value: 'worker-0:/models' cannot be fetched: its Pod has "
		     "shareProcessNamespace or hostPID");
}

static struct json *pod_new(const char *container, int index, const char *const *texts)
{
	struct json *document CLEANUP(json_cleanup) = document_new("", container);

	while (*texts)
		fetch_also(document, *texts++);
	struct job *job CLEANUP(job_cleanup) = job_of(document);
	struct objects *objects CLEANUP(objects_cleanup) = objects_new(job, NULL);

	return objects_pod_new(objects, job_role(job, "worker"), index, 0, NULL);
}

static const struct json *containers_of(const struct json *pod)
{
	return json_get_path(pod, "spec", "containers", NULL);
}

TEST(only_the_pod_concerned_has_a_keeper)
{
	static const char *const texts[] = {"worker-1:/models", NULL};
	struct json *first CLEANUP(json_cleanup) = pod_new("", 0, texts);
	struct json *second CLEANUP(json_cleanup) = pod_new("", 1, texts);
	const struct json *keeper = json_at(containers_of(second), 1);
	const struct json *mount = json_at(json_get(keeper, "volumeMounts"), 0);

	assert_int_equal(json_count(containers_of(first)), 1);
	assert_non_null(
		pod_template_find(json_get(json_at(containers_of(first), 0), "volumeMounts"),
				  "mountPath", "/models"));
	assert_int_equal(json_count(containers_of(second)), 2);
	assert_string_equal(json_as_string(json_get(keeper, "image"), ""), "a");
	assert_string_equal(json_as_string(json_get(mount, "mountPath"), ""), "/models");
	assert_non_null(pod_template_find(json_get_path(second, "spec", "volumes", NULL), "name",
					  json_as_string(json_get(mount, "name"), "")));
}

TEST(a_folder_on_a_volume_stays_there)
{
	static const char *const texts[] = {"worker-0:/data/models", "worker-0:/data/logs",
					    "worker-0:/database", NULL};
	struct json *pod CLEANUP(json_cleanup) = pod_new(
		", \"volumeMounts\": [{\"name\": \"disk\", \"mountPath\": \"/data\"}]", 0, texts);
	const struct json *mounts = json_get(json_at(containers_of(pod), 1), "volumeMounts");

	assert_int_equal(json_count(mounts), 2);
	assert_non_null(pod_template_find(mounts, "name", "disk"));
	assert_non_null(pod_template_find(mounts, "mountPath", "/database"));
}

TEST(a_keeper_is_the_user_that_wrote_the_files)
{
	static const char *const texts[] = {"worker-0:/models", NULL};
	struct json *pod CLEANUP(json_cleanup) = pod_new(
		", \"securityContext\": {\"runAsUser\": 7, \"privileged\": true}", 0, texts);
	const struct json *security = json_get(json_at(containers_of(pod), 1), "securityContext");

	assert_int_equal(json_as_integer(json_get(security, "runAsUser"), 0), 7);
	assert_null(json_get(security, "privileged"));
}

/* Of a Pod with these states of its two containers. */
static void assert_chosen(const char *phase, const char *trains, const char *keeper,
			  const char *wanted)
{
	static const char *const texts[] = {"worker-0:/models", NULL};
	struct json *pod CLEANUP(json_cleanup) = pod_new("", 0, texts);
	char *text CLEANUP(mem_free_text) = mem_format(
		"{\"phase\": \"%s\", \"reason\": \"Evicted\", \"containerStatuses\": [{\"name\": "
		"\"tensorflow\", \"state\": {\"%s\": {}}}, {\"name\": \"" FETCH_SIDECAR_CONTAINER
		"\", \"state\": {\"%s\": {}}}]}",
		phase, trains, keeper);
	const char *container = NULL, *to_fetch = NULL;
	struct err err = {0};
	struct json *status;

	assert_int_equal(json_read(text, strlen(text), &status, NULL), 0);
	json_set(pod, "status", status);
	int rc = fetch_sidecar_choose_container(pod, "worker-0", false, &container, &err);

	assert_string_equal(rc ? err.text : container, wanted);
	assert_int_equal(fetch_sidecar_choose_container(pod, "worker-0", true, &to_fetch, NULL),
			 rc);
	if (rc == 0)
		assert_string_equal(to_fetch, text_equals(keeper, "running")
						      ? FETCH_SIDECAR_CONTAINER
						      : container);
}

TEST(the_container_that_runs_is_entered)
{
	assert_chosen("Running", "running", "running", "tensorflow");
	assert_chosen("Running", "running", "waiting", "tensorflow");
	assert_chosen("Running", "terminated", "running", FETCH_SIDECAR_CONTAINER);
	assert_chosen("Pending", "waiting", "waiting", "worker-0 has not started yet");
	assert_chosen("Failed", "terminated", "terminated",
		      "worker-0 has ended (Evicted), and its container can no "
		      "longer be entered");
}
