#include "kube/tfjob_definition.h"

#include "base/text.h"

#define OUR_FIELD "replicaGroups" /* in every status that muster writes */

static int refuse_foreign_definition(const char *why, struct err *err)
{
	return err_set(err, ERR_UNSUPPORTED,
		       "the definition of TFJobs on this cluster, CRD " TFJOB_DEFINITION
		       ", belongs to another operator: %s. To replace both: 'muster operator "
		       "upgrade-from-training-operator'; to replace only the definition: 'muster "
		       "operator install'; jobs are kept",
		       why);
}

static int refuse_dropped(struct err *err)
{
	return refuse_foreign_definition("it drops what muster writes into a status", err);
}

static const struct json *find_v1_version(const struct json *definition)
{
	const struct json *versions = json_get_path(definition, "spec", "versions", NULL);

	for (size_t i = 0; i < json_count(versions); i++)
		if (text_equals(json_as_string(json_get(json_at(versions, i), "name"), NULL), "v1"))
			return json_at(versions, i);
	return NULL;
}

int tfjob_definition_check(const struct json *definition, struct err *err)
{
	const struct json *version = find_v1_version(definition);
	const struct json *status =
		json_get_path(version, "schema", "openAPIV3Schema", "properties", "status", NULL);
	const struct json *keeps = json_get(status, "x-kubernetes-preserve-unknown-fields");
	bool is_kept =
		json_as_bool(keeps, false) || json_get_path(status, "properties", OUR_FIELD, NULL);

	if (!json_get_path(version, "subresources", "status", NULL))
		return refuse_foreign_definition(
			"a status cannot be written, which takes the subresource 'status'", err);
	return is_kept ? 0 : refuse_dropped(err);
}

int tfjob_definition_check_answer(const struct json *tfjob, struct err *err)
{
	return json_get_path(tfjob, "status", OUR_FIELD, NULL) ? 0 : refuse_dropped(err);
}
