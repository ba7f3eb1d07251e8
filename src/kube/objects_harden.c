/* Security settings of Pods. */
#include "kube/objects_harden.h"

#include "base/own.h"
#include "core/pod_template.h"

#include <stdbool.h>

#define USER 1000 /* the first one of a person, and in most images nobody */
#define TEMPORARY_FOLDER "/tmp"
#define TEMPORARY_VOLUME "muster-tmp"

static bool says_who_runs(const struct json *security)
{
	static const char *const members[] = {"runAsUser", "runAsGroup", "runAsNonRoot"};

	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		if (json_get(security, members[i]))
			return true;
	return json_as_bool(json_get(security, "privileged"), false);
}

static void set_integer_if_absent(struct json *object, const char *key, int64_t value)
{
	if (!json_get(object, key))
		json_set_integer(object, key, value);
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

/* In a minimal image there is none, or one that belongs to root. */
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
	set_integer_if_absent(security, "fsGroup", USER);
	set_home(container);
	add_temporary_folder(spec, container);
}

static void set_seccomp_profile(struct json *security)
{
	if (!json_get(security, "seccompProfile"))
		json_set_string(json_object_at(security, "seccompProfile"), "type",
				"RuntimeDefault");
}

/* Privileged containers are refused with allowPrivilegeEscalation: false. */
static void harden_container(struct json *container)
{
	struct json *security = json_object_at(container, "securityContext");
	struct json *drop;

	if (json_as_bool(json_get(security, "privileged"), false))
		return;
	set_bool_if_absent(security, "allowPrivilegeEscalation", false);
	if (json_get(security, "capabilities"))
		return;
	drop = json_new_array();
	json_append(drop, json_new_string("ALL"));
	json_set(json_object_at(security, "capabilities"), "drop", drop);
}

static void harden_containers(const struct json *containers)
{
	for (size_t i = 0; i < json_count(containers); i++)
		harden_container(json_at(containers, i));
}

void objects_harden(struct json *spec, struct json *container)
{
	struct json *security = json_object_at(spec, "securityContext");

	if (!says_who_runs(security) && !says_who_runs(json_get(container, "securityContext")))
		choose_user(spec, container);
	set_seccomp_profile(security);
	harden_containers(json_get(spec, "initContainers"));
	harden_containers(json_get(spec, "containers"));
	if (!json_get(spec, "serviceAccountName"))
		set_bool_if_absent(spec, "automountServiceAccountToken", false);
}
