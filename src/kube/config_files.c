/* Which files there are: --kubeconfig, KUBECONFIG, ~/.kube/config (client-go's loader.go). */
#include "kube/config_files.h"

#include "io/file.h"
#include "kube/config_path.h"

#include <stdlib.h>
#include <string.h>

#define FILE_OF_HOME "/.kube/config"

static bool was_tried(const struct kube_config_files *files, const char *path)
{
	for (size_t i = 0; i < files->count; i++)
		if (text_equals(files->list[i]->path, path))
			return true;
	return false;
}

static int read_file(struct kube_config_files *files, const char *path, struct err *err)
{
	char *bytes CLEANUP(mem_free_text) = NULL;
	char *folder CLEANUP(mem_free_text) = NULL;
	size_t len = 0;

	text_addf(&files->tried, "%s%s", files->tried.len > 0 ? ", " : "", path);
	if (was_tried(files, path))
		return 0;
	if (files->count == KUBE_CONFIG_FILES_LIMIT)
		return err_set(err, ERR_INVALID, "more than %d kubeconfig files",
			       KUBE_CONFIG_FILES_LIMIT);
	int rc = file_read_whole(path, KUBE_CONFIG_SIZE_LIMIT, &bytes, &len, err);

	if (rc < 0)
		return rc;
	folder = kube_config_folder(path);
	files->list[files->count++] = kube_config_file_new(path, folder, bytes, len);
	explicit_bzero(bytes, len);
	return 0;
}

/* A kubeconfig that cannot be read is a wrong file, whatever the reason. */
static int refuse_unreadable(struct err *err)
{
	if (err)
		err->code = ERR_INVALID;
	err_prefix(err, "kubeconfig");
	return ERR_INVALID;
}

static int read_if_there(struct kube_config_files *files, const char *path, struct err *err)
{
	int rc = read_file(files, path, err);

	if (rc == ERR_NOT_FOUND)
		return 0;
	return rc < 0 ? refuse_unreadable(err) : 0;
}

static int read_list(struct kube_config_files *files, const char *list, struct err *err)
{
	int rc = 0;

	while (*list && rc == 0) {
		size_t len = strcspn(list, ":");
		char *path CLEANUP(mem_free_text) = mem_copy_bytes(list, len);

		if (len > 0)
			rc = read_if_there(files, path, err);
		list += len;
		list += *list == ':';
	}
	return rc;
}

int kube_config_files_read(const struct kube_config_search *search, struct kube_config_files *files,
			   struct err *err)
{
	if (search->file && *search->file)
		return read_file(files, search->file, err) < 0 ? refuse_unreadable(err) : 0;
	if (search->list && *search->list)
		return read_list(files, search->list, err);
	if (!search->home || !*search->home)
		return 0;
	char *path CLEANUP(mem_free_text) = mem_format("%s" FILE_OF_HOME, search->home);

	return read_if_there(files, path, err);
}

void kube_config_files_done(struct kube_config_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		kube_config_file_free(files->list[i]);
	text_done(&files->tried);
}

int kube_config_files_judge(const struct kube_config_files *files, struct text *faults,
			    struct err *err)
{
	struct text all CLEANUP(text_done) = {0};
	size_t count = 0;

	for (size_t i = 0; i < files->count; i++) {
		const struct kube_config_file *file = files->list[i];

		faults_describe(&file->faults, file->path, &all);
		count += file->faults.count + file->faults.n_more;
	}
	if (count == 0)
		return 0;
	if (faults)
		text_add_bytes(faults, all.bytes, all.len);
	int len = (int) strcspn(text_of(&all), "\n");

	if (count == 1)
		return err_set(err, ERR_INVALID, "%.*s", len, text_of(&all));
	return err_set(err, ERR_INVALID, "%.*s (and %zu more fault%s)", len, text_of(&all),
		       count - 1, count == 2 ? "" : "s");
}

const char *kube_config_files_text(const struct kube_config_files *files, const char *key)
{
	const char *text = NULL;

	for (size_t i = 0; i < files->count && !text; i++)
		text = kube_config_file_text(files->list[i], key);
	return text;
}

struct kube_config_entry kube_config_files_find(const struct kube_config_files *files,
						enum kube_config_list list, const char *name)
{
	struct kube_config_entry entry = {0};

	for (size_t i = 0; i < files->count && !entry.file; i++)
		entry = kube_config_file_find(files->list[i], list, name);
	return entry;
}
