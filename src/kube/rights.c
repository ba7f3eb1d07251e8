/* One review for each permission, all at the same time. The missing ones become one sentence. */
#include "kube/rights.h"

#include "kube/wait.h"

static const struct kube_resource reviews = {"authorization.k8s.io", "v1",
					     "selfsubjectaccessreviews", true};

static struct json *review_new(const char *namespace_name, const struct kube_right *right)
{
	struct json *review = json_new_texts("apiVersion", "authorization.k8s.io/v1", "kind",
					     "SelfSubjectAccessReview", NULL);
	const struct kube_resource *resource = right->resource;

	json_set(json_object_at(review, "spec"), "resourceAttributes",
		 json_new_texts("namespace", namespace_name, "verb", kube_verbs[right->verb].word,
				"group", resource->group, "version", resource->version, "resource",
				resource->plural, "subresource", right->subresource, NULL));
	return review;
}

static char *resource_word(const struct kube_right *right)
{
	return right->subresource ? mem_format("%s/%s", right->resource->plural, right->subresource)
				  : mem_copy_text(right->resource->plural);
}

static void add_word_once(struct text *list, const char *word)
{
	char *quoted CLEANUP(mem_free_text) = mem_format("\"%s\"", word);

	if (!strstr(text_of(list), quoted))
		text_addf(list, "%s%s", list->len ? ", " : "", quoted);
}

/* One rule for all missing permissions, although it may allow an extra verb for a kind: five exact
 * rules would fill a page. */
static void add_rule(struct text *text, const struct kube_right *rights, const bool *is_missing,
		     size_t n_rights)
{
	struct text groups CLEANUP(text_done) = {0}, resources CLEANUP(text_done) = {0};
	struct text verbs CLEANUP(text_done) = {0};

	for (size_t i = 0; i < n_rights; i++) {
		char *resource CLEANUP(mem_free_text) = resource_word(&rights[i]);

		if (!is_missing[i])
			continue;
		add_word_once(&groups, rights[i].resource->group);
		add_word_once(&resources, resource);
		add_word_once(&verbs, kube_verbs[rights[i].verb].word);
	}
	text_addf(text, "{apiGroups: [%s], resources: [%s], verbs: [%s]}", text_of(&groups),
		  text_of(&resources), text_of(&verbs));
}

int kube_rights_refuse(const char *namespace_name, const struct kube_right *rights,
		       const bool *is_missing, size_t n_rights, struct err *err)
{
	struct text text CLEANUP(text_done) = {0};
	const char *way_out = NULL;
	size_t first = 0;

	while (!is_missing[first])
		first++;
	char *resource CLEANUP(mem_free_text) = resource_word(&rights[first]);

	text_addf(&text,
		  "cannot %s %s in namespace '%s': permission denied; add this rule to a Role "
		  "there: ",
		  kube_verbs[rights[first].verb].word, resource, namespace_name);
	add_rule(&text, rights, is_missing, n_rights);
	for (size_t i = 0; i < n_rights && !way_out; i++)
		way_out = is_missing[i] ? rights[i].way_out : NULL;
	return err_set(err, ERR_REFUSED, "%s%s%s", text_of(&text), way_out ? "; " : "",
		       way_out ? way_out : "");
}

static int check_rights_answers(const char *namespace_name, const struct kube_right *rights,
				size_t n_rights, const struct kube_answer *answers, struct err *err)
{
	bool *is_missing CLEANUP(mem_free_any) = mem_new_array(n_rights, sizeof(*is_missing));
	bool is_any_missing = false;

	for (size_t i = 0; i < n_rights; i++) {
		const struct json *allowed =
			json_get_path(answers[i].object, "status", "allowed", NULL);

		/* A user who may not ask, or gets no answer, finds out with the real request. */
		if (answers[i].err.code && (answers[i].http_code == 401 || !answers[i].http_code))
			return err_copy(err, &answers[i].err);
		is_missing[i] = !answers[i].err.code && !json_as_bool(allowed, true);
		is_any_missing |= is_missing[i];
	}
	return is_any_missing
		       ? kube_rights_refuse(namespace_name, rights, is_missing, n_rights, err)
		       : 0;
}

int kube_rights_check(struct kube_api *api, const char *namespace_name,
		      const struct kube_right *rights, size_t n_rights,
		      const struct kube_request *beside, struct json **ret_object, struct err *err)
{
	size_t count = n_rights + (beside ? 1 : 0);
	struct json *bodies CLEANUP(json_cleanup) = json_new_array();
	struct kube_request *requests CLEANUP(mem_free_any) =
		mem_new_array(count, sizeof(*requests));
	struct kube_answer *answers = mem_new_array(count, sizeof(*answers));

	for (size_t i = 0; i < n_rights; i++) {
		json_append(bodies, review_new(namespace_name, &rights[i]));
		requests[i] = (struct kube_request){
			.verb = KUBE_CREATE, .resource = &reviews, .body = json_at(bodies, i)};
	}
	if (beside)
		requests[n_rights] = *beside;
	kube_wait_all(api, requests, count, answers);
	int rc = check_rights_answers(namespace_name, rights, n_rights, answers, err);

	if (rc == 0)
		rc = kube_answers_error(answers + n_rights, count - n_rights, err);
	if (rc == 0 && beside)
		*ret_object = TAKE(answers[n_rights].object);
	kube_answers_free(answers, count);
	return rc;
}
