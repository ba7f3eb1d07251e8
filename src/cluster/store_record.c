#include "cluster/store_record.h"

#include "base/mem.h"
#include "base/names.h"
#include "jobs/record.h"
#include "kube/objects.h"
#include "kube/tfjob_objects.h"
#include "reconcile/compact_status.h"

#define STATUS_KEY "status"
#define SUMMARY_KEY "summary"
#define SUPERVISOR_KEY "supervisor"
#define API_VERSION "kubeflow.org/v1"
#define KIND "TFJob"

static const char *text_at(const struct json *object, const char *key)
{
	return json_get_string(object, key, "");
}

static char *copy_of(const struct json *object, const char *key, const char *otherwise)
{
	return mem_copy_text(json_get_string(object, key, otherwise));
}

/* Names are used in directories, calls and commands: a name that no API server would accept or
 * return is invalid. */
static bool has_good_names(const struct json *metadata, const char *job_name)
{
	return name_is_dns1035_label(job_name) &&
	       name_is_dns_label(text_at(metadata, "namespace")) &&
	       name_is_uid(text_at(metadata, "uid"));
}

/* What each object has. `kind` is for the message. */
static int read_metadata(const struct json *metadata, const char *kind,
			 struct store_record *ret_record, struct err *err)
{
	if (text_read_int(text_at(metadata, "resourceVersion"), 0, INT64_MAX, &ret_record->version,
			  NULL) < 0 ||
	    text_read_time(text_at(metadata, "creationTimestamp"), &ret_record->created, NULL) < 0)
		return err_set(err, ERR_INVALID,
			       "%s '%s' has no version that is a number, or no time", kind,
			       text_at(metadata, "name"));
	ret_record->uid = copy_of(metadata, "uid", "");
	return 0;
}

/* The server rejects the change of any other version. */
static void set_version(struct json *object, int64_t version)
{
	char *text CLEANUP(mem_free_text) = mem_format("%lld", (long long) version);

	json_set_string(json_object_at(object, "metadata"), "resourceVersion", text);
}

/* ConfigMaps. */

int store_kube_config_map(const struct store_record *record, struct json **ret_config_map,
			  struct err *err)
{
	struct job *job CLEANUP(job_cleanup) = NULL;
	int rc = record_read_job(record, &job, err);

	if (rc < 0)
		return rc;
	struct json *config_map = objects_owner_new(job);
	struct json *data = json_object_at(config_map, "data");
	struct json *annotations =
		json_object_at(json_object_at(config_map, "metadata"), "annotations");

	json_set_string(annotations, STORE_KUBE_MADE_AS, record->uid);
	json_set_string(data, STATUS_KEY, record->status);
	json_set_string(data, SUMMARY_KEY, record->summary);
	json_set_string(data, SUPERVISOR_KEY, record->supervisor);
	*ret_config_map = config_map;
	return 0;
}

/* A user who may write this ConfigMap must not make its supervisor, which may have more
 * permissions, act on a job of another name or namespace. */
static bool is_about(const char *document, const char *job_name, const char *namespace_name)
{
	struct json *tfjob CLEANUP(json_cleanup) = NULL;

	if (json_read(document, strlen(document), &tfjob, NULL) < 0)
		return false;
	const struct json *metadata = json_get(tfjob, "metadata");

	return text_equals(text_at(metadata, "name"), job_name) &&
	       text_equals(json_get_string(metadata, "namespace", "default"), namespace_name);
}

/* Parts may be missing if a user created it: they count as empty. */
int store_kube_read(const struct json *config_map, struct store_record *ret_record, struct err *err)
{
	const struct json *metadata = json_get(config_map, "metadata");
	const struct json *labels = json_get(metadata, "labels");
	const struct json *data = json_get(config_map, "data");
	const char *name = text_at(metadata, "name");
	const char *document = text_at(data, OBJECTS_DOCUMENT_KEY);
	char *owner CLEANUP(mem_free_text) = objects_owner_name(text_at(labels, OBJECTS_LABEL_JOB));
	struct store_record record = {0};

	if (!text_equals(text_at(labels, OBJECTS_LABEL_MANAGED_BY), OBJECTS_MANAGED_BY) ||
	    !text_equals(name, owner) || !json_get(data, OBJECTS_DOCUMENT_KEY))
		return err_set(err, ERR_INVALID, "ConfigMap '%s' contains no job of muster", name);
	if (!has_good_names(metadata, text_at(labels, OBJECTS_LABEL_JOB)))
		return err_set(err, ERR_INVALID,
			       "ConfigMap '%s' has a job name, namespace or uid that Kubernetes "
			       "would not allow; check that this is the right API server",
			       name);
	int rc = read_metadata(metadata, "ConfigMap", &record, err);

	if (rc < 0)
		return rc;
	record.name = copy_of(labels, OBJECTS_LABEL_JOB, "");
	/* A document about another job counts as unreadable. */
	record.document = mem_copy_text(
		is_about(document, record.name, text_at(metadata, "namespace")) ? document
										: "null");
	record.status = copy_of(data, STATUS_KEY, "null");
	record.summary = copy_of(data, SUMMARY_KEY, "null");
	record.supervisor = copy_of(data, SUPERVISOR_KEY, "");
	*ret_record = record;
	return 0;
}

static struct json *config_map_patch_new(const char *job_name, const struct store_change *change,
					 int64_t version)
{
	struct json *patch = json_new_object();
	struct json *data = json_object_at(patch, "data");

	(void) job_name;
	set_version(patch, version);
	json_set_string(data, OBJECTS_DOCUMENT_KEY, change->document);
	json_set_string(data, STATUS_KEY, change->status);
	json_set_string(data, SUMMARY_KEY, change->summary);
	json_set_string(data, SUPERVISOR_KEY, change->supervisor);
	return patch;
}

const struct store_kube_form store_kube_config_maps = {
	.resource = &kube_config_maps,
	.object_name = objects_owner_name,
	.read = store_kube_read,
	.change_new = config_map_patch_new,
	.change_verb = KUBE_PATCH,
};

/* TFJobs. */

/* Fields that change with every write of the status are omitted, so that one job has one text. */
static char *tfjob_document(const struct json *object)
{
	static const char *const members[] = {"name", "namespace", "labels", "annotations"};
	struct json *document CLEANUP(json_cleanup) =
		json_new_texts("apiVersion", API_VERSION, "kind", KIND, NULL);
	struct json *metadata = json_object_at(document, "metadata");

	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		json_copy_member(metadata, json_get(object, "metadata"), members[i]);
	json_copy_member(document, object, "spec");
	return json_compact_text(document);
}

/* Members in our order, whatever the server's is. A status that cannot be read stays as it is, so
 * that its reader gets the error: a finished job must not run again. Training-operator writes no
 * exit code; this adds one to a TFJob that has finished. */
static char *tfjob_status(const struct json *object)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	const struct json *value = json_get(object, "status");
	struct status status;

	if (!value)
		return mem_copy_text("null");
	if (compact_status_read(value, arena, &status, NULL) < 0)
		return json_compact_text(value);
	if (status_is_finished(&status) && status.exit_code < 0)
		status.exit_code = !status_condition_is_true(&status, CONDITION_SUCCEEDED);
	return record_tfjob_status_text(&status);
}

static int read_tfjob(const struct json *object, struct store_record *ret_record, struct err *err)
{
	const struct json *metadata = json_get(object, "metadata");
	const char *name = text_at(metadata, "name");
	struct store_record record = {0};

	if (!has_good_names(metadata, name))
		return err_set(err, ERR_INVALID,
			       "TFJob '%s' has a name, namespace or uid that cannot be part of the "
			       "name of a Pod or Service",
			       name);
	int rc = read_metadata(metadata, "TFJob", &record, err);

	if (rc < 0)
		return rc;
	record.name = mem_copy_text(name);
	record.document = tfjob_document(object);
	record.status = tfjob_status(object);
	record.supervisor = mem_copy_text("");
	*ret_record = record;
	return 0;
}

/* The server accepts only the status by this call, and compares the version. */
static struct json *tfjob_change_new(const char *job_name, const struct store_change *change,
				     int64_t version)
{
	struct json *object = json_new_texts("apiVersion", API_VERSION, "kind", KIND, NULL);
	struct json *status = NULL;

	json_set_string(json_object_at(object, "metadata"), "name", job_name);
	set_version(object, version);
	if (change->status && json_read(change->status, strlen(change->status), &status, NULL) == 0)
		json_set(object, "status", status);
	return object;
}

const struct store_kube_form store_kube_tfjobs = {
	.resource = &kube_tfjobs,
	.object_name = mem_copy_text,
	.read = read_tfjob,
	.change_new = tfjob_change_new,
	.change_verb = KUBE_UPDATE,
	.change_subresource = "status",
	.check_answer = tfjob_definition_check_answer,
};
