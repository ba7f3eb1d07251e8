/* A record on its way into a ConfigMap or a TFJob object, and back. */
#include "unit_json.h"

#include "base/mem.h"
#include "cluster/store_record.h"

#define UID "5d0c1f3e-0000-4000-8000-000000000001"

#define DOCUMENT                                                                                   \
	"{\"apiVersion\":\"kubeflow.org/"                                                          \
	"v1\",\"kind\":\"TFJob\",\"metadata\":{\"name\":\"digits\","                               \
	"\"namespace\":\"ada\"},\"spec\":{\"tfReplicaSpecs\":{\"Worker\":{\"replicas\":2,"         \
	"\"template\":{\"spec\":{\"containers\":[{\"name\":\"tensorflow\",\"image\":\"a\"}]}}}}}}"

static struct json *config_map_of(const char *document)
{
	const struct store_record record = {
		.name = "digits",
		.uid = "made-here",
		.document = (char *) document,
		.status = "{\"conditions\":[]}",
		.summary = "{}",
		.supervisor = "",
	};
	struct json *config_map = NULL;
	struct err err = {0};

	if (store_kube_config_map(&record, &config_map, &err) < 0)
		fail_msg("%s", err.text);
	return config_map;
}

/* As an API server answers: with what only it can know. */
static struct json *stored(void)
{
	struct json *config_map = config_map_of(DOCUMENT);
	struct json *metadata = json_get(config_map, "metadata");

	json_set_string(metadata, "uid", UID);
	json_set_string(metadata, "resourceVersion", "9007199254740993");
	json_set_string(metadata, "creationTimestamp", "2026-01-02T03:04:05Z");
	return config_map;
}

static const char *at(const struct json *object, const char *member, const char *key)
{
	return json_as_string(json_get(json_get(object, member), key), NULL);
}

TEST(a_job_is_a_config_map_in_its_own_namespace)
{
	struct json *config_map CLEANUP(json_cleanup) = config_map_of(DOCUMENT);

	assert_string_equal(json_as_string(json_get(config_map, "kind"), ""), "ConfigMap");
	assert_string_equal(at(config_map, "metadata", "name"), "digits.job");
	assert_string_equal(at(config_map, "metadata", "namespace"), "ada");
	assert_string_equal(at(config_map, "data", "status"), "{\"conditions\":[]}");
	assert_non_null(strstr(at(config_map, "data", "document"), "tfReplicaSpecs"));
}

TEST(what_was_made_can_be_told_from_another_of_that_name)
{
	struct json *config_map CLEANUP(json_cleanup) = config_map_of(DOCUMENT);
	const struct json *metadata = json_get(config_map, "metadata");

	assert_string_equal(at(metadata, "annotations", STORE_KUBE_MADE_AS), "made-here");
}

TEST(a_document_that_is_no_job_is_refused)
{
	const struct store_record record = {.name = "digits", .uid = "", .document = "{}"};
	struct json *config_map = NULL;
	struct err err = {0};

	assert_int_equal(store_kube_config_map(&record, &config_map, &err), ERR_INVALID);
	assert_null(config_map);
}

TEST(it_is_read_with_the_servers_uid_and_version)
{
	struct json *config_map CLEANUP(json_cleanup) = stored();
	struct store_record record CLEANUP(store_record_done) = {0};
	msec created;

	assert_int_equal(store_kube_read(config_map, &record, NULL), 0);
	assert_string_equal(record.name, "digits");
	assert_string_equal(record.uid, UID);
	assert_true(record.version == INT64_C(9007199254740993));
	assert_string_equal(record.status, "{\"conditions\":[]}");
	assert_string_equal(record.supervisor, "");
	assert_int_equal(text_read_time("2026-01-02T03:04:05Z", &created, NULL), 0);
	assert_true(record.created == created);
}

TEST(parts_that_are_missing_are_empty)
{
	struct json *config_map CLEANUP(json_cleanup) = stored();
	struct store_record record CLEANUP(store_record_done) = {0};

	json_remove(json_get(config_map, "data"), "status");
	json_remove(json_get(config_map, "data"), "supervisor");
	assert_int_equal(store_kube_read(config_map, &record, NULL), 0);
	assert_string_equal(record.status, "null");
	assert_string_equal(record.supervisor, "");
}

TEST(other_config_maps_are_no_jobs)
{
	struct json *config_map CLEANUP(json_cleanup) = stored();
	struct store_record record;
	struct err err = {0};

	json_remove(json_get(config_map, "data"), "document");
	assert_int_equal(store_kube_read(config_map, &record, &err), ERR_INVALID);
	assert_string_equal(err.text, "ConfigMap 'digits.job' contains no job of muster");
}

/* Its supervisor may be allowed more than the user that wrote it: a job in another namespace, say.
 */
TEST(a_document_of_another_job_is_none)
{
	static const char *const documents[] = {
		"half",
		"[]",
		"null",
		"{}",
		"{\"metadata\": []}",
		"{\"metadata\": {\"name\": \"other\", \"namespace\": \"ada\"}}",
		"{\"metadata\": {\"name\": \"digits\", \"namespace\": \"kube-system\"}}",
		"{\"metadata\": {\"name\": \"digits\"}}", /* of "default" */
	};
	struct json *config_map CLEANUP(json_cleanup) = stored();

	for (size_t i = 0; i < ARRAY_LEN(documents); i++) {
		struct store_record record CLEANUP(store_record_done) = {0};

		json_set_string(json_get(config_map, "data"), "document", documents[i]);
		assert_int_equal(store_kube_read(config_map, &record, NULL), 0);
		assert_string_equal(record.document, "null");
	}
}

TEST(a_config_map_that_is_not_ours_is_no_record)
{
	struct json *config_map CLEANUP(json_cleanup) = stored();
	struct store_record record;

	json_set_string(json_get(config_map, "metadata"), "name", "letters.job");
	assert_int_equal(store_kube_read(config_map, &record, NULL), ERR_INVALID);
	json_set_string(json_get(config_map, "metadata"), "name", "digits.job");
	json_set_string(json_get_path(config_map, "metadata", "labels", NULL),
			"app.kubernetes.io/managed-by", "helm");
	assert_int_equal(store_kube_read(config_map, &record, NULL), ERR_INVALID);
}

TEST(names_that_kubernetes_does_not_give_are_no_record)
{
	static const struct {
		const char *member, *bad, *good;
	} rows[] = {
		{"uid", "../../../escaped", UID},
		{"namespace", "../ada", "ada"},
		{"namespace", "\033[2J", "ada"},
	};
	struct json *config_map CLEANUP(json_cleanup) = stored();
	struct json *metadata = json_get(config_map, "metadata");
	struct store_record record;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		json_set_string(metadata, rows[i].member, rows[i].bad);
		assert_int_equal(store_kube_read(config_map, &record, NULL), ERR_INVALID);
		json_set_string(metadata, rows[i].member, rows[i].good);
	}
	json_set_string(json_get(metadata, "labels"), "muster/job", "../digits");
	json_set_string(metadata, "name", "../digits.job");
	assert_int_equal(store_kube_read(config_map, &record, NULL), ERR_INVALID);
}

TEST(a_change_names_its_version_and_nothing_that_stays)
{
	const struct store_change change = {.status = "{}", .supervisor = ""};
	struct json *patch CLEANUP(json_cleanup) =
		store_kube_config_maps.change_new("digits", &change, 42);
	struct text text CLEANUP(text_done) = {0};

	json_add_compact(&text, patch);
	assert_string_equal(text_of(&text), "{\"data\":{\"status\":\"{}\",\"supervisor\":\"\"},"
					    "\"metadata\":{\"resourceVersion\":\"42\"}}");
}

/* TFJobs. */

/* As servers send it: members by name, and more of them than anybody wrote. */
#define OBJECT(name, uid)                                                                          \
	"{\"apiVersion\":\"kubeflow.org/"                                                          \
	"v1\",\"kind\":\"TFJob\",\"metadata\":{\"creationTimestamp\":"                             \
	"\"2026-01-02T03:04:05Z\",\"generation\":7,\"managedFields\":[],\"name\":\"" name          \
	"\",\"namespace\":\"ada\",\"resourceVersion\":\"42\",\"uid\":\"" uid "\"},"                \
	"\"spec\":{\"tfReplicaSpecs\":{\"Worker\":{}}},\"status\":{\"conditions\":[{"              \
	"\"lastTransitionTime\":\"2026-01-02T03:04:06Z\",\"lastUpdateTime\":"                      \
	"\"2026-01-02T03:04:06Z\",\"message\":\"TFJob j is "                                       \
	"created.\",\"reason\":\"TFJobCreated\","                                                  \
	"\"status\":\"True\",\"type\":\"Created\"}],\"replicaStatuses\":{\"Worker\":{\"active\":"  \
	"2}}}}"

TEST(a_status_is_the_same_text_after_the_server_had_it)
{
	struct json *object CLEANUP(json_cleanup) = json_of(OBJECT("digits", UID));
	struct store_record first CLEANUP(store_record_done) = {0};
	struct store_record again CLEANUP(store_record_done) = {0};
	struct err err = {0};

	assert_int_equal(store_kube_tfjobs.read(object, &first, &err), 0);
	assert_non_null(strstr(first.status, "\"replicaStatuses\":{\"Worker\":{\"active\":2}}"));
	assert_null(first.summary);
	const struct store_change change = {.status = first.status};
	struct json *sent CLEANUP(json_cleanup) =
		store_kube_tfjobs.change_new("digits", &change, first.version);

	assert_string_equal(
		json_as_string(json_get_path(sent, "metadata", "resourceVersion", NULL), ""), "42");
	json_set(object, "status", json_ref(json_get(sent, "status")));
	assert_int_equal(store_kube_tfjobs.read(object, &again, &err), 0);
	assert_string_equal(first.status, again.status);
}

TEST(what_changes_with_every_write_is_not_the_document)
{
	struct json *object CLEANUP(json_cleanup) = json_of(OBJECT("digits", UID));
	struct store_record record CLEANUP(store_record_done) = {0};
	struct err err = {0};

	assert_int_equal(store_kube_tfjobs.read(object, &record, &err), 0);
	assert_string_equal(record.document,
			    "{\"apiVersion\":\"kubeflow.org/v1\",\"kind\":\"TFJob\",\"metadata\":{"
			    "\"name\":\"digits\",\"namespace\":\"ada\"},\"spec\":{"
			    "\"tfReplicaSpecs\":{\"Worker\":{}}}}");
	assert_string_equal(record.uid, UID);
	assert_int_equal(record.version, 42);
}

TEST(a_name_that_is_none_is_refused)
{
	static const char *const objects[] = {OBJECT("../digits", UID),
					      OBJECT("digits", "../../escaped")};

	for (size_t i = 0; i < ARRAY_LEN(objects); i++) {
		struct json *object CLEANUP(json_cleanup) = json_of(objects[i]);
		struct store_record record;
		struct err err = {0};

		assert_int_equal(store_kube_tfjobs.read(object, &record, &err), ERR_INVALID);
	}
}
