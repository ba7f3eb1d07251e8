/* Replaces training-operator 1.9 (its manifests): how it is recognized, and which parts must be
 * removed. Its Deployment, permissions and the webhook entries of other kinds stay, so that going
 * back is easy. */
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "operator/setup.h"

#define OLD_SELECTOR "control-plane=kubeflow-training-operator"
#define OLD_WEBHOOK "validator.tfjob.training-operator.kubeflow.org"

/* Its other kinds. */

static const struct other_kind {
	const char *kind;
	struct kube_resource resource;
} other_kinds[] = {
	{"PyTorchJob", {"kubeflow.org", "v1", "pytorchjobs", false}},
	{"MPIJob", {"kubeflow.org", "v1", "mpijobs", false}},
	{"XGBoostJob", {"kubeflow.org", "v1", "xgboostjobs", false}},
	{"PaddleJob", {"kubeflow.org", "v1", "paddlejobs", false}},
	{"JAXJob", {"kubeflow.org", "v1", "jaxjobs", false}},
};

static int check_other_kinds(struct operator_setup *setup, struct err *err)
{
	struct text told CLEANUP(text_done) = {0};

	for (size_t i = 0; i < ARRAY_LEN(other_kinds); i++) {
		size_t count = 0;
		int rc = operator_setup_count(setup, &other_kinds[i].resource, &count, err);

		if (rc < 0)
			return rc;
		if (count > 0)
			text_addf(&told, "%s%zu %s%s", told.len ? ", " : "", count,
				  other_kinds[i].kind, count > 1 ? "s" : "");
	}
	if (told.len == 0)
		return 0;
	char *sentence CLEANUP(mem_free_text) = mem_format(
		"training-operator also manages other kinds, which would have no operator: %s",
		text_of(&told));

	return operator_setup_object_to(
		setup, sentence,
		"use --force to leave them without one, or keep it running with --enable-scheme "
		"for each of them, delete its webhook " OLD_WEBHOOK
		", and run 'muster operator install'",
		err);
}

/* Its Deployment. */

static int wait_for_its_end(struct operator_setup *setup, const char *name_space, struct err *err)
{
	if (operator_setup_wait_for_end(setup, name_space, OLD_SELECTOR))
		return 0;
	return err_set(
		err, ERR_UNREACHABLE,
		"Pods of training-operator in namespace '%s' do not stop; two operators must not "
		"act, so nothing more was done; run the command again when the Pods are deleted, "
		"or, if they are not training-operator's, with --skip-namespace %s",
		name_space, name_space);
}

/* Any user may give a Deployment the label. */
static bool is_skipped(const struct operator_setup_settings *settings, const char *name_space)
{
	for (size_t i = 0; i < settings->n_skipped_namespaces; i++)
		if (text_equals(settings->skipped_namespaces[i], name_space))
			return true;
	return false;
}

static int scale_down(struct operator_setup *setup, const struct json *deployment, struct err *err)
{
	const struct json *metadata = json_get(deployment, "metadata");
	const char *name_space = json_get_string(metadata, "namespace", "");
	struct json *patch CLEANUP(json_cleanup) = json_new_object();
	const struct kube_request request = {KUBE_PATCH, &kube_deployments, name_space,
					     json_get_string(metadata, "name", ""), .body = patch};

	if (is_skipped(setup->settings, name_space)) {
		operator_setup_report(setup, "deployments '%s' of namespace %s skipped",
				      request.name, name_space);
		return 0;
	}
	json_set_integer(json_object_at(patch, "spec"), "replicas", 0);
	int rc = operator_setup_change(setup, &request, "scaled to 0", err);

	return rc < 0 ? rc : wait_for_its_end(setup, name_space, err);
}

static int end_old_operator(struct operator_setup *setup, struct err *err)
{
	struct json *items CLEANUP(json_cleanup) = NULL;
	int rc = operator_setup_list(setup, &kube_deployments, OLD_SELECTOR, &items, err);

	if (rc == 0 && json_count(items) == 0) /* its webhook may have been left over */
		setup->settings->warn("no Deployment on this cluster has the label " OLD_SELECTOR
				      ": training-operator is not installed, or is already deleted",
				      setup->settings->data);
	for (size_t i = 0; i < json_count(items) && rc == 0; i++)
		rc = scale_down(setup, json_at(items, i), err);
	return rc;
}

/* Its webhook, which would reject every new TFJob without its server. */

/* If another client has changed the list since, nothing is done. */
static int remove_entry(struct operator_setup *setup, const struct json *configuration,
			size_t place, struct err *err)
{
	struct json *steps CLEANUP(json_cleanup) = json_new_array();
	char *path CLEANUP(mem_free_text) = mem_format("/webhooks/%zu", place);
	char *name_path CLEANUP(mem_free_text) = mem_format("%s/name", path);
	const struct json *metadata = json_get(configuration, "metadata");
	const struct kube_request request = {
		.verb = KUBE_JSON_PATCH,
		.resource = &kube_validating_webhooks,
		.name = json_get_string(metadata, "name", ""),
		.body = steps,
	};

	json_patch_add_step(steps, "test", name_path, json_new_string(OLD_WEBHOOK));
	json_patch_add_step(steps, "remove", path, NULL);
	return operator_setup_change(setup, &request, "without its entry of TFJobs", err);
}

static int end_old_webhook(struct operator_setup *setup, struct err *err)
{
	struct json *items CLEANUP(json_cleanup) = NULL;
	int rc = operator_setup_list(setup, &kube_validating_webhooks, NULL, &items, err);

	for (size_t i = 0; i < json_count(items) && rc == 0; i++) {
		const struct json *item = json_at(items, i), *entries = json_get(item, "webhooks");

		for (size_t k = json_count(entries); k-- > 0 && rc == 0;)
			if (text_equals(json_get_string(json_at(entries, k), "name", ""),
					OLD_WEBHOOK))
				rc = remove_entry(setup, item, k, err);
	}
	return rc;
}

int operator_upgrade(const struct operator_setup_settings *settings, struct err *err)
{
	struct operator_setup setup CLEANUP(operator_setup_done) = {0};
	int rc = operator_setup_begin(&setup, settings, err);

	if (rc == 0)
		rc = operator_setup_check_namespace(&setup, err);
	if (rc == 0)
		rc = check_other_kinds(&setup, err);
	if (rc == 0)
		rc = end_old_operator(&setup, err);
	if (rc == 0)
		rc = end_old_webhook(&setup, err);
	return rc < 0 ? rc : operator_setup_install(&setup, err);
}
