/* The Pod of a replica: the role's template plus the parts specific to the replica and attempt. */
#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "kube/fetch_sidecar.h"
#include "kube/objects.h"
#include "kube/tfjob_objects.h"
#include "spec/pod_security.h"
#include "spec/pod_template.h"
#include "spec/tf_cluster.h"

#define COORDINATOR_PORT 29500 /* torchrun's; only rank 0 listens on it */

/* The taint of an unresponsive node. */
#define UNREACHABLE "node.kubernetes.io/unreachable"
#define NO_EXECUTE "NoExecute"
#define SECONDS_UNREACHABLE 30

/* Longer texts go to a ConfigMap: about 100 addresses. */
#define CLUSTER_IN_POD_MAX 4096
#define CLUSTER_KEY "cluster"
#define CLUSTER_VARIABLE "MUSTER_CLUSTER"

/* The meeting point of rank 0 and the others: the leader's Pod, else worker 0's. No replica needs
 * it if neither exists. */
static void set_coordinator(struct objects *objects)
{
	const struct job *job = objects->job;
	const struct role *leader = job_deciding_role(job);

	if (!leader)
		return;
	objects->cluster.coordinator_host =
		arena_format(objects->arena, "%s-%s-0.%s.%s.svc", job->name, leader->name,
			     job->name, job->name_space);
	objects->cluster.coordinator_port =
		leader->port == COORDINATOR_PORT ? COORDINATOR_PORT + 1 : COORDINATOR_PORT;
}

static void set_dense_cluster(struct objects *objects)
{
	struct text text CLEANUP(text_done) = {0};
	uint8_t digest[SHA1_SIZE];
	const char *cluster;

	tf_cluster_add_dense_cluster(&objects->cluster, &text);
	cluster = arena_copy_text(objects->arena, text_of(&text));
	if (text.len <= CLUSTER_IN_POD_MAX) {
		objects->cluster.dense_cluster = cluster;
		return;
	}
	objects->shared_cluster = cluster;
	/* Named by its contents, so it never has to change. */
	sha1(cluster, text.len, digest);
	objects->shared_name =
		arena_format(objects->arena, "%s.cluster-%02x%02x%02x%02x", objects->job->name,
			     digest[0], digest[1], digest[2], digest[3]);
	objects->cluster.dense_cluster = "$(" CLUSTER_VARIABLE ")";
}

struct objects *objects_new(const struct job *job, const struct tfjob_manner *manner)
{
	bool has_one_service = !manner || manner->has_one_service;
	struct arena *arena = arena_new();
	struct objects *objects = arena_take(arena, sizeof(*objects));

	objects->job = job;
	objects->manner = manner;
	objects->arena = arena;
	objects->cluster = tf_cluster_of_kubeflow(job, has_one_service ? job->name : NULL,
						  manner ? manner->cluster_domain : NULL, arena);
	if (manner)
		return objects;
	objects->cluster.has_own_machines = true;
	set_coordinator(objects);
	set_dense_cluster(objects);
	return objects;
}

void objects_free(struct objects *objects)
{
	if (objects)
		arena_free(objects->arena);
}

void objects_cleanup(struct objects **objects)
{
	objects_free(*objects);
}

struct json *objects_cluster_new(const struct objects *objects, const char *owner_uid)
{
	if (!objects->shared_cluster)
		return NULL;
	struct json *config_map = objects_part_new(objects->job, objects->shared_name, owner_uid);

	json_set_string(json_object_at(config_map, "data"), CLUSTER_KEY, objects->shared_cluster);
	return config_map;
}

/* The template's own metadata is kept, except where it conflicts with the replica's. */
static void add_texts(struct json *metadata, const char *member, const struct role *role)
{
	const struct json *texts = json_get_path(role->template, "metadata", member, NULL);
	const char *key = NULL;
	struct json *value;

	while (json_next(texts, &key, &value)) {
		struct json *own = json_object_at(metadata, member);

		if (!json_get(own, key))
			json_set(own, key, json_ref(value));
	}
}

static struct json *pod_metadata_new(const struct job *job, const struct role *role, int index,
				     int attempt, const char *owner_uid)
{
	char *name CLEANUP(mem_free_text) = job_pod_name(job, role, index);
	char *index_text CLEANUP(mem_free_text) = mem_format("%d", index);
	char *attempt_text CLEANUP(mem_free_text) = mem_format("%d", attempt);
	struct json *metadata = objects_metadata_new(job, name, owner_uid);
	struct json *labels = json_get(metadata, "labels");

	json_set_string(labels, OBJECTS_LABEL_ROLE, role->name);
	json_set_string(labels, OBJECTS_LABEL_INDEX, index_text);
	json_set_string(labels, OBJECTS_LABEL_ATTEMPT, attempt_text);
	json_set_string(labels, KUBEFLOW_LABEL_JOB, job->name);
	json_set_string(labels, KUBEFLOW_LABEL_ROLE, role->name);
	json_set_string(labels, KUBEFLOW_LABEL_INDEX, index_text);
	add_texts(metadata, "labels", role);
	add_texts(metadata, "annotations", role);
	return metadata;
}

/* Placed before the container's own variables, so that these can refer to ours, $(WORKER_NUMBER),
 * and win over them. */
static void set_environment(const struct objects *objects, const struct role *role, int index,
			    int attempt, struct json *container)
{
	struct environment environment CLEANUP(environment_done) = {0};
	const struct json *own = json_get(container, "env");
	struct json *list = json_new_array();

	if (objects->shared_cluster) {
		struct json *variable = json_new_object();

		/* The kubelet substitutes its value where later variables refer to it. */
		json_set(json_object_at(variable, "valueFrom"), "configMapKeyRef",
			 json_new_texts("name", objects->shared_name, "key", CLUSTER_KEY, NULL));
		json_set_string(variable, "name", CLUSTER_VARIABLE);
		json_append(list, variable);
	}
	tf_cluster_add_environment(&objects->cluster, role->name, index, attempt, &environment);
	for (size_t i = 0; i < environment.count; i++) {
		const char *equals = strchr(environment.entries[i], '=');
		char *name CLEANUP(mem_free_text) = mem_copy_bytes(
			environment.entries[i], (size_t) (equals - environment.entries[i]));

		if (!pod_template_find(own, "name", name))
			json_append(list, json_new_texts("name", name, "value", equals + 1, NULL));
	}
	for (size_t i = 0; i < json_count(own); i++)
		json_append(list, json_ref(json_at(own, i)));
	json_set(container, "env", list);
}

/* The peers wait for a lost replica or fail soon; the default of 5 minutes would be lost time. */
static void add_lost_node_toleration(struct json *spec)
{
	struct json *list = json_array_at(spec, "tolerations");
	struct json *toleration;

	for (size_t i = 0; i < json_count(list); i++) {
		const char *key = json_get_string(json_at(list, i), "key", "");
		const char *effect = json_get_string(json_at(list, i), "effect", "");

		if ((!*key || text_equals(key, UNREACHABLE)) &&
		    (!*effect || text_equals(effect, NO_EXECUTE)))
			return;
	}
	toleration = json_new_texts("key", UNREACHABLE, "operator", "Exists", "effect", NO_EXECUTE,
				    NULL);
	json_set_integer(toleration, "tolerationSeconds", SECONDS_UNREACHABLE);
	json_append(list, toleration);
}

/* Services of the same namespace, sometimes hundreds, would each add variables. */
static void set_defaults(const struct job *job, struct json *spec)
{
	const struct json *init_containers = json_get(spec, "initContainers");

	if (!json_get(spec, "terminationGracePeriodSeconds"))
		json_set_integer(spec, "terminationGracePeriodSeconds",
				 msec_to_whole_seconds(job->grace));
	if (!json_get(spec, "enableServiceLinks"))
		json_set_bool(spec, "enableServiceLinks", false);
	add_lost_node_toleration(spec);
	/* Puts the last output of a failed container into the Pod, where it becomes the reason why
	 * the replica did not start. Its log is deleted with the Pod. */
	for (size_t i = 0; i < json_count(init_containers); i++)
		if (!json_get(json_at(init_containers, i), "terminationMessagePolicy"))
			json_set_string(json_at(init_containers, i), "terminationMessagePolicy",
					"FallbackToLogsOnError");
}

struct json *objects_pod_new(const struct objects *objects, const struct role *role, int index,
			     int attempt, const char *owner_uid)
{
	const struct job *job = objects->job;
	struct json *pod = json_new_texts("apiVersion", "v1", "kind", "Pod", NULL);
	struct json *metadata = pod_metadata_new(job, role, index, attempt, owner_uid);
	struct json *spec = json_new_copy(json_get(role->template, "spec"));
	struct json *container;

	json_set(pod, "metadata", metadata);
	json_set(pod, "spec", spec);
	container = pod_template_container(pod);
	json_set_string(spec, "hostname", json_get_string(metadata, "name", ""));
	json_set_string(spec, "subdomain", job->name);
	json_set_string(spec, "restartPolicy", "Never");
	set_environment(objects, role, index, attempt, container);
	objects_add_port(role, container);
	set_defaults(job, spec);
	fetch_sidecar_add(job, role, index, spec, container);
	pod_harden(spec, container);
	return pod;
}

int objects_add_all(const struct job *job, const struct job_file *files, size_t n_files,
		    const struct job_secret *secret, struct json *list, struct err *err)
{
	struct objects *objects CLEANUP(objects_cleanup) = objects_new(job, NULL);
	struct json *cluster = objects_cluster_new(objects, NULL);

	json_append(list, objects_owner_new(job));
	json_append(list, objects_service_new(job, NULL));
	if (job->has_network_policy)
		json_append(list, objects_network_policy_new(job, NULL));
	if (cluster)
		json_append(list, cluster);
	if (objects_add_files(job, files, n_files, NULL, list, err))
		return err->code;
	if (secret->name)
		json_append(list, objects_secret_new(job, secret, NULL));
	for (size_t i = 0; i < job->n_roles; i++)
		for (int index = 0; index < job->roles[i].replicas; index++)
			json_append(list, objects_pod_new(objects, &job->roles[i], index, 0, NULL));
	return 0;
}
