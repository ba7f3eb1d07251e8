#include "operator/deployment.h"

#include "base/mem.h"
#include "base/text.h"
#include "base/yaml.h"

#define DEFINITIONS_GROUP "apiextensions.k8s.io"

static const char *manifest_kind_of(const struct json *object)
{
	return json_as_string(json_get(object, "kind"), "");
}

/* A Role cannot grant permissions on cluster-wide kinds. */
static struct json *rules_of_namespace(const struct json *rules)
{
	struct json *kept = json_new_array();

	for (size_t i = 0; i < json_count(rules); i++) {
		const struct json *groups = json_get(json_at(rules, i), "apiGroups");

		if (!text_equals(json_as_string(json_at(groups, 0), ""), DEFINITIONS_GROUP))
			json_append(kept, json_new_copy(json_at(rules, i)));
	}
	return kept;
}

/* Converts a ClusterRole or its binding. */
static struct json *in_namespace(const struct json *object, const char *name_space)
{
	struct json *made = json_new_copy(object);
	bool is_role = text_equals(manifest_kind_of(object), "ClusterRole");

	json_set_string(made, "kind", is_role ? "Role" : "RoleBinding");
	json_set_string(json_object_at(made, "metadata"), "namespace", name_space);
	if (is_role)
		json_set(made, "rules", rules_of_namespace(json_get(object, "rules")));
	else
		json_set_string(json_object_at(made, "roleRef"), "kind", "Role");
	return made;
}

static void choose_namespaces(struct json *container, const char *const *namespaces)
{
	for (size_t i = 0; namespaces[i]; i++) {
		char *flag CLEANUP(mem_free_text) = mem_format("--namespace=%s", namespaces[i]);

		json_append(json_array_at(container, "args"), json_new_string(flag));
	}
}

static struct json *chosen_deployment(const struct json *object,
				      const struct deployment_choice *choice)
{
	struct json *made = json_new_copy(object);
	struct json *container =
		json_at(json_get_path(made, "spec", "template", "spec", "containers", NULL), 0);

	json_set_string(container, "image", choice->image);
	choose_namespaces(container, choice->namespaces);
	return made;
}

static bool is_of_all_namespaces(const char *kind)
{
	return text_equals(kind, "ClusterRole") || text_equals(kind, "ClusterRoleBinding");
}

static void add_object(struct json *list, const struct json *object,
		       const struct deployment_choice *choice)
{
	if (text_equals(manifest_kind_of(object), "Deployment")) {
		json_append(list, chosen_deployment(object, choice));
	} else if (is_of_all_namespaces(manifest_kind_of(object)) && choice->namespaces[0]) {
		for (size_t i = 0; choice->namespaces[i]; i++)
			json_append(list, in_namespace(object, choice->namespaces[i]));
	} else {
		json_append(list, json_new_copy(object));
	}
}

int deployment_objects(const struct deployment_choice *choice, struct json **ret_list,
		       struct err *err)
{
	struct document **documents = NULL;
	size_t count = 0;
	int rc = documents_read(deployment_yaml, deployment_yaml_size, &documents, &count, err);

	if (rc < 0)
		return rc;
	struct json *list = json_new_array();

	for (size_t i = 0; i < count; i++)
		add_object(list, document_root(documents[i]), choice);
	documents_free(documents, count);
	*ret_list = list;
	return 0;
}
