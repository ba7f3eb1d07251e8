/* A record as a TFJob object holds it. */
#include "unit.h"

#include "base/mem.h"
#include "base/text.h"
#include "cluster/tfjob_record.h"

#define UID "5d0c1f3e-0000-4000-8000-000000000001"

static struct json *json_of(const char *text)
{
	struct json *value = NULL;
	struct err err = {0};

	if (json_read(text, strlen(text), &value, &err) < 0)
		fail_msg("%s", err.text);
	return value;
}

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
