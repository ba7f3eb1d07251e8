#include "kube/pod_group.h"

#include "kube/tfjob_objects.h"
#include "spec/quantity.h"

#define LAST_APPLIED "kubectl.kubernetes.io/last-applied-configuration"

static const struct kube_resource pod_groups[] = {
	[GANG_VOLCANO] = {"scheduling.volcano.sh", "v1beta1", "podgroups", false, "PodGroup"},
	[GANG_KUBERNETES] = {"scheduling.k8s.io", "v1alpha2", "podgroups", false, "PodGroup"},
	[GANG_SCHEDULER_PLUGINS] = {"scheduling.x-k8s.io", "v1alpha1", "podgroups", false,
				    "PodGroup"},
};

struct gang gang_of(const char *scheduler_name)
{
	struct gang gang = {.kind = GANG_SCHEDULER_PLUGINS, .scheduler = scheduler_name};

	/* GangSchedulerNone of training-operator. */
	if (!scheduler_name || !*scheduler_name ||
	    text_equals_ignoring_case(scheduler_name, "none"))
		return (struct gang){.kind = GANG_NONE};
	if (text_equals_ignoring_case(scheduler_name, "volcano"))
		return (struct gang){.kind = GANG_VOLCANO, .scheduler = "volcano"};
	if (text_equals_ignoring_case(scheduler_name, "kubernetes"))
		return (struct gang){.kind = GANG_KUBERNETES};
	return gang;
}

const struct kube_resource *gang_resource(const struct gang *gang)
{
	return gang->kind == GANG_NONE ? NULL : &pod_groups[gang->kind];
}

static const struct json *policy_member(const struct job *job, const char *key)
{
	return json_get_path(job->document, "spec", "runPolicy", "schedulingPolicy", key, NULL);
}

static int64_t count_least(const struct job *job)
{
	return json_as_integer(policy_member(job, "minAvailable"), job_replica_count(job));
}

static void copy_member(const struct job *job, const char *from, struct json *spec, const char *to)
{
	const struct json *value = policy_member(job, from);

	if (value)
		json_set(spec, to, json_new_copy(value));
}

/* Resources of the Pods to place: role by role, leading roles first. */

static double amount_of(const struct json *value)
{
	struct text number CLEANUP(text_done) = {0};
	double amount = 0;

	if (json_is(value, JSON_STRING))
		text_add(&number, json_as_string(value, ""));
	else
		json_add_compact(&number, value);
	return quantity_read(text_of(&number), &amount, NULL) < 0 ? 0 : amount;
}

static void add_amounts(const struct json *amounts, int64_t count, struct json *sum)
{
	const char *key = NULL;
	struct json *value;

	while (json_next(amounts, &key, &value)) {
		const struct json *before = json_get(sum, key);
		double amount = amount_of(value) * (double) count;
		struct text text CLEANUP(text_done) = {0};

		quantity_add(amount + (before ? amount_of(before) : 0), &text);
		json_set_string(sum, key, text_of(&text));
	}
}

static void add_role_resources(const struct role *role, int64_t count, struct json *sum)
{
	const struct json *containers = json_get_path(role->template, "spec", "containers", NULL);

	for (size_t i = 0; i < json_count(containers); i++) {
		const struct json *resources = json_get(json_at(containers, i), "resources");
		const struct json *requests = json_get(resources, "requests");

		add_amounts(requests ? requests : json_get(resources, "limits"), count, sum);
	}
}

static struct json *least_resources_new(const struct job *job)
{
	const struct json *given = policy_member(job, "minResources");
	struct json *sum = json_new_object();
	int64_t n_left = count_least(job);

	if (given) {
		json_free(sum);
		return json_new_copy(given);
	}
	for (size_t i = 0; i < job->n_roles && n_left > 0; i++) {
		const struct role *role = &job->roles[i];
		int64_t count = role->replicas < n_left ? role->replicas : n_left;

		add_role_resources(role, count, sum);
		n_left -= count;
	}
	return sum;
}

static void set_spec(const struct gang *gang, const struct job *job, struct json *spec)
{
	int64_t count = count_least(job);

	if (gang->kind == GANG_KUBERNETES) {
		struct json *policy = json_object_at(spec, "schedulingPolicy");

		/* At least one is required. */
		json_set_integer(json_object_at(policy, "gang"), "minCount", count > 0 ? count : 1);
		return;
	}
	json_set_integer(spec, "minMember", count);
	json_set(spec, "minResources", least_resources_new(job));
	if (gang->kind == GANG_VOLCANO) {
		json_set_string(spec, "queue",
				json_as_string(policy_member(job, "queue"), "default"));
		copy_member(job, "priorityClass", spec, "priorityClassName");
	} else {
		copy_member(job, "scheduleTimeoutSeconds", spec, "scheduleTimeoutSeconds");
	}
}

struct json *pod_group_new(const struct gang *gang, const struct job *job, const char *owner_uid)
{
	const struct kube_resource *resource = gang_resource(gang);
	const struct json *annotations =
		json_get_path(job->document, "metadata", "annotations", NULL);
	char *version CLEANUP(mem_free_text) =
		mem_format("%s/%s", resource->group, resource->version);
	struct json *group = json_new_texts("apiVersion", version, "kind", "PodGroup", NULL);
	struct json *metadata = tfjob_metadata_new(job, job->name, owner_uid);

	json_set(group, "metadata", metadata);
	if (annotations) {
		json_set(metadata, "annotations", json_new_copy(annotations));
		json_remove(json_get(metadata, "annotations"), LAST_APPLIED);
	}
	set_spec(gang, job, json_object_at(group, "spec"));
	return group;
}

void pod_group_add_pod(const struct gang *gang, const struct job *job, const struct role *role,
		       struct json *pod)
{
	struct json *metadata = json_get(pod, "metadata"), *spec = json_get(pod, "spec");

	switch (gang->kind) {
	case GANG_VOLCANO:
		json_set_string(json_object_at(metadata, "annotations"),
				"scheduling.k8s.io/group-name", job->name);
		json_set_string(json_object_at(metadata, "annotations"), "volcano.sh/task-spec",
				role->name);
		break;
	case GANG_SCHEDULER_PLUGINS:
		json_set_string(json_object_at(metadata, "labels"), "scheduling.x-k8s.io/pod-group",
				job->name);
		break;
	case GANG_KUBERNETES:
		json_set_string(json_object_at(spec, "schedulingGroup"), "podGroupName", job->name);
		break;
	case GANG_NONE:
		break;
	}
	if (gang->scheduler && !json_get(spec, "schedulerName"))
		json_set_string(spec, "schedulerName", gang->scheduler);
}

struct json *pod_group_patch_new(const struct gang *gang, const struct json *wanted,
				 const struct json *seen)
{
	const struct json *spec = json_get(seen, "spec");
	struct json *patch = json_new_object();
	const char *key = NULL;
	struct json *value;

	while (gang->kind != GANG_KUBERNETES && json_next(json_get(wanted, "spec"), &key, &value)) {
		const struct json *there = json_get(spec, key);
		bool stays = text_equals(key, "queue") && *json_as_string(there, "");

		if (!stays && !json_equals(there, value))
			json_set(json_object_at(patch, "spec"), key, json_ref(value));
	}
	if (json_get(patch, "spec"))
		return patch;
	json_free(patch);
	return NULL;
}

bool pod_group_is_admitted(const struct gang *gang, const struct json *seen)
{
	const char *phase = json_as_string(json_get_path(seen, "status", "phase", NULL), "");

	return gang->kind != GANG_VOLCANO || (*phase && !text_equals(phase, "Pending"));
}

bool pod_group_has_stranger(const struct gang *gang, const struct job *job)
{
	for (size_t i = 0; gang->scheduler && i < job->n_roles; i++) {
		const char *name = json_as_string(
			json_get_path(job->roles[i].template, "spec", "schedulerName", NULL), NULL);

		if (name && !text_equals(name, gang->scheduler))
			return true;
	}
	return false;
}
