#include "spec/pod_fields.h"

#include "base/names.h"

/* A name that docker, Compose or a shell uses for a field. */
struct synonym {
	const char *name;
	const char *meant;
};

/* An object: its fields, and the objects in them. */
struct shape {
	const char *const *words;
	size_t n_words;
	const struct synonym *synonyms;
	size_t n_synonyms;
	const struct part *parts;
	size_t n_parts;
};

/* A field whose value is such an object, or a list of them. */
struct part {
	const char *name;
	const struct shape *shape;
	bool is_list;
};

#define WORDS(list) .words = (list), .n_words = ARRAY_LEN(list)
#define SYNONYMS(list) .synonyms = (list), .n_synonyms = ARRAY_LEN(list)
#define PARTS(list) .parts = (list), .n_parts = ARRAY_LEN(list)

static const char *const key_source_words[] = {"fieldRef", "resourceFieldRef", "configMapKeyRef",
					       "secretKeyRef", "fileKeyRef"};
static const struct shape key_source = {WORDS(key_source_words)};

static const char *const variable_words[] = {"name", "value", "valueFrom"};
static const struct part variable_parts[] = {{"valueFrom", &key_source, false}};
static const struct shape variable = {WORDS(variable_words), PARTS(variable_parts)};

static const char *const variables_source_words[] = {"prefix", "configMapRef", "secretRef"};
static const struct shape variables_source = {WORDS(variables_source_words)};

static const char *const port_words[] = {"name", "hostPort", "containerPort", "protocol", "hostIP"};
static const struct synonym port_synonyms[] = {{"port", "containerPort"}};
static const struct shape port = {WORDS(port_words), SYNONYMS(port_synonyms)};

static const char *const mount_words[] = {"name",       "readOnly",         "recursiveReadOnly",
					  "mountPath",  "mountPropagation", "subPath",
					  "subPathExpr"};
static const struct synonym mount_synonyms[] = {{"path", "mountPath"}};
static const struct shape mount = {WORDS(mount_words), SYNONYMS(mount_synonyms)};

static const char *const resources_words[] = {"limits", "requests", "claims"};
static const struct shape resources = {WORDS(resources_words)};

static const char *const container_words[] = {
	/* its program */
	"name", "image", "imagePullPolicy", "command", "args", "workingDir", "env", "envFrom",
	"ports", "stdin", "stdinOnce", "tty",
	/* its resources and rights */
	"resources", "resizePolicy", "volumeMounts", "volumeDevices", "securityContext",
	/* its life */
	"restartPolicy", "restartPolicyRules", "livenessProbe", "readinessProbe", "startupProbe",
	"lifecycle", "terminationMessagePath", "terminationMessagePolicy"};
static const struct synonym container_synonyms[] = {
	{"environment", "env"},    {"workdir", "workingDir"}, {"cwd", "workingDir"},
	{"entrypoint", "command"}, {"cmd", "command"},        {"volumes", "volumeMounts"},
	{"limits", "resources"},   {"requests", "resources"}, {"gpus", "resources"},
};
static const struct part container_parts[] = {
	{"env", &variable, true},         {"envFrom", &variables_source, true},
	{"ports", &port, true},           {"volumeMounts", &mount, true},
	{"resources", &resources, false},
};
static const struct shape container = {WORDS(container_words), SYNONYMS(container_synonyms),
				       PARTS(container_parts)};

static const char *const volume_words[] = {
	/* of Kubernetes */
	"name", "emptyDir", "configMap", "secret", "projected", "downwardAPI",
	"persistentVolumeClaim", "ephemeral", "csi", "image", "hostPath", "nfs", "iscsi", "fc",
	/* of clouds and other storage */
	"gcePersistentDisk", "awsElasticBlockStore", "gitRepo", "glusterfs", "rbd", "flexVolume",
	"cinder", "cephfs", "flocker", "azureFile", "quobyte", "vsphereVolume", "azureDisk",
	"photonPersistentDisk", "portworxVolume", "scaleIO", "storageos"};
static const struct shape volume = {WORDS(volume_words)};

static const char *const toleration_words[] = {"key", "operator", "value", "effect",
					       "tolerationSeconds"};
static const struct shape toleration = {WORDS(toleration_words)};

static const char *const pod_words[] = {
	/* its containers */
	"containers", "initContainers", "ephemeralContainers", "volumes", "restartPolicy",
	"resources", "resourceClaims", "overhead", "os", "terminationGracePeriodSeconds",
	"activeDeadlineSeconds",
	/* its node */
	"nodeName", "nodeSelector", "affinity", "tolerations", "topologySpreadConstraints",
	"schedulerName", "schedulingGates", "schedulingGroup", "priority", "priorityClassName",
	"preemptionPolicy", "runtimeClassName", "readinessGates", "workloadRef",
	/* its network */
	"hostname", "hostnameOverride", "subdomain", "setHostnameAsFQDN", "hostAliases",
	"dnsPolicy", "dnsConfig", "hostNetwork", "enableServiceLinks",
	/* its rights */
	"serviceAccountName", "serviceAccount", "automountServiceAccountToken", "imagePullSecrets",
	"securityContext", "hostPID", "hostIPC", "hostUsers", "shareProcessNamespace"};
static const struct part pod_parts[] = {
	{"containers", &container, true}, {"initContainers", &container, true},
	{"volumes", &volume, true},       {"tolerations", &toleration, true},
	{"resources", &resources, false},
};
static const struct shape pod = {WORDS(pod_words), PARTS(pod_parts)};

static const char *const metadata_words[] = {
	"name",       "generateName",      "namespace",     "selfLink",
	"uid",        "resourceVersion",   "generation",    "creationTimestamp",
	"labels",     "deletionTimestamp", "annotations",   "deletionGracePeriodSeconds",
	"finalizers", "ownerReferences",   "managedFields", "clusterName"};
static const struct shape metadata = {WORDS(metadata_words)};

static const char *const template_words[] = {"spec", "metadata"};
static const struct part template_parts[] = {{"spec", &pod, false}, {"metadata", &metadata, false}};
static const struct shape template_shape = {WORDS(template_words), PARTS(template_parts)};

static const char *meant(const struct shape *shape, const char *name)
{
	for (size_t i = 0; i < shape->n_synonyms; i++)
		if (text_equals_ignoring_case(shape->synonyms[i].name, name))
			return shape->synonyms[i].meant;
	return name_nearest(shape->words, shape->n_words, name);
}

/* Values of another type are rejected where they are read. */
static void check_object(struct field_reader *reader, const struct field *object,
			 const struct shape *shape)
{
	const char *key = NULL;
	struct json *value;

	while (json_next(object->value, &key, &value)) {
		bool is_known = name_find_word(shape->words, shape->n_words, key) >= 0;
		const char *word = is_known ? NULL : meant(shape, key);

		if (word)
			field_refuse(reader, FIELD_MEMBER(object, key),
				     "unknown field; did you mean \"%s\"?", word);
	}
	for (size_t i = 0; i < shape->n_parts; i++) {
		const struct part *part = &shape->parts[i];
		const struct field *member = FIELD_MEMBER(object, part->name);

		if (!part->is_list)
			check_object(reader, member, part->shape);
		for (size_t at = 0; part->is_list && at < json_count(member->value); at++)
			check_object(reader, FIELD_ELEMENT(member, at), part->shape);
	}
}

void pod_fields_check(struct field_reader *reader, const struct field *template)
{
	if (reader_is_strict(reader))
		check_object(reader, template, &template_shape);
}

void pod_fields_check_file(const struct document *document, struct faults *faults)
{
	struct field_reader reader = {
		.document = document, .strictness = JOB_STRICT, .faults = faults};
	struct field root = {.value = document_root(document)};
	const struct field *of_controller = FIELD_MEMBER(FIELD_MEMBER(&root, "spec"), "template");
	const struct field *alone = FIELD_MEMBER(&root, "template");

	pod_fields_check(&reader, field_is_set(of_controller) ? of_controller
				  : field_is_set(alone)       ? alone
							      : &root);
}

bool pod_field_is_known(const char *name)
{
	return name_find_word(pod.words, pod.n_words, name) >= 0;
}

bool pod_container_field_is_known(const char *name)
{
	return name_find_word(container.words, container.n_words, name) >= 0;
}

/* Places. */

#define LETTERS NAME_LETTERS NAME_DIGITS "_-.[]"

PRINTF_LIKE(3, 4)
static void add_at(const struct pod_file *file, struct text *places, const char *path_format, ...)
{
	struct place place;
	va_list values;

	va_start(values, path_format);
	char *path CLEANUP(mem_free_text) = mem_format_list(path_format, values);

	va_end(values);
	if (document_find(file->document, path, &place))
		text_addf(places, "%s%s:%d:%d", places->len > 0 ? ", " : "", file->name, place.line,
			  place.column);
}

static void add_in_file(const struct pod_file *file, const char *path, struct text *places)
{
	const struct json *root = document_root(file->document);
	const struct json *spec = json_get(root, "spec");
	const struct json *map = json_get(spec, "tfReplicaSpecs");
	const struct json *list = json_get(spec, "replicaSpecs");
	const char *role = NULL;
	struct json *value;

	/* In each role, since all may have the same error. */
	while (json_next(map, &role, &value))
		add_at(file, places, "spec.tfReplicaSpecs[\"%s\"].template.%s", role, path);
	for (size_t i = 0; i < json_count(list); i++)
		add_at(file, places, "spec.replicaSpecs[%zu].template.%s", i, path);
	if (map || list)
		return;
	if (json_get(spec, "template"))
		add_at(file, places, "spec.template.%s", path);
	else
		add_at(file, places, "%s%s", json_get(root, "template") ? "template." : "", path);
}

/* The length of the path of a Pod's field that starts here; 0: none does. */
static size_t path_here(const char *sentence, const char *at)
{
	size_t len = strspn(at, LETTERS);

	if (at > sentence && strchr(LETTERS, at[-1]))
		return 0;
	if (!text_starts_with(at, "spec.") && !text_starts_with(at, "metadata."))
		return 0;
	while (len > 0 && at[len - 1] == '.')
		len--;
	return memchr(at, '.', len) ? len : 0;
}

void pod_place_add(const struct pod_file *files, size_t n_files, const char *sentence,
		   struct text *text)
{
	const char *at = sentence;

	while (*at) {
		size_t len = path_here(sentence, at);

		if (len == 0) {
			text_add_char(text, *at++);
			continue;
		}
		/* The whole path, with the quote of a quoted one. */
		char *path CLEANUP(mem_free_text) = mem_format("%.*s", (int) len, at);
		struct text places CLEANUP(text_done) = {0};

		for (size_t i = 0; i < n_files; i++)
			add_in_file(&files[i], path, &places);
		len += at[len] == '"';
		text_addf(text, "%.*s", (int) len, at);
		if (places.len > 0)
			text_addf(text, " (%s)", text_of(&places));
		at += len;
	}
}
