/* Whether the operator's namespace can be trusted. Users who may create namespaces, or who get them
 * from a portal, can create it before the administrator does. What they keep in it could then act
 * with the operator's permissions: a RoleBinding lets them start Pods as its service account, and a
 * workload starts such a Pod later. */
#include "base/text.h"
#include "kube/pages.h"
#include "kube/wait.h"
#include "operator/setup.h"

#define LABEL "app.kubernetes.io/name" /* DEPLOYMENT_SELECTOR */
#define MOST_NAMES 10

static const struct kube_resource cron_jobs = {"batch", "v1", "cronjobs", false};
static const struct kube_resource jobs = {"batch", "v1", "jobs", false};
static const struct kube_resource daemon_sets = {"apps", "v1", "daemonsets", false};
static const struct kube_resource replica_sets = {"apps", "v1", "replicasets", false};
static const struct kube_resource replication_controllers = {"", "v1", "replicationcontrollers",
							     false};
static const struct kube_resource stateful_sets = {"apps", "v1", "statefulsets", false};

/* What was found, and the list of one kind. */
struct foreign {
	struct text names; /* "rolebindings 'a', pods 'b'" */
	size_t count;
	size_t names_len, count_before; /* before that list, which may begin again */
	const struct kube_resource *resource;
	bool is_our_namespace;
};

static void foreign_done(struct foreign *foreign)
{
	text_done(&foreign->names);
}

static const char *name_of(const struct json *object)
{
	return json_as_string(json_get_path(object, "metadata", "name", NULL), "");
}

static bool has_our_label(const struct json *object)
{
	const struct json *labels = json_get_path(object, "metadata", "labels", NULL);

	return text_equals(json_get_string(labels, LABEL, ""), DEPLOYMENT_NAME);
}

/* Kubernetes creates `default` in each namespace. In a namespace without our label, a name or label
 * of ours is a pretence: our objects would be merged with those. */
static bool is_own(const struct kube_resource *resource, const struct json *object,
		   bool is_our_namespace)
{
	bool is_account = resource == &kube_service_accounts;

	if (is_account && text_equals(name_of(object), "default"))
		return true;
	return is_our_namespace && (has_our_label(object) ||
				    (is_account && text_equals(name_of(object), DEPLOYMENT_NAME)));
}

static void begin_search(void *data)
{
	struct foreign *foreign = data;

	foreign->count = foreign->count_before;
	text_shorten(&foreign->names, foreign->names_len);
}

static void add_if_foreign(const struct json *item, void *data)
{
	struct foreign *foreign = data;

	if (is_own(foreign->resource, item, foreign->is_our_namespace))
		return;
	if (foreign->count++ < MOST_NAMES)
		text_addf(&foreign->names, "%s%s '%s'", foreign->count > 1 ? ", " : "",
			  foreign->resource->plural, name_of(item));
}

static int add_foreign(struct operator_setup *setup, const struct kube_resource *resource,
		       struct foreign *foreign, struct err *err)
{
	const struct kube_request request = {
		.verb = KUBE_LIST, .resource = resource, .namespace_name = DEPLOYMENT_NAME};
	struct err own = {0};

	foreign->resource = resource;
	foreign->count_before = foreign->count;
	foreign->names_len = foreign->names.len;
	int rc = kube_pages_wait(setup->api, &request, begin_search, add_if_foreign, foreign, &own);

	/* The cluster may not know the kind. */
	return rc < 0 && rc != ERR_NOT_FOUND ? err_copy(err, &own) : 0;
}

int operator_setup_object_to(const struct operator_setup *setup, const char *sentence,
			     const char *advice, struct err *err)
{
	const struct operator_setup_settings *settings = setup->settings;

	if (!settings->is_forced && !settings->is_dry_run)
		return err_set(err, ERR_REFUSED, "%s; %s", sentence, advice);
	settings->warn(sentence, settings->data);
	return 0;
}

static int judge(const struct operator_setup *setup, const struct foreign *foreign, struct err *err)
{
	struct text told CLEANUP(text_done) = {0};

	if (foreign->count == 0)
		return 0;
	text_addf(&told, "namespace '" DEPLOYMENT_NAME "' has objects that are not muster's: %s",
		  text_of(&foreign->names));
	if (foreign->count > MOST_NAMES)
		text_addf(&told, " and %zu more", foreign->count - MOST_NAMES);
	return operator_setup_object_to(
		setup, text_of(&told),
		"their owner could act with the permissions of the operator: delete them, or use "
		"--force to keep them",
		err);
}

int operator_setup_check_namespace(struct operator_setup *setup, struct err *err)
{
	static const struct kube_resource *const kinds[] = {
		&kube_role_bindings,
		&kube_service_accounts,
		&kube_pods,
		&kube_deployments,
		&stateful_sets,
		&replica_sets,
		&replication_controllers,
		&daemon_sets,
		&cron_jobs,
		&jobs,
		&kube_tfjobs,
	};
	const struct kube_request request = {
		.verb = KUBE_GET, .resource = &kube_namespaces, .name = DEPLOYMENT_NAME};
	struct foreign foreign CLEANUP(foreign_done) = {0};
	struct json *found CLEANUP(json_cleanup) = NULL;
	struct err own = {0};
	int rc = kube_wait(setup->api, &request, &found, &own);

	if (rc < 0)
		return rc == ERR_NOT_FOUND ? 0 : err_copy(err, &own);
	foreign.is_our_namespace = has_our_label(found);
	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(kinds); i++)
		rc = add_foreign(setup, kinds[i], &foreign, err);
	return rc < 0 ? rc : judge(setup, &foreign, err);
}
