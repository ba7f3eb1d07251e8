/* Converts older forms of TFJob to the fields of kubeflow.org/v1.
 *
 * Facts: tf-operator, pkg/apis/tensorflow/v1alpha1 to v1beta2. Before it was Kubeflow's, its group
 * was tensorflow.org and its kind TfJob. v1alpha1 had a list of roles, whose Pod templates set the
 * restart policy; v1alpha2 to v1beta2 had the fields of runPolicy in spec. All of them stopped the
 * remaining Pods when a job finished, where v1 lets them run (cleanPodPolicy). */
#include "spec/job_field.h"

#include "base/names.h"
#include "base/text.h"
#include "spec/pod_template.h"

static const char *const older_versions[] = {
	JOB_OLDEST_VERSION,     "kubeflow.org/v1alpha1", "kubeflow.org/v1alpha2",
	"kubeflow.org/v1beta1", "kubeflow.org/v1beta2",
};

/* Fields that v1 lacks and that can be dropped without loss: a name that the operator chose, the
 * image of parameter servers without a template, a delay, the only protocol. */
static const char *const words_without_meaning[] = {
	"RuntimeId", "runtimeId", "tfImage", "cleanPodDelay", "tfRpcLayer",
};

bool job_is_older(const struct json *root)
{
	const char *version = json_get_string(root, "apiVersion", "");

	return name_find_word(older_versions, ARRAY_LEN(older_versions), version) >= 0;
}

/* Moves a member to another object, under the same name. False: it does not exist. */
static bool move(struct json *from, struct json *to, const char *word)
{
	struct json *value = json_get(from, word);

	if (!value || json_get(to, word) || !json_is(to, JSON_OBJECT))
		return false;
	json_set(to, word, json_ref(value));
	json_remove(from, word);
	return true;
}

static void convert_run_policy(struct json *spec, const char *const *words, size_t n_words,
			       struct text *changes)
{
	struct json *present = json_get(spec, "runPolicy");
	struct json *policy = present ? present : json_object_at(spec, "runPolicy");

	for (size_t i = 0; i < n_words; i++)
		if (move(spec, policy, words[i]))
			text_addf(changes, "; spec.%s is spec.runPolicy.%s", words[i], words[i]);
	if (json_is(policy, JSON_OBJECT) && !json_get(policy, "cleanPodPolicy")) {
		json_set_string(policy, "cleanPodPolicy", clean_policy_words[CLEAN_RUNNING]);
		text_add(changes, "; spec.runPolicy.cleanPodPolicy is Running, the old default");
	}
}

/* v1alpha1 ran its own TensorFlow server in parameter servers without a template. */
static void add_server_templates(struct json *spec, struct text *changes)
{
	struct json *list = json_get(spec, "replicaSpecs");
	const char *image = json_get_string(spec, "tfImage", "tensorflow/tensorflow");

	for (size_t i = 0; i < json_count(list); i++) {
		struct json *role = json_at(list, i);
		const char *type = json_get_string(role, "tfReplicaType", "");

		if (!text_equals_ignoring_case(type, "PS") || json_get(role, "template"))
			continue;
		struct json *template = json_object_at(role, "template");
		struct json *container = json_new_object();
		struct json *command = json_array_at(container, "command");

		json_set_string(container, "name", "tensorflow");
		json_set_string(container, "image", image);
		json_append(command, json_new_string("muster"));
		json_append(command, json_new_string("server"));
		json_append(json_array_at(json_object_at(template, "spec"), "containers"),
			    container);
		text_add(changes, "; PS has no template and runs 'muster server'");
	}
}

static bool has_leader(const struct json *roles)
{
	for (size_t i = 0; i < json_count(roles); i++) {
		const char *type = json_get_string(json_at(roles, i), "tfReplicaType", "Chief");

		if (text_equals_ignoring_case(type, "Chief") ||
		    text_equals_ignoring_case(type, "Master"))
			return true;
	}
	return false;
}

/* A job ends with its chief or master, else with worker 0: v1 cannot express any other end. */
static void convert_termination(struct field_reader *reader, const struct field *spec,
				struct text *changes)
{
	struct field policy = field_member(spec, "terminationPolicy");
	const struct json *chief = json_get(policy.value, "chief");
	const char *name = json_get_string(chief, "replicaName", "MASTER");
	bool is_worker = text_equals_ignoring_case(name, "Worker");

	if (!policy.value)
		return;
	if (is_worker == has_leader(json_get(spec->value, "replicaSpecs")) ||
	    json_as_integer(json_get(chief, "replicaIndex"), 0) != 0)
		field_refuse(reader, &policy,
			     "Unsupported value: in v1 a job ends with its chief or master, and "
			     "where it has none with worker 0");
	json_remove(spec->value, "terminationPolicy");
	text_add(changes, "; spec.terminationPolicy was removed, because v1 always ends that way");
}

static void convert_port(struct json *role, struct json *pod, struct text *changes)
{
	struct json *port = json_get(role, "tfPort");
	struct json *container = json_at(json_get(pod, "containers"), 0);

	if (!port || !json_is(container, JSON_OBJECT))
		return;
	json_set(pod_template_add(container, "ports", "tfjob-port"), "containerPort",
		 json_ref(port));
	json_remove(role, "tfPort");
	text_add_line_once(changes, "; tfPort is the container's port tfjob-port");
}

/* One role, of a list or of a map. */
static void convert_role(struct json *spec, struct json *role, struct text *changes)
{
	struct json *pod = json_get_path(role, "template", "spec", NULL);
	struct json *scheduler = json_get(spec, "schedulerName");

	if (move(pod, role, "restartPolicy"))
		text_add_line_once(changes, "; restartPolicy of the Pods is that of their role");
	if (scheduler && json_is(pod, JSON_OBJECT) && !json_get(pod, "schedulerName"))
		json_set(pod, "schedulerName", json_ref(scheduler));
	convert_port(role, pod, changes);
}

static void convert_roles(struct json *spec, struct text *changes)
{
	struct json *list = json_get(spec, "replicaSpecs");
	struct json *map = json_get(spec, "tfReplicaSpecs");
	struct text once CLEANUP(text_done) = {0};
	const char *key = NULL;
	struct json *role;

	for (size_t i = 0; i < json_count(list); i++)
		convert_role(spec, json_at(list, i), &once);
	while (json_next(map, &key, &role))
		convert_role(spec, role, &once);
	for (const char *at = text_of(&once); *at; at++)
		if (*at != '\n')
			text_add_char(changes, *at);
	if (json_get(spec, "schedulerName")) {
		json_remove(spec, "schedulerName");
		text_add(changes, "; spec.schedulerName is that of the Pods");
	}
}

void job_convert_older(struct field_reader *reader, const struct field *root,
		       const char *const *run_policy_words, size_t n_words, struct text *changes)
{
	struct field spec = field_member(root, "spec");
	bool is_older = job_is_older(root->value);

	if (is_older)
		text_addf(changes, "; apiVersion was %s",
			  json_get_string(root->value, "apiVersion", ""));
	if (json_is(json_get(spec.value, "replicaSpecs"), JSON_ARRAY))
		text_add(changes, "; spec.replicaSpecs is spec.tfReplicaSpecs");
	if (!is_older || !json_is(spec.value, JSON_OBJECT))
		return;
	convert_run_policy(spec.value, run_policy_words, n_words, changes);
	add_server_templates(spec.value, changes);
	for (size_t i = 0; i < ARRAY_LEN(words_without_meaning); i++) {
		if (!json_get(spec.value, words_without_meaning[i]))
			continue;
		json_remove(spec.value, words_without_meaning[i]);
		text_addf(changes, "; spec.%s was removed", words_without_meaning[i]);
	}
	convert_termination(reader, &spec, changes);
	convert_roles(spec.value, changes);
}
