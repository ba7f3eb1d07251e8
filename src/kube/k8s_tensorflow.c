/* Creates the objects of a cluster of TensorFlow servers. */
#include "kube/k8s_tensorflow.h"

#include "spec/environment.h"
#include "spec/pod_template.h"

#define LABEL_OF_PREFIX "name-prefix"

/* The TensorFlow jobs of the cluster. */
enum kind { KIND_WORKER, KIND_PS, KIND_COUNT };

static const char *const kind_words[KIND_COUNT] = {"worker", "ps"};

static const char *prefix_of(const struct k8s_tensorflow *wanted)
{
	return wanted->prefix ? wanted->prefix : "tf";
}

static int task_count_of(const struct k8s_tensorflow *wanted, enum kind kind)
{
	return kind == KIND_WORKER ? wanted->n_workers : wanted->n_parameter_servers;
}

/* "worker|tf-worker0:2222;tf-worker1:2222,ps|tf-ps0:2222" */
static void add_cluster_spec(const struct k8s_tensorflow *wanted, struct text *text)
{
	for (enum kind kind = KIND_WORKER; kind < KIND_COUNT; kind++)
		for (int i = 0; i < task_count_of(wanted, kind); i++) {
			if (i > 0)
				text_add_char(text, ';');
			else
				text_addf(text, "%s%s|", text->len ? "," : "", kind_words[kind]);
			text_addf(text, "%s-%s%d:%d", prefix_of(wanted), kind_words[kind], i,
				  wanted->port);
		}
}

/* One task: the common part of its objects. */
struct task {
	const struct k8s_tensorflow *wanted;
	enum kind kind;
	const char *name; /* "tf-worker0", with the prefix */
	const char *label; /* "tf-worker" */
	const char *index; /* "0" */
};

static struct json *make_tensorflow_object(const struct task *task, const char *kind)
{
	struct json *object = json_new_texts("apiVersion", "v1", "kind", kind, NULL);

	json_set(object, "metadata", json_new_texts("name", task->name, NULL));
	return object;
}

static void set_labels(const struct task *task, struct json *labels)
{
	json_set_string(labels, task->label, task->index);
	if (task->wanted->prefix)
		json_set_string(labels, LABEL_OF_PREFIX, task->wanted->prefix);
}

static struct json *args_new(const struct task *task, const char *cluster_spec)
{
	struct json *args = json_new_array();
	char *spec CLEANUP(mem_free_text) = mem_format("--cluster_spec=%s", cluster_spec);
	char *job CLEANUP(mem_free_text) = mem_format("--job_name=%s", kind_words[task->kind]);
	char *id CLEANUP(mem_free_text) = mem_format("--task_id=%s", task->index);

	json_append(args, json_new_string(spec));
	json_append(args, json_new_string(job));
	json_append(args, json_new_string(id));
	return args;
}

static struct json *container_new(const struct task *task, const char *cluster_spec)
{
	struct json *container =
		json_new_texts("name", task->name, "image", task->wanted->image, NULL);
	struct json *port = json_new_object();

	json_set_integer(port, "containerPort", task->wanted->port);
	json_set(container, "args", args_new(task, cluster_spec));
	json_append(json_array_at(container, "ports"), port);
	for (size_t i = 0; i < task->wanted->n_env; i++) {
		const struct env_entry *entry = &task->wanted->env[i];
		struct text literal CLEANUP(text_done) = {0};

		environment_add_literal(&literal, entry->value);
		json_set_string(pod_template_add(container, "env", entry->name), "value",
				text_of(&literal));
	}
	return container;
}

static struct json *controller_new(const struct task *task, const char *cluster_spec)
{
	struct json *controller = make_tensorflow_object(task, "ReplicationController");
	struct json *spec = json_object_at(controller, "spec");
	struct json *template;

	json_set_integer(spec, "replicas", 1);
	template = json_object_at(spec, "template");
	set_labels(task, json_object_at(json_object_at(template, "metadata"), "labels"));
	json_append(json_array_at(json_object_at(template, "spec"), "containers"),
		    container_new(task, cluster_spec));
	return controller;
}

/* Word for word as the old generator wrote it, including targetPort for workers only. */
static struct json *make_tensorflow_service(const struct task *task)
{
	struct json *service = make_tensorflow_object(task, "Service");
	struct json *spec = json_object_at(service, "spec");
	struct json *port = json_new_object();
	bool is_worker = task->kind == KIND_WORKER;
	bool has_load_balancer = is_worker && task->wanted->has_load_balancer;

	set_labels(task, json_object_at(json_get(service, "metadata"), "labels"));
	if (has_load_balancer)
		json_set_string(spec, "type", "LoadBalancer");
	json_set_integer(port, "port", task->wanted->port);
	if (is_worker && !has_load_balancer)
		json_set_integer(port, "targetPort", task->wanted->port);
	json_append(json_array_at(spec, "ports"), port);
	set_labels(task, json_object_at(spec, "selector"));
	return service;
}

struct json *k8s_tensorflow_objects_new(const struct k8s_tensorflow *wanted)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct json *list = json_new_array();
	struct text cluster_spec CLEANUP(text_done) = {0};

	add_cluster_spec(wanted, &cluster_spec);
	for (enum kind kind = KIND_WORKER; kind < KIND_COUNT; kind++)
		for (int i = 0; i < task_count_of(wanted, kind); i++) {
			const char *word = kind_words[kind];
			const struct task task = {
				.wanted = wanted,
				.kind = kind,
				.name = arena_format(arena, "%s-%s%d", prefix_of(wanted), word, i),
				.label = arena_format(arena, "tf-%s", word),
				.index = arena_format(arena, "%d", i),
			};

			json_append(list, controller_new(&task, text_of(&cluster_spec)));
			json_append(list, make_tensorflow_service(&task));
		}
	return list;
}
