#include "operator/setup.h"

#include "base/yaml.h"
#include "kube/mirror.h"
#include "kube/pages.h"
#include "kube/tfjob_objects.h"
#include "kube/wait.h"

#define LONGEST_WAIT (5 * 60 * MSEC_PER_SECOND)
#define HTTP_CREATED 201
#define DEFINITIONS_GROUP "apiextensions.k8s.io"

/* The objects of deploy/, which the program contains. */

/* A Role cannot grant permissions on cluster-wide kinds. */
static struct json *rules_of_namespace(const struct json *rules)
{
	struct json *kept = json_new_array();

	for (size_t i = 0; i < json_count(rules); i++) {
		const struct json *groups = json_get(json_at(rules, i), "apiGroups");

		if (!text_equals(json_as_string(json_at(groups, 0), ""), DEFINITIONS_GROUP))
			json_append(kept, json_new_copy(json_at(rules, i)));
	}
	return kept;
}

/* Converts a ClusterRole or its binding. */
static struct json *in_namespace(const struct json *object, const char *name_space)
{
	struct json *made = json_new_copy(object);
	bool is_role = text_equals(json_get_string(object, "kind", ""), "ClusterRole");

	json_set_string(made, "kind", is_role ? "Role" : "RoleBinding");
	json_set_string(json_object_at(made, "metadata"), "namespace", name_space);
	if (is_role)
		json_set(made, "rules", rules_of_namespace(json_get(object, "rules")));
	else
		json_set_string(json_object_at(made, "roleRef"), "kind", "Role");
	return made;
}

static struct json *chosen_deployment(const struct json *object,
				      const struct deployment_choice *choice)
{
	struct json *made = json_new_copy(object);
	struct json *container =
		json_at(json_get_path(made, "spec", "template", "spec", "containers", NULL), 0);

	json_set_string(container, "image", choice->image);
	for (size_t i = 0; choice->namespaces[i]; i++) {
		char *flag CLEANUP(mem_free_text) =
			mem_format("--namespace=%s", choice->namespaces[i]);

		json_append(json_array_at(container, "args"), json_new_string(flag));
	}
	return made;
}

static void add_object(struct json *list, const struct json *object,
		       const struct deployment_choice *choice)
{
	const char *kind = json_get_string(object, "kind", "");
	bool is_of_all_namespaces =
		text_equals(kind, "ClusterRole") || text_equals(kind, "ClusterRoleBinding");

	if (text_equals(kind, "Deployment")) {
		json_append(list, chosen_deployment(object, choice));
	} else if (is_of_all_namespaces && choice->namespaces[0]) {
		for (size_t i = 0; choice->namespaces[i]; i++)
			json_append(list, in_namespace(object, choice->namespaces[i]));
	} else {
		json_append(list, json_new_copy(object));
	}
}

/* The objects to install, in order of creation. Caller frees. */
static int deployment_objects(const struct deployment_choice *choice, struct json **ret_list,
			      struct err *err)
{
	struct document **documents = NULL;
	size_t count = 0;
	int rc = documents_read(deployment_yaml, deployment_yaml_size, &documents, &count, err);

	if (rc < 0)
		return rc;
	struct json *list = json_new_array();

	for (size_t i = 0; i < count; i++)
		add_object(list, document_root(documents[i]), choice);
	documents_free(documents, count);
	*ret_list = list;
	return 0;
}

/* Begin and end. */

int operator_setup_begin(struct operator_setup *setup,
			 const struct operator_setup_settings *settings, struct err *err)
{
	setup->settings = settings;
	return kube_api_connect(NULL, settings->log_in, settings->log_in_data, &setup->api, err);
}

void operator_setup_done(struct operator_setup *setup)
{
	kube_api_free(setup->api);
}

void operator_setup_report(const struct operator_setup *setup, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	char *sentence CLEANUP(mem_free_text) = mem_format_list(format, values);
	va_end(values);
	char *told CLEANUP(mem_free_text) =
		mem_format("%s%s", sentence, setup->settings->is_dry_run ? " (dry run)" : "");

	setup->settings->tell(told, setup->settings->data);
}

/* "deployments 'NAME' of namespace N". Caller frees. */
static char *shown(const struct kube_request *request)
{
	const char *name = kube_request_name(request);
	bool has_namespace = !request->resource->is_cluster_wide && request->namespace_name;

	return mem_format("%s '%s'%s%s", request->resource->plural, name ? name : "",
			  has_namespace ? " of namespace " : "",
			  has_namespace ? request->namespace_name : "");
}

int operator_setup_change(struct operator_setup *setup, const struct kube_request *request,
			  const char *done, struct err *err)
{
	char *object CLEANUP(mem_free_text) = shown(request);
	struct kube_answer answer = {0};

	if (!setup->settings->is_dry_run)
		kube_wait_all(setup->api, request, 1, &answer);
	json_free(answer.object);
	if (answer.err.code == ERR_NOT_FOUND && request->verb == KUBE_DELETE)
		return 0;
	if (answer.err.code)
		return err_copy(err, &answer.err);
	operator_setup_report(setup, "%s %s", object,
			      answer.http_code == HTTP_CREATED ? "created" : done);
	return 0;
}

/* Listing. */

static int list_all(struct operator_setup *setup, const struct kube_resource *resource,
		    const char *label_selector, kube_begin_fn on_begin, kube_item_fn on_item,
		    void *data, struct err *err)
{
	const struct kube_parameter parameters[] = {{"labelSelector", label_selector}, {0}};
	const struct kube_request request = {KUBE_LIST, resource, KUBE_ALL_NAMESPACES,
					     .parameters = parameters};
	struct err own = {0};
	int rc = kube_pages_wait(setup->api, &request, on_begin, on_item, data, &own);

	return rc < 0 && rc != ERR_NOT_FOUND ? err_copy(err, &own) : 0;
}

static void begin_count(void *data)
{
	size_t *count = data;

	*count = 0;
}

static void count_item(const struct json *item, void *data)
{
	size_t *count = data;

	(void) item;
	++*count;
}

int operator_setup_count(struct operator_setup *setup, const struct kube_resource *resource,
			 size_t *ret_count, struct err *err)
{
	return list_all(setup, resource, NULL, begin_count, count_item, ret_count, err);
}

static void begin_items(void *data)
{
	struct json **items = data;

	json_free(*items);
	*items = json_new_array();
}

static void add_item(const struct json *item, void *data)
{
	struct json **items = data;

	json_append(*items, json_new_copy(item));
}

int operator_setup_list(struct operator_setup *setup, const struct kube_resource *resource,
			const char *label_selector, struct json **ret_items, struct err *err)
{
	struct json *items CLEANUP(json_cleanup) = NULL;
	int rc = list_all(setup, resource, label_selector, begin_items, add_item, &items, err);

	if (rc == 0)
		*ret_items = TAKE(items);
	return rc;
}

/* Waiting. */

static bool is_none(const struct kube_mirror *mirror, void *data)
{
	(void) data;
	return mirror->table.count == 0;
}

bool operator_setup_wait_for_end(struct operator_setup *setup, const char *namespace_name,
				 const char *label_selector)
{
	const struct kube_mirror_settings pods = {.resource = &kube_pods,
						  .namespace_name = namespace_name,
						  .label_selector = label_selector};

	return setup->settings->is_dry_run ||
	       kube_mirror_wait(setup->api, &pods, is_none, NULL, LONGEST_WAIT, NULL) == 0;
}

/* Installing. */

static struct kube_request request_about(enum kube_verb verb, const struct json *object)
{
	const struct json *metadata = json_get(object, "metadata");

	return (struct kube_request){verb, kube_resource_of(object),
				     json_get_string(metadata, "namespace", NULL),
				     json_get_string(metadata, "name", NULL)};
}

static bool is_setup_object_wanted(const struct json *wanted, const struct kube_resource *resource,
				   const struct json *object)
{
	const struct json *its = json_get(object, "metadata");

	for (size_t i = 0; i < json_count(wanted); i++) {
		const struct json *metadata = json_get(json_at(wanted, i), "metadata");

		if (kube_resource_of(json_at(wanted, i)) == resource &&
		    json_equals(json_get(metadata, "name"), json_get(its, "name")) &&
		    json_equals(json_get(metadata, "namespace"), json_get(its, "namespace")))
			return true;
	}
	return false;
}

static int remove_object(struct operator_setup *setup, const struct kube_resource *resource,
			 const struct json *object, struct err *err)
{
	struct kube_request request = request_about(KUBE_DELETE, object);

	request.resource = resource;
	return operator_setup_change(setup, &request, "deleted", err);
}

/* Deletes permissions of an earlier install that are not wanted now. */
static int remove_rights(struct operator_setup *setup, const struct json *wanted, struct err *err)
{
	static const struct kube_resource *const kinds[] = {
		&kube_cluster_role_bindings, &kube_role_bindings, &kube_cluster_roles, &kube_roles};
	int rc = 0;

	for (size_t kind = 0; kind < ARRAY_LEN(kinds) && rc == 0; kind++) {
		struct json *items CLEANUP(json_cleanup) = NULL;

		rc = operator_setup_list(setup, kinds[kind], DEPLOYMENT_SELECTOR, &items, err);
		for (size_t i = 0; i < json_count(items) && rc == 0; i++)
			if (!is_setup_object_wanted(wanted, kinds[kind], json_at(items, i)))
				rc = remove_object(setup, kinds[kind], json_at(items, i), err);
	}
	return rc;
}

static int64_t number_at(const struct json *object, const char *key)
{
	return json_as_integer(json_get(object, key), 0);
}

static bool is_available(const struct kube_mirror *mirror, void *data)
{
	const void *place = NULL;
	const struct json *deployment = mirror_table_next(&mirror->table, &place);
	const struct json *status = json_get(deployment, "status");
	int64_t replicas = number_at(json_get(deployment, "spec"), "replicas");

	(void) data;
	return deployment &&
	       number_at(status, "observedGeneration") >=
		       number_at(json_get(deployment, "metadata"), "generation") &&
	       number_at(status, "updatedReplicas") >= replicas &&
	       number_at(status, "availableReplicas") >= replicas;
}

static int wait_for_deployment(struct operator_setup *setup, struct err *err)
{
	const struct kube_mirror_settings deployment = {.resource = &kube_deployments,
							.namespace_name = DEPLOYMENT_NAME,
							.object_name = DEPLOYMENT_NAME};

	if (setup->settings->is_dry_run || !setup->settings->is_waiting)
		return 0;
	if (kube_mirror_wait(setup->api, &deployment, is_available, NULL, LONGEST_WAIT, NULL) < 0)
		return err_set(err, ERR_UNREACHABLE,
			       "the operator is installed, but its Pods are not running after 5 "
			       "minutes; to see why: kubectl -n " DEPLOYMENT_NAME " describe pods");
	operator_setup_report(setup, "the operator is running");
	return 0;
}

int operator_setup_install(struct operator_setup *setup, struct err *err)
{
	static const struct kube_parameter parameters[] = {
		{"fieldManager", "muster"}, {"force", "true"}, {0}};
	struct json *objects CLEANUP(json_cleanup) = NULL;
	int rc = deployment_objects(&setup->settings->choice, &objects, err);

	for (size_t i = 0; i < json_count(objects) && rc == 0; i++) {
		struct kube_request request = request_about(KUBE_APPLY, json_at(objects, i));

		request.parameters = parameters;
		request.body = json_at(objects, i);
		rc = operator_setup_change(setup, &request, "applied", err);
	}
	if (rc == 0)
		rc = remove_rights(setup, objects, err);
	return rc < 0 ? rc : wait_for_deployment(setup, err);
}

int operator_install(const struct operator_setup_settings *settings, struct err *err)
{
	struct operator_setup setup CLEANUP(operator_setup_done) = {0};
	int rc = operator_setup_begin(&setup, settings, err);

	if (rc == 0)
		rc = operator_setup_check_namespace(&setup, err);
	return rc < 0 ? rc : operator_setup_install(&setup, err);
}

/* Uninstalling. */

static int check_no_jobs(struct operator_setup *setup, struct err *err)
{
	size_t count = 0;
	int rc = operator_setup_count(setup, &kube_tfjobs, &count, err);

	if (rc < 0 || count == 0)
		return rc;
	return err_set(err, ERR_REFUSED,
		       "%zu TFJob%s would be deleted with the definition; delete them first, or "
		       "omit --with-crd",
		       count, count > 1 ? "s" : "");
}

static int wait_for_its_end(struct operator_setup *setup, struct err *err)
{
	if (!setup->settings->is_waiting ||
	    operator_setup_wait_for_end(setup, DEPLOYMENT_NAME,
					"app.kubernetes.io/name=" DEPLOYMENT_NAME))
		return 0;
	return err_set(err, ERR_UNREACHABLE,
		       "its Pods in namespace '" DEPLOYMENT_NAME
		       "' do not stop, so their permissions were kept; run the command again when "
		       "the Pods are deleted");
}

/* The last object first: the operator ends before its permissions, and can release its Lease. */
static int remove_objects(struct operator_setup *setup, const struct json *objects, struct err *err)
{
	bool takes_definition = setup->settings->takes_definition;
	int rc = 0;

	for (size_t i = json_count(objects); i-- > 0 && rc == 0;) {
		const struct json *object = json_at(objects, i);
		const struct kube_resource *resource = kube_resource_of(object);

		if (resource != &kube_definitions || takes_definition)
			rc = remove_object(setup, resource, object, err);
		if (rc == 0 && resource == &kube_deployments)
			rc = wait_for_its_end(setup, err);
	}
	if (rc == 0 && !takes_definition)
		operator_setup_report(setup, "the definition of TFJobs and all jobs are kept");
	return rc;
}

int operator_uninstall(const struct operator_setup_settings *settings, struct err *err)
{
	struct operator_setup setup CLEANUP(operator_setup_done) = {0};
	struct json *objects CLEANUP(json_cleanup) = NULL;
	int rc = operator_setup_begin(&setup, settings, err);

	if (rc == 0 && settings->takes_definition)
		rc = check_no_jobs(&setup, err);
	if (rc == 0)
		rc = deployment_objects(&settings->choice, &objects, err);
	if (rc == 0)
		rc = remove_objects(&setup, objects, err);
	return rc < 0 ? rc : remove_rights(&setup, NULL, err);
}
