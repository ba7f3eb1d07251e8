#include "spec/job_files.h"

#include "base/hash.h"
#include "base/names.h"
#include "spec/pod_template.h"

#include <inttypes.h>

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

char *job_files_key(const struct job_file *file, size_t index)
{
	const char *path = file->path;
	size_t len = strlen(path);
	bool is_key = len > 0 && len <= KEY_MAX &&
		      strspn(path, NAME_LETTERS NAME_DIGITS "-_.") == len &&
		      !text_starts_with(path, "..") && !text_equals(path, ".") &&
		      !text_starts_with(path, NUMBERED_KEY);

	return is_key ? mem_copy_text(path) : mem_format(NUMBERED_KEY "%zu", index);
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

/* One directory of all parts, by a projected volume. */
static struct json *files_volume_new(const char *job_name, const struct job_file *files,
				     size_t n_files, const size_t *parts)
{
	struct json *volume = json_new_texts("name", FILES_VOLUME, NULL);
	struct json *sources = json_array_at(json_object_at(volume, "projected"), "sources");
	struct json *items = NULL;

	for (size_t i = 0; i < n_files; i++) {
		if (i == 0 || parts[i] != parts[i - 1]) {
			char *name CLEANUP(mem_free_text) =
				job_files_name(job_name, files, n_files, parts, parts[i]);
			struct json *source = json_new_object();
			struct json *config_map = json_object_at(source, "configMap");

			json_set_string(config_map, "name", name);
			items = json_array_at(config_map, "items");
			json_append(sources, source);
		}
		char *key CLEANUP(mem_free_text) = job_files_key(&files[i], i);
		struct json *item = json_new_texts("key", key, "path", files[i].path, NULL);

		if (files[i].is_executable)
			json_set_integer(item, "mode", EXECUTABLE_MODE);
		json_append(items, item);
	}
	return volume;
}

static void add_work_folder(struct json *spec, struct json *container)
{
	(void) json_object_at(pod_template_add(spec, "volumes", WORK_VOLUME), "emptyDir");
	pod_template_add_mount(container, WORK_VOLUME, JOB_WORK_FOLDER, false);
	json_set_string(container, "workingDir", JOB_WORK_FOLDER);
}

int job_document_add_files(struct json *document, const struct job_file *files, size_t n_files,
			   struct err *err)
{
	const char *name = json_get_string(json_get(document, "metadata"), "name", "");
	const struct json *roles = json_get_path(document, "spec", "tfReplicaSpecs", NULL);
	size_t *parts CLEANUP(mem_free_any) = NULL;
	const char *title = NULL;
	struct json *role;

	int rc = job_files_spread(files, n_files, &parts, err);

	if (rc)
		return rc;
	struct json *volume CLEANUP(json_cleanup) = files_volume_new(name, files, n_files, parts);

	while (json_next(roles, &title, &role)) {
		struct json *template = json_get(role, "template");
		struct json *spec = json_get(template, "spec");
		struct json *container = pod_template_container(template);

		json_append(json_array_at(spec, "volumes"), json_new_copy(volume));
		pod_template_add_mount(container, FILES_VOLUME, JOB_FILES_FOLDER, true);
		if (!json_get(container, "workingDir"))
			add_work_folder(spec, container);
	}
	return 0;
}

bool job_files_are_mounted(const struct json *template)
{
	return pod_template_find(json_get_path(template, "spec", "volumes", NULL), "name",
				 FILES_VOLUME) != NULL;
}

void job_document_add_unpacking(struct json *document)
{
	static const char *const words[] = {
		"sh",
		"-c",
		"cat " JOB_FILES_FOLDER "/" PACKED_NAME "* | tar -x -z -o -f - -C " JOB_WORK_FOLDER,
	};
	const struct json *roles = json_get_path(document, "spec", "tfReplicaSpecs", NULL);
	const char *title = NULL;
	struct json *role;

	while (json_next(roles, &title, &role)) {
		struct json *template = json_get(role, "template");
		struct json *spec = json_get(template, "spec");
		struct json *container = pod_template_container(template);

		if (!pod_template_find(json_get(spec, "volumes"), "name", WORK_VOLUME))
			add_work_folder(spec, container);
		struct json *unpacking =
			pod_template_add(spec, "initContainers", UNPACKING_CONTAINER);

		json_copy_member(unpacking, container, "image");
		json_copy_member(unpacking, container, "imagePullPolicy");
		for (size_t i = 0; i < ARRAY_LEN(words); i++)
			json_append(json_array_at(unpacking, "command"), json_new_string(words[i]));
		pod_template_add_mount(unpacking, FILES_VOLUME, JOB_FILES_FOLDER, true);
		pod_template_add_mount(unpacking, WORK_VOLUME, JOB_WORK_FOLDER, false);
	}
}

/* Variables that a document names without their values. */

char *job_secret_name(const char *job_name)
{
	return mem_format("%s.env", job_name);
}

bool job_secret_is_named(const struct job *job)
{
	char *wanted CLEANUP(mem_free_text) = job_secret_name(job->name);
	bool is_named = false;

	for (size_t i = 0; i < job->n_roles; i++) {
		const struct json *container = pod_template_container(job->roles[i].template);
		const struct json *env = json_get(container, "env");

		for (size_t at = 0; at < json_count(env); at++)
			is_named |= text_equals(
				json_get_string(json_get_path(json_at(env, at), "valueFrom",
							      "secretKeyRef", NULL),
						"name", NULL),
				wanted);
	}
	return is_named;
}

void job_secret_init(struct job_secret *secret, const char *name, const struct env_entry *env,
		     size_t n_env)
{
	secret->name = mem_copy_text(name);
	secret->values = json_new_object();
	for (size_t i = 0; i < n_env; i++)
		json_set_string(secret->values, env[i].name, env[i].value);
}

void job_secret_done(struct job_secret *secret)
{
	free(secret->name);
	json_free(secret->values);
}

void job_document_add_secret(struct json *document, const struct job_secret *secret)
{
	const struct json *roles = json_get_path(document, "spec", "tfReplicaSpecs", NULL);
	const char *title = NULL;
	struct json *role, *value;

	if (!secret->name)
		return;
	while (json_next(roles, &title, &role)) {
		struct json *container = pod_template_container(json_get(role, "template"));

		for (const char *name = NULL; json_next(secret->values, &name, &value);)
			pod_template_add_secret(container, name, secret->name, name);
	}
}
