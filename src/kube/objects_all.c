#include "kube/objects_all.h"

#include "base/base64.h"
#include "base/mem.h"
#include "kube/objects.h"

#include <string.h>

int objects_add_all(const struct job *job, const struct job_file *files, size_t n_files,
		    const struct job_secret *secret, struct json *list, struct err *err)
{
	struct objects *objects CLEANUP(objects_cleanup) = objects_new(job);
	struct json *cluster = objects_cluster_new(objects, NULL);

	json_append(list, objects_owner_new(job));
	json_append(list, objects_service_new(job, NULL));
	if (job->has_network_policy)
		json_append(list, objects_network_policy_new(job, NULL));
	if (cluster)
		json_append(list, cluster);
	if (objects_add_files(job, files, n_files, NULL, list, err))
		return err->code;
	if (secret->name)
		json_append(list, objects_secret_new(job, secret, NULL));
	for (size_t i = 0; i < job->n_roles; i++)
		for (int index = 0; index < job->roles[i].replicas; index++)
			json_append(list, objects_pod_new(objects, &job->roles[i], index, 0, NULL));
	return 0;
}

/* Creates ConfigMaps of files. */

static bool is_text(const struct job_file *file)
{
	return !file->len ||
	       (!memchr(file->bytes, '\0', file->len) && text_is_utf8(file->bytes, file->len));
}

static void add_file(struct json *config_map, const struct job_file *file, size_t index)
{
	char *key CLEANUP(mem_free_text) = job_files_key(file, index);
	bool is_plain = is_text(file);
	struct text value CLEANUP(text_done) = {0};

	if (is_plain)
		text_add_bytes(&value, file->bytes, file->len);
	else
		base64_add(&value, file->bytes, file->len);
	json_set_string(json_object_at(config_map, is_plain ? "data" : "binaryData"), key,
			text_of(&value));
}

int objects_add_files(const struct job *job, const struct job_file *files, size_t n_files,
		      const char *owner_uid, struct json *list, struct err *err)
{
	size_t *parts CLEANUP(mem_free_any) = NULL;
	struct json *config_map = NULL;

	int rc = job_files_spread(files, n_files, &parts, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < n_files; i++) {
		if (i == 0 || parts[i] != parts[i - 1]) {
			char *name CLEANUP(mem_free_text) =
				job_files_name(job->name, files, n_files, parts, parts[i]);

			config_map = objects_part_new(job, name, owner_uid);
			json_append(list, config_map);
		}
		add_file(config_map, &files[i], i);
	}
	return 0;
}
