#include "kube/tfjob_objects.h"

#include "spec/pod_template.h"

#define CONTAINER "tensorflow"
#define OUR_FIELD "replicas" /* in every status that muster writes */

struct json *tfjob_owner_references_new(const struct job *job, const char *owner_uid)
{
	struct json *list = json_new_array();
	struct json *reference = json_new_texts("apiVersion", "kubeflow.org/v1", "kind", "TFJob",
						"name", job->name, "uid", owner_uid, NULL);

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
	struct json *metadata = json_new_texts("name", name, "namespace", job->name_space, NULL);

	json_set(metadata, "ownerReferences", tfjob_owner_references_new(job, owner_uid));
	return metadata;
}

static struct json *make_tfjob_object(const char *kind, const struct job *job,
				      const struct role *role, int index, const char *owner_uid)
{
	char *name CLEANUP(mem_free_text) = job_pod_name(job, role, index);
	struct json *object = json_new_texts("apiVersion", "v1", "kind", kind, NULL);

	json_set(object, "metadata", tfjob_metadata_new(job, name, owner_uid));
	return object;
}

/* After the template's variables: the kubelet uses the last of two equal names. */
static void add_tf_config_variable(const struct objects *objects, const struct role *role,
				   int index, struct json *containers)
{
	struct json *container = pod_template_find(containers, "name", CONTAINER);
	struct text value CLEANUP(text_done) = {0};

	if (!container || !tf_cluster_has_kubeflow_tf_config(objects->job))
		return;
	tf_cluster_add_tf_config(&objects->cluster, TF_CONFIG_KUBEFLOW, role->name, index, &value);
	json_append(json_array_at(container, "env"),
		    json_new_texts("name", "TF_CONFIG", "value", text_of(&value), NULL));
}

struct json *tfjob_pod_new(const struct objects *objects, const struct role *role, int index,
			   int attempt, const char *owner_uid)
{
	static const char *const members[] = {"labels", "annotations", "finalizers"};
	const struct job *job = objects->job;
	struct json *pod = make_tfjob_object("Pod", job, role, index, owner_uid);
	struct json *metadata = json_get(pod, "metadata");
	struct json *spec = json_new_copy(json_get(role->template, "spec"));
	struct json *labels;

	/* A template may have metadata; its name and namespace are ignored. */
	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		json_copy_member(metadata, json_get(role->template, "metadata"), members[i]);
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
	objects_add_port(role, pod_template_container(pod));
	add_tf_config_variable(objects, role, index, json_get(spec, "containers"));
	/* A kubelet can restart only a single container, regardless of its exit code. */
	json_set_string(spec, "restartPolicy",
			restart_policy_words[role->restart_policy == RESTART_EXIT_CODE ||
							     job_restarts_whole(job, role)
						     ? RESTART_NEVER
						     : role->restart_policy]);
	if (objects->manner->has_one_service) {
		json_set(spec, "hostname", json_new_copy(json_get(metadata, "name")));
		json_set_string(spec, "subdomain", job->name);
	}
	return pod;
}

static void add_service_port(struct json *ports, const struct json *port)
{
	struct json *own = json_new_object();
	const struct json *name = json_get(port, "name");

	if (name)
		json_set(own, "name", json_new_copy(name));
	json_set_integer(own, "port", json_as_integer(json_get(port, "containerPort"), 0));
	json_append(ports, own);
}

/* In a Service of several ports, each needs its own name and number. Clusters reject the invalid
 * ports that training-operator writes. They are omitted, since no replica is found by them. */
static bool is_of_service(const struct role *role, const struct json *ports,
			  const struct json *port)
{
	const char *name = json_get_string(port, "name", "");
	int64_t number = json_as_integer(json_get(port, "containerPort"), 0);

	if (text_equals(name, OBJECTS_PORT_NAME))
		return true;
	return *name && number != role->port && !objects_has_port(ports, number);
}

static struct json *service_ports_new(const struct role *role)
{
	const struct json *containers = json_get_path(role->template, "spec", "containers", NULL);
	const struct json *list =
		json_get(pod_template_find(containers, "name", CONTAINER), "ports");
	struct json *ports = json_new_array();
	struct json *own CLEANUP(json_cleanup) = objects_port_new(role);

	for (size_t i = 0; i < json_count(list); i++)
		if (is_of_service(role, ports, json_at(list, i)))
			add_service_port(ports, json_at(list, i));
	if (!pod_template_find(list, "name", OBJECTS_PORT_NAME))
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

int tfjob_definition_check(const struct json *definition, struct err *err)
{
	const struct json *version = pod_template_find(
		json_get_path(definition, "spec", "versions", NULL), "name", "v1");
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
