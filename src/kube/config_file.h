/* One kubeconfig file, read and checked: clusters, users and contexts by name, faults at their
 * places. Which of them are used is kube/config.h's business.
 *
 * As client-go reads it (tools/clientcmd/api/v1/types.go and conversion.go): unknown fields are
 * passed over, null is nothing, a field of a wrong type or a name that stands twice makes the whole
 * file unusable. One thing is stricter: a key that stands twice in one map is refused. Faults never
 * show a value, because most of them are secrets. */
#pragma once

#include "base/json.h"
#include "base/yaml.h"
#include "core/job.h"

#include <stddef.h>

#define KUBE_CONFIG_SIZE_LIMIT YAML_SIZE_LIMIT /* bytes of one file */

struct kube_config_file {
	char *path; /* as it was named; faults begin with it */
	char *folder; /* absolute; what relative paths in the file begin at */
	struct document **documents; /* only the first counts, as for kubectl */
	size_t n_documents;
	const struct json *root; /* NULL: nothing stands in the file */
	struct faults faults;
};

/* The lists of named things in a file. */
enum kube_config_list {
	KUBE_CONFIG_CLUSTERS,
	KUBE_CONFIG_USERS,
	KUBE_CONFIG_CONTEXTS,
};

/* One thing of a list, found by its name. Borrows from its file. */
struct kube_config_entry {
	struct kube_config_file *file; /* NULL: none of that name */
	enum kube_config_list list;
	size_t index;
	const struct json
		*value; /* the cluster, user or context itself; NULL: nothing is said of it */
};

/* Reads what a file holds. Whatever is wrong becomes faults of the file. */
struct kube_config_file *kube_config_file_new(const char *path, const char *folder,
					      const char *bytes, size_t len) MUST_USE;
void kube_config_file_free(struct kube_config_file *file); /* NULL is fine */

/* A text of the file's own ("current-context"); NULL where it is absent or empty. */
const char *kube_config_file_text(const struct kube_config_file *file, const char *key);
struct kube_config_entry kube_config_file_find(struct kube_config_file *file,
					       enum kube_config_list list, const char *name);

/* Adds a fault at the field of that path below the entry's value ("exec.command"; NULL: at the
 * entry as a whole). */
void kube_config_entry_refuse(const struct kube_config_entry *entry, const char *field,
			      const char *format, ...) PRINTF_LIKE(3, 4);
