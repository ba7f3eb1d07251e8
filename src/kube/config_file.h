/* One kubeconfig file: clusters, users and contexts by name, with the positions of faults.
 * kube/config.h decides which of them are used.
 *
 * Parsed like client-go (tools/clientcmd/api/v1/types.go and conversion.go): unknown fields are
 * ignored, null counts as absent. A field is checked only when it is read, so unused fields may be
 * wrong. One rule is stricter: a key that occurs twice in one map is rejected. Faults never show a
 * value, because most values are secrets. */
#pragma once

#include "kube/config.h"
#include "spec/job_field.h"

#include <stddef.h>

#define KUBE_CONFIG_SIZE_LIMIT YAML_SIZE_LIMIT /* bytes of one file */

struct kube_config_file {
	char *path; /* as the user gave it; faults begin with it */
	char *folder; /* absolute; base of the file's relative paths */
	struct document **documents; /* only the first counts, as for kubectl */
	size_t n_documents;
	struct field root; /* its value is NULL if the file is empty */
	struct field_reader reader;
	struct faults faults;
};

/* The named lists in a file. */
enum kube_config_list {
	KUBE_CONFIG_CLUSTERS,
	KUBE_CONFIG_USERS,
	KUBE_CONFIG_CONTEXTS,
};

/* One entry of a list, found by its name. Borrows from its file. Do not move it: its fields point
 * to their parents. */
struct kube_config_entry {
	struct kube_config_file *file; /* NULL: none of that name */
	struct arena *arena; /* of the texts that are read from it */
	struct field list, item;
	struct field value; /* the cluster, user or context itself */
};

/* Parses the bytes of a file. Errors become faults of the file. */
struct kube_config_file *kube_config_file_new(const char *path, const char *folder,
					      const char *bytes, size_t len) MUST_USE;
void kube_config_file_free(struct kube_config_file *file); /* NULL is fine */

/* Finds the first entry with that name in the list; its texts will be in the arena. */
void kube_config_file_find(struct kube_config_file *file, enum kube_config_list list,
			   const char *name, struct arena *arena,
			   struct kube_config_entry *ret_entry);

/* Reads a text of the entry's value; NULL if it is absent or empty. */
const char *kube_config_text(const struct kube_config_entry *entry, const char *key);
/* Adds a fault at that field of the entry's value (NULL: at the whole value). */
void kube_config_refuse(const struct kube_config_entry *entry, const char *key, const char *format,
			...) PRINTF_LIKE(3, 4);

/* The absolute directory of a file: the base of its relative paths. Caller frees. */
char *kube_config_folder(const char *file) MUST_USE;

/* Turn an entry into a cluster or a user, validated as client-go does before its requests
 * (tools/clientcmd/validation.go). Errors become faults of the entry's file. */
void kube_config_resolve_cluster(const struct kube_config_entry *entry,
				 struct kube_cluster *ret_cluster);
void kube_config_resolve_user(const struct kube_config_entry *entry, struct kube_user *ret_user);
/* True for https, the only scheme for which client-go sends a credential. */
bool kube_server_is_secure(const char *server);
