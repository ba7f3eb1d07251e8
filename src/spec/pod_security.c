#include "spec/pod_security.h"

#include "base/names.h"
#include "spec/job_files.h"
#include "spec/pod_template.h"

#define USER 1000 /* the usual first human user, unused in most images */
#define TEMPORARY_FOLDER "/tmp"
#define TEMPORARY_VOLUME "muster-tmp"
#define APPARMOR_ANNOTATION "container.apparmor.security.beta.kubernetes.io/"
#define NAME_TOLD "%.63s" /* of a name that any user may have written */

/* Settings: the user. */

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

static void choose_user(struct json *spec, struct json *container)
{
	struct json *security = json_get(spec, "securityContext");

	json_set_bool(security, "runAsNonRoot", true);
	json_set_integer(security, "runAsUser", USER);
	json_set_integer(security, "runAsGroup", USER);
	if (!json_get(security, "fsGroup"))
		json_set_integer(security, "fsGroup", USER);
	if (!pod_template_find(json_get(container, "env"), "name", "HOME"))
		json_set_string(pod_template_add(container, "env", "HOME"), "value",
				TEMPORARY_FOLDER);
	/* A minimal image has no /tmp, or one that belongs to root. */
	if (pod_template_find(json_get(container, "volumeMounts"), "mountPath", TEMPORARY_FOLDER))
		return;
	(void) json_object_at(pod_template_add(spec, "volumes", TEMPORARY_VOLUME), "emptyDir");
	pod_template_add_mount(container, TEMPORARY_VOLUME, TEMPORARY_FOLDER, false);
}

/* Settings: all containers. */

/* Privileged containers are rejected with allowPrivilegeEscalation: false. */
static void confine_container(struct json *container, bool drops_capabilities)
{
	struct json *security = json_object_at(container, "securityContext");

	if (json_as_bool(json_get(security, "privileged"), false))
		return;
	set_bool_if_absent(security, "allowPrivilegeEscalation", false);
	if (drops_capabilities && !json_get(security, "capabilities"))
		json_append(json_array_at(json_object_at(security, "capabilities"), "drop"),
			    json_new_string("ALL"));
}

void pod_confine(struct json *spec, bool drops_capabilities)
{
	static const char *const lists[] = {"initContainers", "containers"};
	struct json *of_pod = json_object_at(spec, "securityContext");

	if (!json_get(of_pod, "seccompProfile"))
		json_set_string(json_object_at(of_pod, "seccompProfile"), "type", "RuntimeDefault");
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		for (size_t at = 0; at < json_count(json_get(spec, lists[i])); at++)
			confine_container(json_at(json_get(spec, lists[i]), at),
					  drops_capabilities);
	if (!json_get(spec, "serviceAccountName"))
		set_bool_if_absent(spec, "automountServiceAccountToken", false);
}

void pod_harden(struct json *spec, struct json *container)
{
	struct json *security = json_object_at(spec, "securityContext");

	if (!says_who_runs(security) && !says_who_runs(json_get(container, "securityContext")))
		choose_user(spec, container);
	pod_confine(spec, true);
}

/* Privileges, by the standards of Kubernetes 1.34. */

/* Where privileges are collected, and which Secret is the job's own. */
struct reach {
	struct text *lines;
	char *own_secret;
};

static void add_reached_name(struct reach *reach, const char *what, const char *name)
{
	if (*name)
		text_add_line_once(reach->lines, "%s " NAME_TOLD, what, name);
}

static void add_flag(struct reach *reach, const struct json *object, const char *flag)
{
	if (json_as_bool(json_get(object, flag), false))
		text_add_line_once(reach->lines, "%s", flag);
}

/* A member that is neither harmless nor checked counts: Kubernetes keeps adding fields. */
static void add_unknown_privileges(struct reach *reach, const struct json *object,
				   const char *const *known, size_t n_known)
{
	const char *key = NULL;
	struct json *value;

	while (json_next(object, &key, &value))
		if (name_find_word(known, n_known, key) < 0 && !json_is(value, JSON_NULL))
			text_add_line_once(reach->lines, NAME_TOLD, key);
}

static void add_reached_secret(struct reach *reach, const char *name)
{
	if (!text_equals(name, reach->own_secret))
		add_reached_name(reach, "Secret", name);
}

/* Security contexts, of Pods and of containers. */

static void add_profile(struct reach *reach, const struct json *context, const char *key)
{
	if (text_equals(json_get_string(json_get(context, key), "type", ""), "Unconfined"))
		text_add_line_once(reach->lines, "%s Unconfined", key);
}

static void add_capabilities(struct reach *reach, const struct json *capabilities)
{
	static const char *const harmless[] = {
		"AUDIT_WRITE", "CHOWN",  "DAC_OVERRIDE",     "FOWNER",  "FSETID",
		"KILL",        "MKNOD",  "NET_BIND_SERVICE", "SETFCAP", "SETGID",
		"SETPCAP",     "SETUID", "SYS_CHROOT"};
	const struct json *added = json_get(capabilities, "add");

	for (size_t i = 0; i < json_count(added); i++) {
		const char *name = json_as_string(json_at(added, i), "");

		if (name_find_word(harmless, ARRAY_LEN(harmless), name) < 0)
			add_reached_name(reach, "capability", name);
	}
}

static void add_context(struct reach *reach, const struct json *context)
{
	static const char *const known[] = {
		/* checked */
		"privileged", "windowsOptions", "seccompProfile", "appArmorProfile",
		"seLinuxOptions", "capabilities", "procMount", "sysctls",
		/* harmless */
		"allowPrivilegeEscalation", "fsGroup", "fsGroupChangePolicy",
		"readOnlyRootFilesystem", "runAsGroup", "runAsNonRoot", "runAsUser",
		"seLinuxChangePolicy", "supplementalGroups", "supplementalGroupsPolicy"};
	static const char *const types[] = {"", "container_t", "container_init_t",
					    "container_kvm_t", "container_engine_t"};
	const struct json *selinux = json_get(context, "seLinuxOptions");
	const struct json *sysctls = json_get(context, "sysctls");
	const char *mount = json_get_string(context, "procMount", "");

	add_unknown_privileges(reach, context, known, ARRAY_LEN(known));
	add_flag(reach, context, "privileged");
	add_flag(reach, json_get(context, "windowsOptions"), "hostProcess");
	add_profile(reach, context, "seccompProfile");
	add_profile(reach, context, "appArmorProfile");
	if (name_find_word(types, ARRAY_LEN(types), json_get_string(selinux, "type", "")) < 0 ||
	    *json_get_string(selinux, "user", "") || *json_get_string(selinux, "role", ""))
		text_add_line_once(reach->lines, "seLinuxOptions");
	add_capabilities(reach, json_get(context, "capabilities"));
	if (!text_equals(mount, "Default"))
		add_reached_name(reach, "procMount", mount);
	for (size_t i = 0; i < json_count(sysctls); i++)
		add_reached_name(reach, "sysctl", json_get_string(json_at(sysctls, i), "name", ""));
}

/* Containers. */

static void add_variables(struct reach *reach, const struct json *container)
{
	const struct json *env = json_get(container, "env");
	const struct json *from = json_get(container, "envFrom");

	for (size_t i = 0; i < json_count(env); i++)
		add_reached_secret(reach,
				   json_get_string(json_get_path(json_at(env, i), "valueFrom",
								 "secretKeyRef", NULL),
						   "name", ""));
	for (size_t i = 0; i < json_count(from); i++)
		add_reached_secret(reach, json_get_string(json_get(json_at(from, i), "secretRef"),
							  "name", ""));
}

/* kubelet, which sends the probes, reaches hosts that Pods do not. */
static void add_host(struct reach *reach, const struct json *probe)
{
	add_reached_name(reach, "probe of host",
			 json_get_string(json_get(probe, "httpGet"), "host", ""));
	add_reached_name(reach, "probe of host",
			 json_get_string(json_get(probe, "tcpSocket"), "host", ""));
}

static void add_container(struct reach *reach, const struct json *container)
{
	static const char *const known[] = {
		/* checked */
		"securityContext", "ports", "env", "envFrom", "livenessProbe", "readinessProbe",
		"startupProbe", "lifecycle",
		/* harmless */
		"args", "command", "image", "imagePullPolicy", "name", "resizePolicy", "resources",
		"restartPolicy", "restartPolicyRules", "stdin", "stdinOnce",
		"terminationMessagePath", "terminationMessagePolicy", "tty", "volumeMounts",
		"workingDir", "targetContainerName"};
	const struct json *ports = json_get(container, "ports");

	add_context(reach, json_get(container, "securityContext"));
	for (size_t i = 0; i < json_count(ports); i++)
		if (json_as_integer(json_get(json_at(ports, i), "hostPort"), 0) != 0)
			text_add_line_once(reach->lines, "hostPort");
	add_variables(reach, container);
	add_host(reach, json_get(container, "livenessProbe"));
	add_host(reach, json_get(container, "readinessProbe"));
	add_host(reach, json_get(container, "startupProbe"));
	add_host(reach, json_get_path(container, "lifecycle", "postStart", NULL));
	add_host(reach, json_get_path(container, "lifecycle", "preStop", NULL));
	add_unknown_privileges(reach, container, known, ARRAY_LEN(known));
}

/* Volumes. */

static void add_sources(struct reach *reach, const struct json *sources)
{
	static const char *const known[] = {"secret", "configMap", "downwardAPI"};

	for (size_t i = 0; i < json_count(sources); i++) {
		add_reached_secret(reach, json_get_string(json_get(json_at(sources, i), "secret"),
							  "name", ""));
		add_unknown_privileges(reach, json_at(sources, i), known, ARRAY_LEN(known));
	}
}

/* Any other kind may be another user's disk, with a Secret for it, or a copy of one. */
static void add_volume(struct reach *reach, const struct json *volume)
{
	static const char *const harmless[] = {"name", "configMap", "downwardAPI", "emptyDir"};
	const char *kind = NULL;
	struct json *source;

	while (json_next(volume, &kind, &source)) {
		if (name_find_word(harmless, ARRAY_LEN(harmless), kind) >= 0 ||
		    json_is(source, JSON_NULL))
			continue;
		if (text_equals(kind, "projected"))
			add_sources(reach, json_get(source, "sources"));
		else if (text_equals(kind, "secret"))
			add_reached_secret(reach, json_get_string(source, "secretName", ""));
		else if (text_equals(kind, "persistentVolumeClaim"))
			add_reached_name(reach, "PersistentVolumeClaim",
					 json_get_string(source, "claimName", ""));
		else if (text_equals(kind, "hostPath"))
			add_reached_name(reach, "hostPath", json_get_string(source, "path", ""));
		else
			add_reached_name(reach, "volume", kind);
	}
}

/* Pods. */

static void add_service_account(struct reach *reach, const char *name)
{
	if (!text_equals(name, "default"))
		add_reached_name(reach, "service account", name);
}

static void add_template(struct reach *reach, const struct json *template)
{
	static const char *const lists[] = {"containers", "initContainers", "ephemeralContainers"};
	static const char *const known[] = {
		/* checked */
		"hostNetwork", "hostPID", "hostIPC", "automountServiceAccountToken",
		"serviceAccountName", "serviceAccount", "nodeName", "securityContext", "containers",
		"initContainers", "ephemeralContainers", "volumes",
		/* harmless */
		"activeDeadlineSeconds", "affinity", "dnsConfig", "dnsPolicy", "enableServiceLinks",
		"hostAliases", "hostUsers", "hostname", "imagePullSecrets", "nodeSelector", "os",
		"preemptionPolicy", "readinessGates", "resources", "restartPolicy", "schedulerName",
		"schedulingGates", "setHostnameAsFQDN", "shareProcessNamespace", "subdomain",
		"terminationGracePeriodSeconds", "tolerations", "topologySpreadConstraints"};
	const struct json *spec = json_get(template, "spec");
	const struct json *volumes = json_get(spec, "volumes");
	const struct json *annotations = json_get_path(template, "metadata", "annotations", NULL);
	const char *key = NULL;
	struct json *value;

	add_flag(reach, spec, "hostNetwork");
	add_flag(reach, spec, "hostPID");
	add_flag(reach, spec, "hostIPC");
	add_flag(reach, spec, "automountServiceAccountToken");
	add_service_account(reach, json_get_string(spec, "serviceAccountName", ""));
	add_service_account(reach, json_get_string(spec, "serviceAccount", ""));
	add_reached_name(reach, "node", json_get_string(spec, "nodeName", ""));
	add_context(reach, json_get(spec, "securityContext"));
	while (json_next(annotations, &key, &value))
		if (text_starts_with(key, APPARMOR_ANNOTATION) &&
		    text_equals(json_as_string(value, ""), "unconfined"))
			text_add_line_once(reach->lines, "appArmorProfile Unconfined");
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		for (size_t at = 0; at < json_count(json_get(spec, lists[i])); at++)
			add_container(reach, json_at(json_get(spec, lists[i]), at));
	for (size_t i = 0; i < json_count(volumes); i++)
		add_volume(reach, json_at(volumes, i));
	add_unknown_privileges(reach, spec, known, ARRAY_LEN(known));
}

void pod_privileges_describe(const struct job *job, struct text *lines)
{
	char *own_secret CLEANUP(mem_free_text) = job_secret_name(job->name);
	struct reach reach = {.lines = lines, .own_secret = own_secret};

	for (size_t i = 0; i < job->n_roles; i++)
		add_template(&reach, job->roles[i].template);
}
