/* One kubeconfig file: clusters, users and contexts by name, faults at their places. Which of them
 * are used is kube/config.h's business.
 *
 * As client-go reads it (tools/clientcmd/api/v1/types.go and conversion.go): unknown fields are
 * passed over, null is nothing. A field is checked when it is read, so that what nobody uses may be
 * wrong. One thing is stricter: a key that stands twice in one map is refused. Faults never show a
 * value, because most of them are secrets. */
#pragma once

#include "spec/job_field.h"

#include <stddef.h>

#define KUBE_CONFIG_SIZE_LIMIT YAML_SIZE_LIMIT /* bytes of one file */

struct kube_config_file {
	char *path; /* as it was named; faults begin with it */
	char *folder; /* absolute; what relative paths in the file begin at */
	struct document **documents; /* only the first counts, as for kubectl */
	size_t n_documents;
	struct field root; /* its value is NULL where nothing stands in the file */
	struct field_reader reader;
	struct faults faults;
};

/* The lists of named things in a file. */
enum kube_config_list {
	KUBE_CONFIG_CLUSTERS,
	KUBE_CONFIG_USERS,
	KUBE_CONFIG_CONTEXTS,
};

/* One thing of a list, found by its name. Borrows from its file, and stays where it was found:
 * fields point to their parents. */
struct kube_config_entry {
	struct kube_config_file *file; /* NULL: none of that name */
	struct field list, item;
	struct field value; /* the cluster, user or context itself */
};

/* Reads what a file holds. Whatever is wrong becomes faults of the file. */
struct kube_config_file *kube_config_file_new(const char *path, const char *folder,
					      const char *bytes, size_t len) MUST_USE;
void kube_config_file_free(struct kube_config_file *file); /* NULL is fine */

/* The first of the list that has the name. */
void kube_config_file_find(struct kube_config_file *file, enum kube_config_list list,
			   const char *name, struct kube_config_entry *ret_entry);

/* Of a field of the entry's value. A text lives in the arena, and is NULL where it is absent or
 * empty; a list of texts ends with NULL. */
const char *kube_config_text(const struct kube_config_entry *entry, struct arena *arena,
			     const char *key);
bool kube_config_flag(const struct kube_config_entry *entry, const char *key);
const char **kube_config_texts(const struct kube_config_entry *entry, struct arena *arena,
			       const struct field *list, size_t *ret_count);
/* Adds a fault at that field of the entry's value (NULL: at the value as a whole). */
void kube_config_refuse(const struct kube_config_entry *entry, const char *key, const char *format,
			...) PRINTF_LIKE(3, 4);

/* The path itself where it is absolute, else that below the folder; "." and ".." are resolved by
 * name alone, as Go's filepath.Join does and so kubectl. In the arena. */
const char *kube_config_path(struct arena *arena, const char *folder, const char *path);
/* The folder of a file, absolute: what its relative paths begin at. Caller frees. */
char *kube_config_folder(const char *file) MUST_USE;
