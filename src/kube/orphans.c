/* One list of each kind, then one request for each object, all at the same time. */
#include "kube/orphans.h"

#include "kube/objects.h"
#include "kube/pages.h"
#include "kube/wait.h"
#include "spec/job_files.h"

/* The orphans of one kind. */
struct finding {
	struct kube_orphans *orphans;
	const struct kube_resource *resource;
	const char *owner_name;
	size_t n_before; /* found of other kinds */
};

static void drop_orphans_beyond(struct kube_orphans *orphans, size_t count)
{
	while (orphans->count > count) {
		orphans->count--;
		free(orphans->list[orphans->count].name);
		free(orphans->list[orphans->count].uid);
	}
}

void kube_orphans_done(struct kube_orphans *orphans)
{
	drop_orphans_beyond(orphans, 0);
	free(orphans->list);
}

static void on_orphan_list_restart(void *data)
{
	const struct finding *finding = data;

	drop_orphans_beyond(finding->orphans, finding->n_before);
}

static void on_orphan_candidate(const struct json *item, void *data)
{
	const struct finding *finding = data;
	struct kube_orphans *orphans = finding->orphans;
	const struct json *metadata = json_get(item, "metadata");
	const char *name = json_get_string(metadata, "name", NULL);
	const char *uid = json_get_string(metadata, "uid", NULL);

	bool is_owner =
		finding->resource == &kube_config_maps && text_equals(name, finding->owner_name);

	if (!name || !uid || json_count(json_get(metadata, "ownerReferences")) > 0 || is_owner)
		return;
	mem_grow(&orphans->list, &orphans->capacity, orphans->count, sizeof(*orphans->list));
	orphans->list[orphans->count++] = (struct kube_orphan){
		.resource = finding->resource,
		.name = mem_copy_text(name),
		.uid = mem_copy_text(uid),
	};
}

static int find_kind(const struct kube_resource *resource, struct kube_orphans *orphans,
		     struct err *err)
{
	char *owner_name CLEANUP(mem_free_text) = objects_owner_name(orphans->job_name);
	char *selector CLEANUP(mem_free_text) = objects_selector(orphans->job_name);
	const struct kube_parameter labels[] = {{"labelSelector", selector}, {0}};
	const struct kube_request request = {KUBE_LIST, resource, orphans->namespace_name,
					     .parameters = labels};
	struct finding finding = {orphans, resource, owner_name, orphans->count};

	return kube_pages_wait(orphans->api, &request, on_orphan_list_restart, on_orphan_candidate,
			       &finding, err);
}

int kube_orphans_find(struct kube_orphans *orphans, struct err *err)
{
	const struct kube_resource *const kinds[] = {&kube_pods, &kube_services,
						     &kube_network_policies, &kube_config_maps,
						     &kube_leases};

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		struct err own = {0};
		int rc = find_kind(kinds[i], orphans, &own);

		if (rc < 0 && rc != ERR_REFUSED)
			return err_copy(err, &own);
		if (rc < 0 && !orphans->refusal.code)
			orphans->refusal = own;
	}
	return 0;
}

/* A Secret of another job or with an owner (422) is left unchanged. That, or none, is no error. */
static int adopt_secret(struct kube_orphans *orphans, const char *owner_uid, struct err *err)
{
	char *name CLEANUP(mem_free_text) = job_secret_name(orphans->job_name);
	struct json *steps CLEANUP(json_cleanup) = json_new_array();
	const struct kube_request request = {KUBE_JSON_PATCH, &kube_secrets,
					     orphans->namespace_name, name, .body = steps};
	struct err own;

	json_patch_add_step(steps, "test", "/metadata/labels/muster~1job",
			    json_new_string(orphans->job_name));
	json_patch_add_step(steps, "test", "/metadata/ownerReferences", json_new_null());
	json_patch_add_step(steps, "add", "/metadata/ownerReferences",
			    objects_owner_references_new(orphans->job_name, owner_uid));
	int rc = kube_wait(orphans->api, &request, NULL, &own);

	if (rc == 0 || rc == ERR_NOT_FOUND || rc == ERR_INVALID)
		return 0;
	if (rc != ERR_REFUSED)
		return err_copy(err, &own);
	if (!orphans->refusal.code)
		orphans->refusal = own;
	return 0;
}

int kube_orphans_delete(struct kube_orphans *orphans, const char *owner_uid, struct err *err)
{
	size_t count = orphans->count;
	struct kube_request *requests CLEANUP(mem_free_any) =
		mem_new_array(count, sizeof(*requests));
	struct kube_answer *answers = mem_new_array(count, sizeof(*answers));

	for (size_t i = 0; i < count; i++)
		requests[i] = (struct kube_request){
			KUBE_DELETE, orphans->list[i].resource, orphans->namespace_name,
			orphans->list[i].name,
			.body = kube_delete_options_new(orphans->list[i].uid)};
	kube_wait_all(orphans->api, requests, count, answers);
	for (size_t i = 0; i < count; i++) {
		int code = answers[i].err.code;

		/* An object that does not exist, or was replaced, is no error. */
		if (code == ERR_NOT_FOUND || code == ERR_CONFLICT)
			answers[i].err.code = 0;
		json_free((struct json *) requests[i].body);
	}
	int rc = kube_answers_error(answers, count, err);

	kube_answers_free(answers, count);
	return rc == 0 && orphans->has_secret ? adopt_secret(orphans, owner_uid, err) : rc;
}
