/* Builds the objects of TF-Spawner from its templates. */
#include "kube/tf_spawner.h"

#include "spec/environment.h"
#include "spec/pod_template.h"

#include <assert.h>

/* The contents of its pod.yaml and service.yaml. */
static const char pod_template[] =
	"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{},\"spec\":{"
	"\"containers\":[{\"name\":\"tensorflow\","
	"\"resources\":{\"requests\":{\"memory\":\"1Gi\",\"cpu\":\"1000m\"}},"
	"\"volumeMounts\":[{\"name\":\"script\",\"mountPath\":\"/script\"}],"
	"\"command\":[\"python\",\"/script/training-script.py\"]}],"
	"\"volumes\":[{\"name\":\"script\",\"configMap\":{\"name\":\"script\"}}],"
	"\"restartPolicy\":\"Never\"}}";
static const char service_template[] =
	"{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{},"
	"\"spec\":{\"ports\":[{\"protocol\":\"TCP\"}]}}";

static struct json *template_new(const struct json *given, const char *otherwise)
{
	struct json *template = NULL;

	if (given)
		return json_new_copy(given);
	int rc = json_read(otherwise, strlen(otherwise), &template, NULL);

	assert(!rc);
	return template;
}

/* Sets what TF-Spawner sets in every object's metadata. */
static void set_metadata(const struct tf_spawner *wanted, const char *name, struct json *object)
{
	struct json *metadata = json_object_at(object, "metadata");

	json_set_string(metadata, "name", name);
	json_set_string(metadata, "namespace", wanted->name_space);
	json_set_string(json_object_at(metadata, "labels"), TF_SPAWNER_LABEL, wanted->tag);
}

static int add_service(const struct tf_spawner *wanted, const char *name, struct json *list,
		       struct err *err)
{
	struct json *service = template_new(wanted->service, service_template);
	struct json *spec = json_get(service, "spec");
	struct json *port = json_at(json_get(spec, "ports"), 0);

	json_append(list, service);
	if (!json_is(port, JSON_OBJECT))
		return err_set(err, ERR_INVALID, "the template of a Service has no spec.ports[0]");
	set_metadata(wanted, name, service);
	json_set_integer(port, "port", wanted->port);
	json_set_integer(port, "targetPort", wanted->port);
	json_set_string(json_object_at(spec, "selector"), "app", name);
	return 0;
}

/* A later variable of its name replaces the value and keeps the position, as in a Python dict. */
static void set_variable(struct json *container, const char *name, const char *value)
{
	struct json *entry = pod_template_find(json_get(container, "env"), "name", name);
	struct text literal CLEANUP(text_done) = {0};

	if (!entry)
		entry = pod_template_add(container, "env", name);
	environment_add_literal(&literal, value);
	json_set_string(entry, "value", text_of(&literal));
}

static void set_environment(const struct tf_spawner *wanted, int index, struct json *container)
{
	struct text config CLEANUP(text_done) = {0};
	char *number CLEANUP(mem_free_text) = mem_format("%d", index);
	char *count CLEANUP(mem_free_text) = mem_format("%d", wanted->n_workers);

	/* With the spaces of Python's json.dumps. */
	text_add(&config, "{\"cluster\": {\"worker\": [");
	for (int i = 0; i < wanted->n_workers; i++)
		text_addf(&config, "%s\"worker%d:%d\"", i ? ", " : "", i, wanted->port);
	text_addf(&config, "]}, \"task\": {\"type\": \"worker\", \"index\": %d}}", index);
	json_set(container, "env", json_new_array());
	set_variable(container, "TF_CONFIG", text_of(&config));
	set_variable(container, "WORKER_NUMBER", number);
	set_variable(container, "TOT_WORKERS", count);
	for (size_t i = 0; i < wanted->n_env; i++)
		set_variable(container, wanted->env[i].name, wanted->env[i].value);
}

static int add_pod(const struct tf_spawner *wanted, const char *name, int index, struct json *list,
		   struct err *err)
{
	static const char *const words[] = {"/bin/bash", "-e", "-c"};
	struct text literal CLEANUP(text_done) = {0};
	struct json *pod = template_new(wanted->pod, pod_template);
	struct json *container = json_at(json_get_path(pod, "spec", "containers", NULL), 0);

	json_append(list, pod);
	if (!json_is(container, JSON_OBJECT))
		return err_set(err, ERR_INVALID, "the template of a Pod has no spec.containers[0]");
	set_metadata(wanted, name, pod);
	json_set_string(json_get_path(pod, "metadata", "labels", NULL), "app", name);
	json_set_string(container, "image", wanted->image);
	set_environment(wanted, index, container);
	if (!wanted->command)
		return 0;
	/* TF-Spawner joined the lines with "&&", which broke loops and comments; -e does not. */
	struct json *command = json_new_array();

	environment_add_literal(&literal, wanted->command);
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		json_append(command, json_new_string(words[i]));
	json_append(command, json_new_string(text_of(&literal)));
	json_set(container, "command", command);
	return 0;
}

int tf_spawner_objects_new(const struct tf_spawner *wanted, struct json **ret_list, struct err *err)
{
	struct json *list CLEANUP(json_cleanup) = json_new_array();
	struct json *script = json_new_texts("apiVersion", "v1", "kind", "ConfigMap", NULL);
	struct err own = {0};

	set_metadata(wanted, TF_SPAWNER_SCRIPT, script);
	json_set_string(json_object_at(script, "data"), "training-script.py", wanted->script);
	json_append(list, script);
	for (int i = 0; i < wanted->n_workers && !own.code; i++) {
		char *name CLEANUP(mem_free_text) = mem_format("worker%d", i);

		(void) add_service(wanted, name, list, &own);
	}
	for (int i = 0; i < wanted->n_workers && !own.code; i++) {
		char *name CLEANUP(mem_free_text) = mem_format("worker%d", i);

		(void) add_pod(wanted, name, i, list, &own);
	}
	if (own.code)
		return err_copy(err, &own);
	*ret_list = TAKE(list);
	return 0;
}
