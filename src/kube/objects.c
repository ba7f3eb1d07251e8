/* The objects of a job except its Pods; and what is read from their names and labels. */
#include "kube/objects.h"

#include "base/base64.h"
#include "base/names.h"
#include "kube/fetch_sidecar.h"
#include "spec/limits.h"
#include "spec/pod_template.h"

#include <limits.h>

#define DOCUMENT_MAX (256 * 1024) /* of the 1 MiB of a ConfigMap; the status uses the rest */
#define TF_CONFIG_FRAME 300 /* most bytes of a TF_CONFIG other than addresses */

char *objects_owner_name(const char *job_name)
{
	return mem_format("%s.job", job_name);
}

char *objects_network_policy_name(const char *job_name)
{
	return mem_format("%s.network", job_name);
}

char *objects_selector(const char *job_name)
{
	return mem_format("%s=%s,%s=%s", OBJECTS_LABEL_MANAGED_BY, OBJECTS_MANAGED_BY,
			  OBJECTS_LABEL_JOB, job_name);
}

bool objects_read_pod_name(const struct job *job, const char *name, const char **ret_role,
			   size_t *ret_role_len, int *ret_index)
{
	size_t len = strlen(job->name);
	bool is_of_job = strncmp(name, job->name, len) == 0 && name[len] == '-';
	const char *role = name + len + 1;
	const char *dash = is_of_job ? strrchr(role, '-') : NULL;
	int64_t index;

	/* An index has one spelling: not "01", not "+1". */
	if (!dash || dash == role || strspn(dash + 1, "0123456789") != strlen(dash + 1) ||
	    (dash[1] == '0' && dash[2]) || text_read_int(dash + 1, 0, INT_MAX, &index, NULL) < 0)
		return false;
	*ret_role = role;
	*ret_role_len = (size_t) (dash - role);
	*ret_index = (int) index;
	return true;
}

static const char *label_text_of(const struct json *object, const char *key)
{
	return json_get_string(object, key, NULL);
}

bool pod_labels_are_of_tfjob(const struct json *metadata)
{
	return text_equals(label_text_of(json_get(metadata, "labels"), KUBEFLOW_LABEL_OPERATOR),
			   KUBEFLOW_OPERATOR);
}

struct pod_labels pod_labels_of(const struct json *metadata)
{
	const struct json *labels = json_get(metadata, "labels");
	const struct json *annotations = json_get(metadata, "annotations");

	if (!pod_labels_are_of_tfjob(metadata))
		return (struct pod_labels){
			.job = label_text_of(labels, OBJECTS_LABEL_JOB),
			.role = label_text_of(labels, OBJECTS_LABEL_ROLE),
			.index = label_text_of(labels, OBJECTS_LABEL_INDEX),
			.attempt = label_text_of(labels, OBJECTS_LABEL_ATTEMPT),
		};
	return (struct pod_labels){
		.job = label_text_of(labels, KUBEFLOW_LABEL_JOB),
		.role = label_text_of(labels, KUBEFLOW_LABEL_ROLE),
		.index = label_text_of(labels, KUBEFLOW_LABEL_INDEX),
		.attempt = json_get_string(annotations, POD_ANNOTATION_ATTEMPT, "0"),
	};
}

const char *pod_labels_job(const struct json *metadata)
{
	return pod_labels_of(metadata).job;
}

/* No controller runs for the owner. So blockOwnerDeletion, which needs permissions on its
 * finalizers, is omitted. */
struct json *objects_owner_references_new(const char *job_name, const char *owner_uid)
{
	struct json *list = json_new_array();
	char *name CLEANUP(mem_free_text) = objects_owner_name(job_name);
	struct json *reference = json_new_texts("apiVersion", "v1", "kind", "ConfigMap", "name",
						name, "uid", owner_uid, NULL);

	json_set_bool(reference, "controller", true);
	json_append(list, reference);
	return list;
}

const struct json *objects_owner_of(const struct json *metadata)
{
	const struct json *owners = json_get(metadata, "ownerReferences");

	for (size_t i = 0; i < json_count(owners); i++)
		if (json_as_bool(json_get(json_at(owners, i), "controller"), false))
			return json_at(owners, i);
	return json_at(owners, 0);
}

/* The labels that all Pods of the job have, and no other Pods. */
static struct json *labels_new(const struct job *job)
{
	return json_new_texts(OBJECTS_LABEL_MANAGED_BY, OBJECTS_MANAGED_BY, OBJECTS_LABEL_JOB,
			      job->name, NULL);
}

struct json *objects_metadata_new(const struct job *job, const char *name, const char *owner_uid)
{
	struct json *metadata = json_new_texts("name", name, "namespace", job->name_space, NULL);

	json_set(metadata, "labels", labels_new(job));
	if (owner_uid)
		json_set(metadata, "ownerReferences",
			 objects_owner_references_new(job->name, owner_uid));
	return metadata;
}

static struct json *make_core_object(const char *kind, struct json *take_metadata)
{
	struct json *object = json_new_texts("apiVersion", "v1", "kind", kind, NULL);

	json_set(object, "metadata", take_metadata);
	return object;
}

struct json *objects_owner_new(const struct job *job)
{
	char *name CLEANUP(mem_free_text) = objects_owner_name(job->name);
	struct json *owner = make_core_object("ConfigMap", objects_metadata_new(job, name, NULL));
	struct text document CLEANUP(text_done) = {0};

	json_add_compact(&document, job->document);
	json_set_string(json_object_at(owner, "data"), OBJECTS_DOCUMENT_KEY, text_of(&document));
	return owner;
}

struct json *objects_part_new(const struct job *job, const char *name, const char *owner_uid)
{
	struct json *config_map =
		make_core_object("ConfigMap", objects_metadata_new(job, name, owner_uid));

	json_set_string(json_get_path(config_map, "metadata", "labels", NULL), OBJECTS_LABEL_PART,
			OBJECTS_PART_FILES);
	json_set_bool(config_map, "immutable", true);
	return config_map;
}

struct json *objects_secret_new(const struct job *job, const struct job_secret *secret,
				const char *owner_uid)
{
	struct json *object =
		make_core_object("Secret", objects_metadata_new(job, secret->name, owner_uid));

	json_set_string(object, "type", "Opaque");
	json_set(object, "stringData", json_ref(secret->values));
	return object;
}

struct json *objects_port_new(const struct role *role)
{
	struct json *port = json_new_texts("name", OBJECTS_PORT_NAME, NULL);

	json_set_integer(port, "containerPort", role->port);
	return port;
}

void objects_add_port(const struct role *role, struct json *container)
{
	struct json *ports = json_array_at(container, "ports");

	if (!pod_template_find(ports, "name", OBJECTS_PORT_NAME))
		json_append(ports, objects_port_new(role));
}

bool objects_has_port(const struct json *ports, int64_t number)
{
	for (size_t i = 0; i < json_count(ports); i++)
		if (json_as_integer(json_get(json_at(ports, i), "port"), 0) == number)
			return true;
	return false;
}

/* Each port that a role listens on, once. A headless Service forwards nothing, but some name
 * servers publish an address only with ports. */
static struct json *ports_new(const struct job *job)
{
	struct json *ports = json_new_array();

	for (size_t i = 0; i < job->n_roles; i++) {
		int number = job->roles[i].port;
		char *other_name CLEANUP(mem_free_text) = mem_format("port-%d", number);
		struct json *port;

		if (objects_has_port(ports, number))
			continue;
		port = json_new_texts("name", json_count(ports) ? other_name : OBJECTS_PORT_NAME,
				      NULL);
		json_set_integer(port, "port", number);
		json_append(ports, port);
	}
	return ports;
}

struct json *objects_headless_service_new(const struct job *job, struct json *take_metadata,
					  struct json *take_selector)
{
	struct json *service = make_core_object("Service", take_metadata);
	struct json *spec = json_object_at(service, "spec");

	json_set_string(spec, "clusterIP", "None");
	json_set_bool(spec, "publishNotReadyAddresses", true);
	json_set(spec, "selector", take_selector);
	json_set(spec, "ports", ports_new(job));
	return service;
}

struct json *objects_service_new(const struct job *job, const char *owner_uid)
{
	return objects_headless_service_new(job, objects_metadata_new(job, job->name, owner_uid),
					    labels_new(job));
}

struct json *objects_network_policy_new(const struct job *job, const char *owner_uid)
{
	char *name CLEANUP(mem_free_text) = objects_network_policy_name(job->name);
	struct json *policy =
		make_core_object("NetworkPolicy", objects_metadata_new(job, name, owner_uid));
	struct json *spec = json_object_at(policy, "spec");
	struct json *rule = json_new_object(), *peer = json_new_object();

	json_set_string(policy, "apiVersion", "networking.k8s.io/v1");
	json_set(json_object_at(spec, "podSelector"), "matchLabels", labels_new(job));
	json_append(json_array_at(spec, "policyTypes"), json_new_string("Ingress"));
	json_append(json_array_at(spec, "ingress"), rule);
	json_append(json_array_at(rule, "from"), peer);
	json_set(json_object_at(peer, "podSelector"), "matchLabels", labels_new(job));
	return policy;
}

static void add_file(struct json *config_map, const struct job_file *file, size_t index)
{
	char *key CLEANUP(mem_free_text) = job_files_key(file, index);
	bool is_plain = !file->len || (!memchr(file->bytes, '\0', file->len) &&
				       text_is_utf8(file->bytes, file->len));
	struct text value CLEANUP(text_done) = {0};

	if (is_plain)
		text_add_bytes(&value, file->bytes, file->len);
	else
		base64_add(&value, file->bytes, file->len);
	json_set_string(json_object_at(config_map, is_plain ? "data" : "binaryData"), key,
			text_of(&value));
}

int objects_add_files(const struct job *job, const struct job_file *files, size_t n_files,
		      const char *owner_uid, struct json *list, struct err *err)
{
	size_t *parts CLEANUP(mem_free_any) = NULL;
	struct json *config_map = NULL;

	int rc = job_files_spread(files, n_files, &parts, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < n_files; i++) {
		if (i == 0 || parts[i] != parts[i - 1]) {
			char *name CLEANUP(mem_free_text) =
				job_files_name(job->name, files, n_files, parts, parts[i]);

			config_map = objects_part_new(job, name, owner_uid);
			json_append(list, config_map);
		}
		add_file(config_map, &files[i], i);
	}
	return 0;
}

/* A Pod's host name is a DNS label, and so is each part of its address. */
bool objects_check_names(const struct job *job, struct faults *faults)
{
	size_t n_before = faults->count;

	for (size_t i = 0; i < job->n_roles; i++) {
		const struct role *role = &job->roles[i];
		int last = role->replicas > 0 ? role->replicas - 1 : 0;
		char *name CLEANUP(mem_free_text) = job_pod_name(job, role, last);
		int n_other = (int) (strlen(name) - strlen(job->name));

		if (strlen(name) > DNS_LABEL_MAX)
			fault_add(faults, (struct place){0}, "metadata.name",
				  "Too long: '%s' is too long a name for a job on Kubernetes: its "
				  "Pod '%s' has at most %d characters, so that %d are left for the "
				  "job",
				  job->name, name, DNS_LABEL_MAX, DNS_LABEL_MAX - n_other);
		else if (!name_is_dns1035_label(name))
			fault_add(faults, (struct place){0}, "metadata.name",
				  "Invalid value: \"%s\": no name for a Pod, which has lower-case "
				  "letters, digits and '-'",
				  name);
	}
	return faults->count == n_before;
}

static void check_images(const struct role *role, const char *list, struct faults *faults)
{
	const struct json *containers = json_get_path(role->template, "spec", list, NULL);

	for (size_t i = 0; i < json_count(containers); i++) {
		const struct json *container = json_at(containers, i);
		char *path CLEANUP(mem_free_text) =
			mem_format("spec.tfReplicaSpecs[%s].template.spec.%s[%zu].image",
				   role->title, list, i);

		if (!*json_get_string(container, "image", ""))
			fault_add(faults, (struct place){0}, path,
				  "Required value: container '%s' needs an image on Kubernetes: "
				  "--image IMAGE",
				  json_get_string(container, "name", ""));
	}
}

/* A container with too long variables cannot start. A TF_CONFIG lists all replicas; in a dynamic
 * job each replica other than a parameter server lists only itself. */
static void check_tf_config(const struct job *job, struct faults *faults)
{
	size_t len = TF_CONFIG_FRAME;
	struct text address CLEANUP(text_done) = {0};

	for (size_t i = 0; i < job->n_roles; i++) {
		const struct role *role = &job->roles[i];
		bool lists_all = !job->is_dynamic || role->kind == ROLE_PS || role->replicas == 0;

		for (int n = lists_all ? role->replicas : 1; n > 0; n--) {
			text_clear(&address);
			tf_cluster_add_kubeflow_address(job, role, n - 1, job->name, NULL,
							&address);
			len += address.len + strlen("\"\",");
		}
	}
	if (len > LIMIT_VARIABLE)
		fault_add(faults, (struct place){0}, "spec.tfReplicaSpecs",
			  "Too many: %d replicas: TF_CONFIG, which names them all, would have %zu "
			  "bytes, and Linux takes %d for a variable",
			  job_replica_count(job), len, LIMIT_VARIABLE);
}

bool objects_check(const struct job *job, struct faults *faults)
{
	struct text text CLEANUP(text_done) = {0};
	size_t n_before = faults->count;
	bool are_names_good = objects_check_names(job, faults);

	json_add_compact(&text, job->document);
	if (text.len > DOCUMENT_MAX)
		fault_add(faults, (struct place){0}, "spec",
			  "Too long: the job has %zu bytes: must have at most %d on Kubernetes, "
			  "where one ConfigMap takes it and what is remembered of its replicas",
			  text.len, DOCUMENT_MAX);
	check_tf_config(job, faults);
	fetch_sidecar_check(job, faults);
	for (size_t i = 0; i < job->n_roles; i++) {
		check_images(&job->roles[i], "initContainers", faults);
		check_images(&job->roles[i], "containers", faults);
	}
	return are_names_good && faults->count == n_before;
}
