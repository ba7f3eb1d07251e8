/* Pods as a real cluster showed them (Kubernetes 1.36 with containerd), in tests/golden/pods/: what
 * muster does not look at was left out. */
#pragma once

#include "unit.h"

#include "base/json.h"
#include "base/mem.h"
#include "io/file.h"

#define OWNER "5d0c1f3e-owner"

/* With what all of them have: the labels of a worker of `digits`, and its owner. */
static inline struct json *golden_pod(const char *name)
{
	char *path CLEANUP(mem_free_text) = mem_format(GOLDEN_FOLDER "/pods/%s.json", name);
	char *bytes CLEANUP(mem_free_text) = NULL;
	struct json *pod = NULL;
	struct err err = {0};
	size_t len;

	if (file_read_whole(path, JSON_SIZE_LIMIT, &bytes, &len, &err) < 0 ||
	    json_read(bytes, len, &pod, &err) < 0)
		fail_msg("%s", err.text);
	struct json *metadata = json_get(pod, "metadata");
	struct json *labels = json_get(metadata, "labels");
	struct json *owner = json_new_texts("apiVersion", "v1", "kind", "ConfigMap", "name",
					    "digits.job", "uid", OWNER, NULL);

	json_set_string(metadata, "namespace", "default");
	json_set_string(labels, "app.kubernetes.io/managed-by", "muster");
	json_set_string(labels, "muster/attempt", "0");
	json_set_string(labels, "muster/job", "digits");
	json_set_string(labels, "muster/role", "worker");
	json_set_bool(owner, "controller", true);
	json_append(json_array_at(metadata, "ownerReferences"), owner);
	return pod;
}
