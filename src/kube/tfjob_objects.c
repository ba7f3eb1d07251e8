#include "kube/tfjob_objects.h"

#include "base/mem.h"
#include "base/text.h"
#include "kube/objects.h"
#include "kube/pod_labels.h"
#include "spec/pod_template.h"
#include "spec/tf_cluster.h"

#include <stdlib.h>

#define CONTAINER "tensorflow"
#define PORT_NAME "tfjob-port"

struct tfjob_objects {
	const struct job *job;
	const struct tfjob_manner *manner;
	struct arena *arena;
	struct tf_cluster cluster;
};

void tfjob_add_address(const struct tfjob_manner *manner, const struct job *job,
		       const struct role *role, int index, struct text *text)
{
	tf_cluster_add_kubeflow_address(job, role, index,
					manner->has_one_service ? job->name : NULL,
					manner->cluster_domain, text);
}

struct tfjob_objects *tfjob_objects_new(const struct job *job, const struct tfjob_manner *manner)
{
	struct tfjob_objects *objects = mem_new(sizeof(*objects));
	struct arena *arena = arena_new();
	struct tf_cluster_address *addresses =
		arena_take_array(arena, (size_t) job_replica_count(job), sizeof(*addresses));
	size_t count = 0;

	for (size_t i = 0; i < job->n_roles; i++)
		for (int index = 0; index < job->roles[i].replicas; index++) {
			struct text address CLEANUP(text_done) = {0};

			tfjob_add_address(manner, job, &job->roles[i], index, &address);
			addresses[count++] = (struct tf_cluster_address){
				.role = job->roles[i].name,
				.index = index,
				.address = arena_copy_text(arena, text_of(&address)),
			};
		}
	*objects = (struct tfjob_objects){
		.job = job,
		.manner = manner,
		.arena = arena,
		.cluster = {.job = job, .addresses = addresses, .n_addresses = count},
	};
	return objects;
}

void tfjob_objects_free(struct tfjob_objects *objects)
{
	if (!objects)
		return;
	arena_free(objects->arena);
	free(objects);
}

/* Metadata. */

struct json *tfjob_owner_references_new(const struct job *job, const char *owner_uid)
{
	struct json *list = json_new_array();
	struct json *reference = json_new_object();

	json_set_string(reference, "apiVersion", "kubeflow.org/v1");
	json_set_string(reference, "kind", "TFJob");
	json_set_string(reference, "name", job->name);
	json_set_string(reference, "uid", owner_uid);
	json_set_bool(reference, "controller", true);
	json_set_bool(reference, "blockOwnerDeletion", true);
	json_append(list, reference);
	return list;
}

/* The labels of Services and their selectors. */
static void add_job_labels(struct json *labels, const struct job *job)
{
	json_set_string(labels, KUBEFLOW_LABEL_OPERATOR, KUBEFLOW_OPERATOR);
	json_set_string(labels, KUBEFLOW_LABEL_JOB, job->name);
}

static void add_labels(struct json *labels, const struct job *job, const struct role *role,
		       int index)
{
	char *index_text CLEANUP(mem_free_text) = mem_format("%d", index);

	add_job_labels(labels, job);
	json_set_string(labels, KUBEFLOW_LABEL_ROLE, role->name);
	json_set_string(labels, KUBEFLOW_LABEL_INDEX, index_text);
}

static bool is_master(const struct job *job, const struct role *role, int index)
{
	if (job_leader_role(job))
		return role->kind == ROLE_CHIEF || role->kind == ROLE_MASTER;
	return role->kind == ROLE_WORKER && index == 0;
}

struct json *tfjob_metadata_new(const struct job *job, const char *name, const char *owner_uid)
{
	struct json *metadata = json_new_object();

	json_set_string(metadata, "name", name);
	json_set_string(metadata, "namespace", job->name_space);
	json_set(metadata, "ownerReferences", tfjob_owner_references_new(job, owner_uid));
	return metadata;
}

static struct json *make_tfjob_object(const char *kind, const struct job *job,
				      const struct role *role, int index, const char *owner_uid)
{
	char *name CLEANUP(mem_free_text) = job_pod_name(job, role, index);
	struct json *object = json_new_object();

	json_set_string(object, "apiVersion", "v1");
	json_set_string(object, "kind", kind);
	json_set(object, "metadata", tfjob_metadata_new(job, name, owner_uid));
	return object;
}

/* A template may have metadata; its name and namespace are ignored. */
static void copy_template_metadata(struct json *metadata, const struct role *role)
{
	static const char *const members[] = {"labels", "annotations", "finalizers"};
	const struct json *from = json_get(role->template, "metadata");

	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		json_copy_member(metadata, from, members[i]);
}

/* Pods. */

static struct json *port_new(const struct role *role)
{
	struct json *port = json_new_object();

	json_set_string(port, "name", PORT_NAME);
	json_set_integer(port, "containerPort", role->port);
	return port;
}

static void add_port(const struct role *role, struct json *container)
{
	struct json *ports = json_array_at(container, "ports");

	if (!pod_template_find(ports, "name", PORT_NAME))
		json_append(ports, port_new(role));
}

/* After the template's variables: the kubelet uses the last of two equal names. */
static void add_tf_config_variable(const struct tfjob_objects *objects, const struct role *role,
				   int index, struct json *containers)
{
	struct json *container = pod_template_find(containers, "name", CONTAINER);
	struct text value CLEANUP(text_done) = {0};
	struct json *variable;

	if (!container || !tf_cluster_has_kubeflow_tf_config(objects->job))
		return;
	tf_cluster_add_tf_config(&objects->cluster, TF_CONFIG_KUBEFLOW, role->name, index, &value);
	variable = json_new_object();
	json_set_string(variable, "name", "TF_CONFIG");
	json_set_string(variable, "value", text_of(&value));
	json_append(json_array_at(container, "env"), variable);
}

/* A kubelet can restart only a single container, regardless of its exit code. */
static const char *restart_policy_of_pod(const struct job *job, const struct role *role)
{
	return restart_policy_words[role->restart_policy == RESTART_EXIT_CODE ||
						    job_restarts_whole(job, role)
					    ? RESTART_NEVER
					    : role->restart_policy];
}

struct json *tfjob_pod_new(const struct tfjob_objects *objects, const struct role *role, int index,
			   int attempt, const char *owner_uid)
{
	const struct job *job = objects->job;
	struct json *pod = make_tfjob_object("Pod", job, role, index, owner_uid);
	struct json *metadata = json_get(pod, "metadata");
	struct json *spec = json_new_copy(json_get(role->template, "spec"));
	struct json *labels;

	copy_template_metadata(metadata, role);
	labels = json_object_at(metadata, "labels");
	add_labels(labels, job, role, index);
	if (is_master(job, role, index))
		json_set_string(labels, KUBEFLOW_LABEL("job-role"), "master");
	if (attempt > 0) {
		char *text CLEANUP(mem_free_text) = mem_format("%d", attempt);

		json_set_string(json_object_at(metadata, "annotations"), POD_ANNOTATION_ATTEMPT,
				text);
	}
	json_set(pod, "spec", spec);
	add_port(role, pod_template_container(pod));
	add_tf_config_variable(objects, role, index, json_get(spec, "containers"));
	json_set_string(spec, "restartPolicy", restart_policy_of_pod(job, role));
	if (objects->manner->has_one_service) {
		json_set(spec, "hostname", json_new_copy(json_get(metadata, "name")));
		json_set_string(spec, "subdomain", job->name);
	}
	return pod;
}

/* Services. */

static void add_service_port(struct json *ports, const struct json *port)
{
	struct json *own = json_new_object();
	const struct json *name = json_get(port, "name");

	if (name)
		json_set(own, "name", json_new_copy(name));
	json_set_integer(own, "port", json_as_integer(json_get(port, "containerPort"), 0));
	json_append(ports, own);
}

static bool has_number(const struct json *ports, int64_t number)
{
	for (size_t i = 0; i < json_count(ports); i++)
		if (json_as_integer(json_get(json_at(ports, i), "port"), 0) == number)
			return true;
	return false;
}

/* In a Service of several ports, each needs its own name and number. Clusters reject the invalid
 * ports that training-operator writes. They are omitted, since no replica is found by them. */
static bool is_of_service(const struct role *role, const struct json *ports,
			  const struct json *port)
{
	const char *name = json_as_string(json_get(port, "name"), "");
	int64_t number = json_as_integer(json_get(port, "containerPort"), 0);

	if (text_equals(name, PORT_NAME))
		return true;
	return *name && number != role->port && !has_number(ports, number);
}

static struct json *service_ports_new(const struct role *role)
{
	const struct json *containers = json_get_path(role->template, "spec", "containers", NULL);
	const struct json *list =
		json_get(pod_template_find(containers, "name", CONTAINER), "ports");
	struct json *ports = json_new_array();
	struct json *own CLEANUP(json_cleanup) = port_new(role);

	for (size_t i = 0; i < json_count(list); i++)
		if (is_of_service(role, ports, json_at(list, i)))
			add_service_port(ports, json_at(list, i));
	if (!pod_template_find(list, "name", PORT_NAME))
		add_service_port(ports, own);
	return ports;
}

struct json *tfjob_service_new(const struct job *job, const struct role *role, int index,
			       const char *owner_uid)
{
	struct json *service = make_tfjob_object("Service", job, role, index, owner_uid);
	struct json *spec = json_object_at(service, "spec");

	add_labels(json_object_at(json_get(service, "metadata"), "labels"), job, role, index);
	json_set_string(spec, "clusterIP", "None");
	add_labels(json_object_at(spec, "selector"), job, role, index);
	json_set(spec, "ports", service_ports_new(role));
	return service;
}

struct json *tfjob_job_service_new(const struct job *job, const char *owner_uid)
{
	struct json *metadata = tfjob_metadata_new(job, job->name, owner_uid);
	struct json *selector = json_new_object();

	add_job_labels(json_object_at(metadata, "labels"), job);
	add_job_labels(selector, job);
	return objects_headless_service_new(job, metadata, selector);
}
