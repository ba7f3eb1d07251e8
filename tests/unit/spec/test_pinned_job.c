/* Of what others write into the document of a job, three things count. */
#include "unit_json.h"

#include "base/json.h"
#include "base/mem.h"
#include "spec/job.h"
#include "spec/pinned_job.h"

static const char before[] =
	"{\"apiVersion\":\"kubeflow.org/"
	"v1\",\"kind\":\"TFJob\",\"metadata\":{\"name\":\"j\",\"namespace\":\"ada\"},"
	"\"spec\":{\"tfReplicaSpecs\":{\"PS\":{\"replicas\":1,\"template\":{\"spec\":{"
	"\"containers\":["
	"{\"name\":\"tensorflow\",\"image\":\"i\"}]}}},\"Worker\":{\"replicas\":1,\"template\":{"
	"\"spec\":{"
	"\"containers\":[{\"name\":\"tensorflow\",\"image\":\"i\"}]}}}}}}";

static struct json *normalised(const struct json *root)
{
	struct faults faults CLEANUP(faults_done) = {0};
	struct job *job CLEANUP(job_cleanup) = NULL;

	assert_int_equal(job_read(root, NULL, JOB_LENIENT, &faults, &job), 0);
	return json_new_copy(job->document);
}

static struct json *pinned_document(void)
{
	struct json *root CLEANUP(json_cleanup) = json_of(before);

	return normalised(root);
}

/* The pin, and the document as somebody patched it. */
struct scene {
	struct json *document;
	struct pinned_job *pin;
	struct text told;
};

static void scene_done(struct scene *scene)
{
	json_free(scene->document);
	pinned_job_free(scene->pin);
	text_done(&scene->told);
}

static struct scene scene_new(void)
{
	struct json *document = pinned_document();

	return (struct scene){.document = document, .pin = pinned_job_new(document)};
}

static struct json *apply_json(struct scene *scene, const struct json *document)
{
	struct text text CLEANUP(text_done) = {0};

	json_add_compact(&text, document);
	text_clear(&scene->told);
	char *made CLEANUP(mem_free_text) =
		pinned_job_apply(scene->pin, text_of(&text), &scene->told);
	return json_of(made);
}

static struct json *apply_patch(struct scene *scene, const char *patch_text)
{
	struct json *patch CLEANUP(json_cleanup) = json_of(patch_text);
	struct json *patched CLEANUP(json_cleanup) = json_patched(scene->document, patch);

	return apply_json(scene, patched);
}

TEST(what_counts_is_taken_and_not_told)
{
	static const char *const patches[] = {
		"{\"spec\":{\"tfReplicaSpecs\":{\"Worker\":{\"replicas\":3},\"PS\":{\"replicas\":0}"
		"}}}",
		"{\"spec\":{\"runPolicy\":{\"suspend\":true}}}",
		"{\"metadata\":{\"annotations\":{\"muster/stop\":\"stopped\",\"muster/"
		"stop-grace\":\"3\"}}}",
	};
	struct scene scene CLEANUP(scene_done) = scene_new();

	for (size_t i = 0; i < ARRAY_LEN(patches); i++) {
		struct json *patch CLEANUP(json_cleanup) = json_of(patches[i]);
		struct json *wanted CLEANUP(json_cleanup) = json_patched(scene.document, patch);
		struct json *made CLEANUP(json_cleanup) = apply_patch(&scene, patches[i]);

		assert_true(json_equals(made, wanted));
		assert_string_equal(text_of(&scene.told), "");
	}
}

TEST(what_was_taken_can_be_taken_back)
{
	struct scene scene CLEANUP(scene_done) = scene_new();
	struct json *suspended CLEANUP(json_cleanup) =
		apply_patch(&scene, "{\"spec\":{\"runPolicy\":{\"suspend\":true}}}");
	struct json *again CLEANUP(json_cleanup) = apply_patch(&scene, "{}");

	assert_false(json_equals(suspended, scene.document));
	assert_true(json_equals(again, scene.document));
}

#define POD(member)                                                                                \
	"{\"spec\":{\"tfReplicaSpecs\":{\"Worker\":{\"template\":{\"spec\":{" member "}}}}}}"
#define PATH "spec.tfReplicaSpecs[Worker].template.spec."

TEST(all_else_is_told_and_does_not_count)
{
	static const struct {
		const char *patch, *told;
	} changes[] = {
		{POD("\"hostPID\":true"), PATH "hostPID"},
		{POD("\"serviceAccountName\":\"admin-sa\""), PATH "serviceAccountName"},
		{POD("\"volumes\":[{\"name\":\"v\",\"hostPath\":{\"path\":\"/\"}}]"),
		 PATH "volumes"},
		{POD("\"containers\":[{\"name\":\"tensorflow\",\"image\":\"evil\"}]"),
		 PATH "containers[0].image"},
		{"{\"spec\":{\"tfReplicaSpecs\":{\"Worker\":null}}}",
		 "spec.tfReplicaSpecs[Worker].replicas, "
		 "spec.tfReplicaSpecs[Worker].template.spec.containers"},
		{"{\"spec\":{\"runPolicy\":{\"cleanPodPolicy\":\"None\",\"suspend\":true}}}",
		 "spec.runPolicy.cleanPodPolicy"},
		{"{\"spec\":{\"successPolicy\":\"AllWorkers\"}}", "spec.successPolicy"},
		{"{\"metadata\":{\"annotations\":{\"muster/fetch\":\"[]\"}}}",
		 "metadata.annotations[muster/fetch]"},
		{"{\"metadata\":{\"labels\":{\"app\":\"web\"}}}", "metadata.labels.app"},
	};
	struct scene scene CLEANUP(scene_done) = scene_new();

	for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
		struct json *made CLEANUP(json_cleanup) = apply_patch(&scene, changes[i].patch);
		struct json *policy = json_get_path(made, "spec", "runPolicy", NULL);

		assert_string_equal(text_of(&scene.told), changes[i].told);
		if (policy)
			json_remove(policy, "suspend");
		if (json_count(policy) == 0)
			json_remove(json_get(made, "spec"), "runPolicy");
		assert_true(json_equals(made, scene.document));
	}
}

TEST(a_role_that_is_added_does_not_count)
{
	struct scene scene CLEANUP(scene_done) = scene_new();
	struct json *patched CLEANUP(json_cleanup) = json_new_copy(scene.document);
	struct json *roles = json_get_path(patched, "spec", "tfReplicaSpecs", NULL);

	json_set(roles, "Chief", json_new_copy(json_get(roles, "Worker")));
	struct json *made CLEANUP(json_cleanup) = apply_json(&scene, patched);
	assert_true(json_equals(made, scene.document));
	assert_non_null(strstr(text_of(&scene.told), "spec.tfReplicaSpecs[Chief].template"));
}

/* The older list, and a role in small letters. */
TEST(another_spelling_is_no_change)
{
	static const char list[] =
		"{\"apiVersion\":\"kubeflow.org/"
		"v1\",\"kind\":\"TFJob\",\"metadata\":{\"name\":\"j\",\"namespace\":\"ada\"},"
		"\"spec\":{\"tfReplicaSpecs\":{\"ps\":{\"replicas\":1,\"template\":{\"spec\":{"
		"\"containers\":["
		"{\"name\":\"tensorflow\",\"image\":\"i\"}]}}},\"WORKER\":{\"replicas\":4,"
		"\"template\":{\"spec\":{"
		"\"containers\":[{\"name\":\"tensorflow\",\"image\":\"i\"}]}}}}}}";
	struct scene scene CLEANUP(scene_done) = scene_new();
	struct json *document CLEANUP(json_cleanup) = json_of(list);
	struct json *made CLEANUP(json_cleanup) = apply_json(&scene, document);
	struct json *worker = json_get_path(made, "spec", "tfReplicaSpecs", "Worker", NULL);

	assert_string_equal(text_of(&scene.told), "");
	assert_int_equal(json_as_integer(json_get(worker, "replicas"), -1), 4);
}

TEST(many_changes_are_counted_and_long_words_left_out)
{
	struct scene scene CLEANUP(scene_done) = scene_new();
	struct json *patched CLEANUP(json_cleanup) = json_new_copy(scene.document);
	struct json *labels = json_object_at(json_get(patched, "metadata"), "labels");
	char *word CLEANUP(mem_free_text) = mem_format("%0100d", 0);

	json_set_string(labels, word, "v");
	for (char key[] = "a"; *key < 'k'; (*key)++)
		json_set_string(labels, key, "v");
	struct json *made CLEANUP(json_cleanup) = apply_json(&scene, patched);
	assert_true(json_equals(made, scene.document));
	assert_null(strstr(text_of(&scene.told), "000"));
	assert_non_null(strstr(text_of(&scene.told), "metadata.labels.g and 3 more"));
}

TEST(a_document_that_is_none_stays_and_the_same_is_told_once)
{
	struct scene scene CLEANUP(scene_done) = scene_new();

	char *made CLEANUP(mem_free_text) = pinned_job_apply(scene.pin, "half", &scene.told);
	assert_string_equal(made, "half");
	for (int i = 0; i < 2; i++) {
		struct json *again CLEANUP(json_cleanup) =
			apply_patch(&scene, "{\"spec\":{\"successPolicy\":\"AllWorkers\"}}");

		assert_true(json_equals(again, scene.document));
		assert_string_equal(text_of(&scene.told), i ? "" : "spec.successPolicy");
	}
}
