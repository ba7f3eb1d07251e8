#include "cluster/tfjob_record.h"

#include "base/mem.h"
#include "base/names.h"
#include "base/text.h"
#include "jobs/record.h"
#include "kube/tfjob_objects.h"
#include "reconcile/compact_status.h"

#include <string.h>

#define API_VERSION "kubeflow.org/v1"
#define KIND "TFJob"

static const char *tfjob_text_at(const struct json *object, const char *key)
{
	return json_as_string(json_get(object, key), "");
}

static char *object_name(const char *job_name)
{
	return mem_copy_text(job_name);
}

static bool has_good_names(const struct json *metadata)
{
	return name_is_dns1035_label(tfjob_text_at(metadata, "name")) &&
	       name_is_dns_label(tfjob_text_at(metadata, "namespace")) &&
	       name_is_uid(tfjob_text_at(metadata, "uid"));
}

static char *text_of_json(const struct json *value)
{
	struct text text CLEANUP(text_done) = {0};

	json_add_compact(&text, value);
	return text_take(&text);
}

/* Fields that change with every write of the status are omitted, so that one job has one text. */
static char *document_of(const struct json *object)
{
	static const char *const members[] = {"name", "namespace", "labels", "annotations"};
	const struct json *from = json_get(object, "metadata");
	struct json *document CLEANUP(json_cleanup) = json_new_object();
	struct json *metadata;

	json_set_string(document, "apiVersion", API_VERSION);
	json_set_string(document, "kind", KIND);
	metadata = json_object_at(document, "metadata");
	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		json_copy_member(metadata, from, members[i]);
	json_copy_member(document, object, "spec");
	return text_of_json(document);
}

/* Training-operator writes no exit code; this adds one to a TFJob that has finished. */
static void add_exit_code(struct status *status)
{
	if (status_is_finished(status) && status->exit_code < 0)
		status->exit_code = !status_condition_is_true(status, CONDITION_SUCCEEDED);
}

/* Members in our order, whatever the server's is. A status that cannot be read stays as it is, so
 * that its reader gets the error: a finished job must not run again. */
static char *tfjob_status_text_of(const struct json *object)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	const struct json *value = json_get(object, "status");
	struct status status;

	if (!value)
		return mem_copy_text("null");
	if (compact_status_read(value, arena, &status, NULL) < 0)
		return text_of_json(value);
	add_exit_code(&status);
	return record_tfjob_status_text(&status);
}

static int read_object(const struct json *object, struct store_record *ret_record, struct err *err)
{
	const struct json *metadata = json_get(object, "metadata");
	struct store_record record = {0};

	if (!has_good_names(metadata))
		return err_set(err, ERR_INVALID,
			       "TFJob '%s' has a name, namespace or uid that cannot be part of the "
			       "name of a Pod or Service",
			       tfjob_text_at(metadata, "name"));
	if (text_read_int(tfjob_text_at(metadata, "resourceVersion"), 0, INT64_MAX, &record.version,
			  NULL) < 0 ||
	    text_read_time(tfjob_text_at(metadata, "creationTimestamp"), &record.created, NULL) < 0)
		return err_set(err, ERR_INVALID,
			       "TFJob '%s' has no version that is a number, or no time",
			       tfjob_text_at(metadata, "name"));
	record.name = mem_copy_text(tfjob_text_at(metadata, "name"));
	record.uid = mem_copy_text(tfjob_text_at(metadata, "uid"));
	record.document = document_of(object);
	record.status = tfjob_status_text_of(object);
	record.supervisor = mem_copy_text("");
	*ret_record = record;
	return 0;
}

/* The server accepts only the status by this call, and compares the version. */
static struct json *change_new(const char *job_name, const struct store_change *change,
			       int64_t version)
{
	struct json *object = json_new_object();
	char *version_text CLEANUP(mem_free_text) = mem_format("%lld", (long long) version);
	struct json *metadata, *status = NULL;

	json_set_string(object, "apiVersion", API_VERSION);
	json_set_string(object, "kind", KIND);
	metadata = json_object_at(object, "metadata");
	json_set_string(metadata, "name", job_name);
	json_set_string(metadata, "resourceVersion", version_text);
	if (change->status && json_read(change->status, strlen(change->status), &status, NULL) == 0)
		json_set(object, "status", status);
	return object;
}

const struct store_kube_form store_kube_tfjobs = {
	.resource = &kube_tfjobs,
	.object_name = object_name,
	.read = read_object,
	.change_new = change_new,
	.change_verb = KUBE_UPDATE,
	.change_subresource = "status",
	.check_answer = tfjob_definition_check_answer,
};
