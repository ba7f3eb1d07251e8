/* Any bytes as a kubeconfig: faults are told, or every cluster and user that is in it can be
 * looked at. */
#include "fuzz.h"

#include "kube/config_file.h"

#include <stdlib.h>

#define FOLDER "/home/ada/.kube"
#define NAMES_LIMIT 20 /* entries of a list that are looked at */

static void check_users(struct kube_config_file *file, const char *name, struct arena *arena)
{
	struct kube_config_entry entry;
	struct kube_user user = {.name = name};

	kube_config_file_find(file, KUBE_CONFIG_USERS, name, arena, &entry);
	if (!entry.file)
		return;
	kube_config_resolve_user(&entry, &user);
	if (file->faults.count == 0 && (user.certificate || user.certificate_file) && !user.key &&
	    !user.key_file)
		abort();
}

static void check_clusters(struct kube_config_file *file, const char *name, struct arena *arena)
{
	struct kube_config_entry entry;
	struct kube_cluster cluster = {.name = name};

	kube_config_file_find(file, KUBE_CONFIG_CLUSTERS, name, arena, &entry);
	if (!entry.file)
		return;
	kube_config_resolve_cluster(&entry, &cluster);
	if (!cluster.server)
		abort();
	if (cluster.authority_file && *cluster.authority_file != '/')
		abort();
}

static void check_list(struct kube_config_file *file, const char *key, struct arena *arena)
{
	const struct json *list = json_get(file->root.value, key);

	for (size_t i = 0; i < json_count(list) && i < NAMES_LIMIT; i++) {
		const char *name = json_as_string(json_get(json_at(list, i), "name"), "");

		check_clusters(file, name, arena);
		check_users(file, name, arena);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct arena *arena = arena_new();
	struct text text CLEANUP(text_done) = {0};
	struct kube_config_file *file =
		kube_config_file_new(FOLDER "/config", FOLDER, (const char *) bytes, len);

	if (file->faults.count == 0) {
		check_list(file, "clusters", arena);
		check_list(file, "users", arena);
	}
	faults_describe(&file->faults, file->path, &text);
	kube_config_file_free(file);
	arena_free(arena);
	return 0;
}
