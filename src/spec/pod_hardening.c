/* Security settings of Pods. */
#include "spec/pod_hardening.h"

#include "base/own.h"
#include "spec/pod_template.h"

#include <stdbool.h>

#define USER 1000 /* the usual first human user, unused in most images */
#define TEMPORARY_FOLDER "/tmp"
#define TEMPORARY_VOLUME "muster-tmp"

/* The user. */

static bool says_who_runs(const struct json *security)
{
	static const char *const members[] = {"runAsUser", "runAsGroup", "runAsNonRoot"};

	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		if (json_get(security, members[i]))
			return true;
	return json_as_bool(json_get(security, "privileged"), false);
}

static void set_bool_if_absent(struct json *object, const char *key, bool value)
{
	if (!json_get(object, key))
		json_set_bool(object, key, value);
}

static void set_home(struct json *container)
{
	struct json *env = json_array_at(container, "env");
	struct json *entry;

	if (pod_template_find(env, "name", "HOME"))
		return;
	entry = json_new_object();
	json_set_string(entry, "name", "HOME");
	json_set_string(entry, "value", TEMPORARY_FOLDER);
	json_append(env, entry);
}

/* A minimal image has no /tmp, or one that belongs to root. */
static void add_temporary_folder(struct json *spec, struct json *container)
{
	struct json *volume, *mount;

	if (pod_template_find(json_get(container, "volumeMounts"), "mountPath", TEMPORARY_FOLDER))
		return;
	volume = json_new_object();
	json_set_string(volume, "name", TEMPORARY_VOLUME);
	(void) json_object_at(volume, "emptyDir");
	json_append(json_array_at(spec, "volumes"), volume);
	mount = json_new_object();
	json_set_string(mount, "name", TEMPORARY_VOLUME);
	json_set_string(mount, "mountPath", TEMPORARY_FOLDER);
	json_append(json_array_at(container, "volumeMounts"), mount);
}

static void choose_user(struct json *spec, struct json *container)
{
	struct json *security = json_get(spec, "securityContext");

	json_set_bool(security, "runAsNonRoot", true);
	json_set_integer(security, "runAsUser", USER);
	json_set_integer(security, "runAsGroup", USER);
	if (!json_get(security, "fsGroup"))
		json_set_integer(security, "fsGroup", USER);
	set_home(container);
	add_temporary_folder(spec, container);
}

/* All containers. */

typedef void (*security_fn)(struct json *security);

/* Privileged containers are rejected with allowPrivilegeEscalation: false. */
static void visit_securities(struct json *spec, security_fn set)
{
	static const char *const lists[] = {"initContainers", "containers"};

	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		const struct json *list = json_get(spec, lists[i]);

		for (size_t j = 0; j < json_count(list); j++) {
			struct json *security = json_object_at(json_at(list, j), "securityContext");

			if (!json_as_bool(json_get(security, "privileged"), false))
				set(security);
		}
	}
}

static void forbid_escalation(struct json *security)
{
	set_bool_if_absent(security, "allowPrivilegeEscalation", false);
}

static void drop_capabilities(struct json *security)
{
	struct json *drop;

	if (json_get(security, "capabilities"))
		return;
	drop = json_new_array();
	json_append(drop, json_new_string("ALL"));
	json_set(json_object_at(security, "capabilities"), "drop", drop);
}

void pod_confine(struct json *spec)
{
	struct json *security = json_object_at(spec, "securityContext");

	if (!json_get(security, "seccompProfile"))
		json_set_string(json_object_at(security, "seccompProfile"), "type",
				"RuntimeDefault");
	visit_securities(spec, forbid_escalation);
	if (!json_get(spec, "serviceAccountName"))
		set_bool_if_absent(spec, "automountServiceAccountToken", false);
}

void pod_harden(struct json *spec, struct json *container)
{
	struct json *security = json_object_at(spec, "securityContext");

	if (!says_who_runs(security) && !says_who_runs(json_get(container, "securityContext")))
		choose_user(spec, container);
	pod_confine(spec);
	visit_securities(spec, drop_capabilities);
}
