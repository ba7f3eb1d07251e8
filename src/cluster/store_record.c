#include "cluster/store_record.h"

#include "base/mem.h"
#include "base/names.h"
#include "base/text.h"
#include "jobs/record.h"
#include "kube/objects.h"

#include <string.h>

#define STATUS_KEY "status"
#define SUMMARY_KEY "summary"
#define SUPERVISOR_KEY "supervisor"

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

bool store_kube_is_made_as(const struct json *config_map, const char *uid)
{
	const struct json *annotations = json_get_path(config_map, "metadata", "annotations", NULL);

	return text_equals(json_as_string(json_get(annotations, STORE_KUBE_MADE_AS), NULL), uid);
}

static const char *config_map_text_at(const struct json *object, const char *key)
{
	return json_as_string(json_get(object, key), "");
}

static char *copy_of(const struct json *object, const char *key, const char *otherwise)
{
	return mem_copy_text(json_as_string(json_get(object, key), otherwise));
}

/* Names are used in directories, calls and commands: a name that no API server would accept or
 * return is invalid. */
static bool has_good_names(const struct json *metadata, const struct json *labels)
{
	return name_is_dns1035_label(config_map_text_at(labels, OBJECTS_LABEL_JOB)) &&
	       name_is_dns_label(config_map_text_at(metadata, "namespace")) &&
	       name_is_uid(config_map_text_at(metadata, "uid"));
}

static bool is_owner_config_map(const struct json *metadata, const struct json *labels)
{
	char *owner CLEANUP(mem_free_text) =
		objects_owner_name(config_map_text_at(labels, OBJECTS_LABEL_JOB));

	return text_equals(config_map_text_at(labels, OBJECTS_LABEL_MANAGED_BY),
			   OBJECTS_MANAGED_BY) &&
	       text_equals(config_map_text_at(metadata, "name"), owner);
}

/* A user who may write this ConfigMap must not make its supervisor, which may have more
 * permissions, act on a job of another name or namespace. */
static bool is_about(const char *document, const char *job_name, const char *namespace_name)
{
	struct json *tfjob CLEANUP(json_cleanup) = NULL;

	if (json_read(document, strlen(document), &tfjob, NULL) < 0)
		return false;
	const struct json *metadata = json_get(tfjob, "metadata");

	return text_equals(config_map_text_at(metadata, "name"), job_name) &&
	       text_equals(json_as_string(json_get(metadata, "namespace"), "default"),
			   namespace_name);
}

/* A document about another job counts as unreadable. */
static char *document_of(const struct json *data, const char *job_name, const char *namespace_name)
{
	const char *document = config_map_text_at(data, OBJECTS_DOCUMENT_KEY);

	return mem_copy_text(is_about(document, job_name, namespace_name) ? document : "null");
}

/* Parts may be missing if a user, or an older muster, created it: they count as empty. */
int store_kube_read(const struct json *config_map, struct store_record *ret_record, struct err *err)
{
	const struct json *metadata = json_get(config_map, "metadata");
	const struct json *labels = json_get(metadata, "labels");
	const struct json *data = json_get(config_map, "data");
	const char *name = config_map_text_at(metadata, "name");
	const char *version = config_map_text_at(metadata, "resourceVersion");
	const char *created = config_map_text_at(metadata, "creationTimestamp");
	struct store_record record = {0};

	if (!is_owner_config_map(metadata, labels) || !json_get(data, OBJECTS_DOCUMENT_KEY))
		return err_set(err, ERR_INVALID, "ConfigMap '%s' contains no job of muster", name);
	if (!has_good_names(metadata, labels))
		return err_set(err, ERR_INVALID,
			       "ConfigMap '%s' has a job name, namespace or uid that Kubernetes "
			       "would not allow; check that this is the right API server",
			       name);
	if (text_read_int(version, 0, INT64_MAX, &record.version, NULL) < 0 ||
	    text_read_time(created, &record.created, NULL) < 0)
		return err_set(err, ERR_INVALID,
			       "ConfigMap '%s' has no version that is a number, or no time", name);
	record.name = copy_of(labels, OBJECTS_LABEL_JOB, "");
	record.uid = copy_of(metadata, "uid", "");
	record.document = document_of(data, record.name, config_map_text_at(metadata, "namespace"));
	record.status = copy_of(data, STATUS_KEY, "null");
	record.summary = copy_of(data, SUMMARY_KEY, "null");
	record.supervisor = copy_of(data, SUPERVISOR_KEY, "");
	*ret_record = record;
	return 0;
}

static struct json *patch_new(const char *job_name, const struct store_change *change,
			      int64_t version)
{
	struct json *patch = json_new_object();
	struct json *data = json_object_at(patch, "data");
	char *version_text CLEANUP(mem_free_text) = mem_format("%lld", (long long) version);

	(void) job_name;
	json_set_string(json_object_at(patch, "metadata"), "resourceVersion", version_text);
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
	.change_new = patch_new,
	.change_verb = KUBE_PATCH,
};
