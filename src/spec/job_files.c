/* Distributes files over ConfigMaps, and mounts those in a job's Pods. */
#include "spec/job_files.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"
#include "spec/pod_template.h"

#include <inttypes.h>
#include <string.h>

#define FILES_VOLUME "muster-files"
#define WORK_VOLUME "muster-work"
#define PACKED_NAME "muster-folder.tgz."
#define UNPACKING_CONTAINER "muster-folder"
#define EXECUTABLE_MODE 0555
#define KEY_MAX 253 /* IsConfigMapKey of apimachinery */
#define NUMBERED_KEY "file-"

char *job_files_name(const char *job_name, const struct job_file *files, size_t n_files,
		     const size_t *parts, size_t part)
{
	uint64_t digest = HASH_BEGIN;

	for (size_t i = 0; i < n_files; i++) {
		if (parts[i] != part)
			continue;
		digest = hash_add_text(digest, files[i].path);
		digest = hash_add(digest, (const char *) &files[i].len, sizeof(files[i].len));
		digest = hash_add(digest, files[i].bytes, files[i].len);
	}
	return mem_format("%s.files-%zu-%016" PRIx64, job_name, part, digest);
}

static bool is_key(const char *path)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-_.";
	size_t len = strlen(path);

	return len > 0 && len <= KEY_MAX && strspn(path, letters) == len &&
	       !text_starts_with(path, "..") && !text_equals(path, ".") &&
	       !text_starts_with(path, NUMBERED_KEY);
}

char *job_files_key(const struct job_file *file, size_t index)
{
	return is_key(file->path) ? mem_copy_text(file->path)
				  : mem_format(NUMBERED_KEY "%zu", index);
}

int job_files_spread(const struct job_file *files, size_t n_files, size_t **ret_parts,
		     struct err *err)
{
	size_t *parts CLEANUP(mem_free_any) = mem_new_array(n_files + 1, sizeof(*parts));
	size_t part = 0, filled = 0;

	for (size_t i = 0; i < n_files; i++) {
		if (files[i].len > JOB_FILES_PART_SIZE) {
			err_set(err, ERR_LIMIT,
				"%s has %zu bytes, but a ConfigMap holds at most %d: use --sync "
				"DIR, which compresses files, or put it into the image or on a "
				"volume",
				files[i].path, files[i].len, JOB_FILES_PART_SIZE);
			return ERR_LIMIT;
		}
		if (filled + files[i].len > JOB_FILES_PART_SIZE) {
			part++;
			filled = 0;
		}
		filled += files[i].len;
		parts[i] = part;
	}
	*ret_parts = TAKE(parts);
	return 0;
}

/* Parts are joined in the order of their names. */
char *job_files_packed_name(size_t part)
{
	return mem_format(PACKED_NAME "%04zu", part);
}

static struct json *item_new(const struct job_file *file, size_t index)
{
	struct json *item = json_new_object();
	char *key CLEANUP(mem_free_text) = job_files_key(file, index);

	json_set_string(item, "key", key);
	json_set_string(item, "path", file->path);
	if (file->is_executable)
		json_set_integer(item, "mode", EXECUTABLE_MODE);
	return item;
}

/* One directory of all parts, by a projected volume. */
static struct json *files_volume_new(const char *job_name, const struct job_file *files,
				     size_t n_files, const size_t *parts)
{
	struct json *volume = json_new_object();
	struct json *sources = json_new_array();
	struct json *items = NULL;

	for (size_t i = 0; i < n_files; i++) {
		if (i == 0 || parts[i] != parts[i - 1]) {
			char *name CLEANUP(mem_free_text) =
				job_files_name(job_name, files, n_files, parts, parts[i]);
			struct json *source = json_new_object();
			struct json *config_map = json_object_at(source, "configMap");

			items = json_new_array();
			json_set_string(config_map, "name", name);
			json_set(config_map, "items", items);
			json_append(sources, source);
		}
		json_append(items, item_new(&files[i], i));
	}
	json_set_string(volume, "name", FILES_VOLUME);
	json_set(json_object_at(volume, "projected"), "sources", sources);
	return volume;
}

static struct json *work_volume_new(void)
{
	struct json *volume = json_new_object();

	json_set_string(volume, "name", WORK_VOLUME);
	(void) json_object_at(volume, "emptyDir");
	return volume;
}

static struct json *mount_new(const char *volume, const char *path, bool is_read_only)
{
	struct json *mount = json_new_object();

	json_set_string(mount, "name", volume);
	json_set_string(mount, "mountPath", path);
	if (is_read_only)
		json_set_bool(mount, "readOnly", true);
	return mount;
}

static void add_work_folder(struct json *spec, struct json *container)
{
	json_append(json_array_at(spec, "volumes"), work_volume_new());
	json_append(json_array_at(container, "volumeMounts"),
		    mount_new(WORK_VOLUME, JOB_WORK_FOLDER, false));
	json_set_string(container, "workingDir", JOB_WORK_FOLDER);
}

static void add_to_role(const struct json *role, const struct json *files_volume)
{
	struct json *template = json_get(role, "template");
	struct json *spec = json_get(template, "spec");
	struct json *container = pod_template_container(template);

	json_append(json_array_at(spec, "volumes"), json_new_copy(files_volume));
	json_append(json_array_at(container, "volumeMounts"),
		    mount_new(FILES_VOLUME, JOB_FILES_FOLDER, true));
	if (!json_get(container, "workingDir"))
		add_work_folder(spec, container);
}

int job_document_add_files(struct json *document, const struct job_file *files, size_t n_files,
			   struct err *err)
{
	const struct json *name = json_get_path(document, "metadata", "name", NULL);
	const struct json *roles = json_get_path(document, "spec", "tfReplicaSpecs", NULL);
	size_t *parts CLEANUP(mem_free_any) = NULL;
	const char *title = NULL;
	struct json *role;

	int rc = job_files_spread(files, n_files, &parts, err);

	if (rc)
		return rc;
	struct json *volume CLEANUP(json_cleanup) =
		files_volume_new(json_as_string(name, ""), files, n_files, parts);

	while (json_next(roles, &title, &role))
		add_to_role(role, volume);
	return 0;
}

bool job_files_are_mounted(const struct json *template)
{
	return pod_template_find(json_get_path(template, "spec", "volumes", NULL), "name",
				 FILES_VOLUME) != NULL;
}

static struct json *unpacking_container_new(const struct json *container)
{
	static const char *const words[] = {
		"sh",
		"-c",
		"cat " JOB_FILES_FOLDER "/" PACKED_NAME "* | tar -x -z -o -f - -C " JOB_WORK_FOLDER,
	};
	static const char *const same[] = {"image", "imagePullPolicy"};
	struct json *unpacking = json_new_object();

	json_set_string(unpacking, "name", UNPACKING_CONTAINER);
	for (size_t i = 0; i < ARRAY_LEN(same); i++)
		if (json_get(container, same[i]))
			json_set(unpacking, same[i], json_ref(json_get(container, same[i])));
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		json_append(json_array_at(unpacking, "command"), json_new_string(words[i]));
	json_append(json_array_at(unpacking, "volumeMounts"),
		    mount_new(FILES_VOLUME, JOB_FILES_FOLDER, true));
	json_append(json_array_at(unpacking, "volumeMounts"),
		    mount_new(WORK_VOLUME, JOB_WORK_FOLDER, false));
	return unpacking;
}

void job_document_add_unpacking(struct json *document)
{
	const struct json *roles = json_get_path(document, "spec", "tfReplicaSpecs", NULL);
	const char *title = NULL;
	struct json *role;

	while (json_next(roles, &title, &role)) {
		struct json *template = json_get(role, "template");
		struct json *spec = json_get(template, "spec");
		struct json *container = pod_template_container(template);

		if (!pod_template_find(json_get(spec, "volumes"), "name", WORK_VOLUME))
			add_work_folder(spec, container);
		json_append(json_array_at(spec, "initContainers"),
			    unpacking_container_new(container));
	}
}
