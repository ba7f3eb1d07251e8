/* One review for each right, all under way together; what is missing becomes one sentence. */
#include "kube/rights.h"

#include "base/mem.h"
#include "base/text.h"

#include <stdlib.h>

static const struct kube_resource reviews = {"authorization.k8s.io", "v1",
					     "selfsubjectaccessreviews", true};

struct check {
	struct loop *loop;
	size_t n_open; /* reviews without an answer */
	struct err err; /* the first that was told */
};

struct review {
	struct check *check;
	bool *is_missing;
};

static struct json *review_new(const char *namespace_name, const struct kube_right *right)
{
	struct json *review = json_new_object();
	struct json *what = json_object_at(json_object_at(review, "spec"), "resourceAttributes");

	json_set_string(review, "apiVersion", "authorization.k8s.io/v1");
	json_set_string(review, "kind", "SelfSubjectAccessReview");
	json_set_string(what, "namespace", namespace_name);
	json_set_string(what, "verb", kube_verb_word(right->verb));
	json_set_string(what, "group", right->resource->group);
	json_set_string(what, "version", right->resource->version);
	json_set_string(what, "resource", right->resource->plural);
	if (right->subresource)
		json_set_string(what, "subresource", right->subresource);
	return review;
}

/* A user who may not ask, or asks in vain, finds out by trying. */
static bool is_trouble(const struct kube_status *status, const struct err *err)
{
	return err && (status->code == 401 || !status->code);
}

static void on_reviewed(struct json *object, const struct kube_status *status,
			const struct err *err, void *data)
{
	struct review *review = data;
	struct check *check = review->check;
	const struct json *allowed = json_get_path(object, "status", "allowed", NULL);

	*review->is_missing = !err && !json_as_bool(allowed, true);
	if (is_trouble(status, err) && !check->err.code)
		check->err = *err;
	if (--check->n_open == 0)
		loop_stop(check->loop);
}

/* Each of the missing rights' words once: `word` gives one of them, to be freed. */
static void add_words(struct text *text, const struct kube_right *rights, const bool *is_missing,
		      size_t n_rights, char *(*word)(const struct kube_right *) )
{
	const char *before = "";

	for (size_t i = 0; i < n_rights; i++) {
		char *mine CLEANUP(mem_free_text) = word(&rights[i]);
		bool is_new = is_missing[i];

		for (size_t j = 0; j < i && is_new; j++) {
			char *its CLEANUP(mem_free_text) = word(&rights[j]);

			is_new = !is_missing[j] || !text_equals(its, mine);
		}
		if (is_new) {
			text_addf(text, "%s\"%s\"", before, mine);
			before = ", ";
		}
	}
}

static char *group_word(const struct kube_right *right)
{
	return mem_copy_text(right->resource->group);
}

static char *resource_word(const struct kube_right *right)
{
	return right->subresource ? mem_format("%s/%s", right->resource->plural, right->subresource)
				  : mem_copy_text(right->resource->plural);
}

static char *verb_word(const struct kube_right *right)
{
	return mem_copy_text(kube_verb_word(right->verb));
}

/* One rule for all that is missing, though it may allow a verb more for one of the kinds: five that
 * are exact would be a page. */
static void add_rule(struct text *text, const struct kube_right *rights, const bool *is_missing,
		     size_t n_rights)
{
	text_add(text, "{apiGroups: [");
	add_words(text, rights, is_missing, n_rights, group_word);
	text_add(text, "], resources: [");
	add_words(text, rights, is_missing, n_rights, resource_word);
	text_add(text, "], verbs: [");
	add_words(text, rights, is_missing, n_rights, verb_word);
	text_add(text, "]}");
}

int kube_rights_refuse(const char *namespace_name, const struct kube_right *rights,
		       const bool *is_missing, size_t n_rights, struct err *err)
{
	struct text text CLEANUP(text_done) = {0};
	size_t first = 0;

	while (!is_missing[first])
		first++;
	char *resource CLEANUP(mem_free_text) = resource_word(&rights[first]);

	text_addf(&text,
		  "cannot %s %s in namespace '%s': the login has no right to; a Role there needs "
		  "the rule ",
		  kube_verb_word(rights[first].verb), resource, namespace_name);
	add_rule(&text, rights, is_missing, n_rights);
	return err_set(err, ERR_REFUSED, "%s", text_of(&text));
}

int kube_rights_check(struct loop *loop, struct kube_api *api, const char *namespace_name,
		      const struct kube_right *rights, size_t n_rights, struct err *err)
{
	struct check check = {.loop = loop, .n_open = n_rights};
	struct review *list CLEANUP(mem_free_any) = mem_new_array(n_rights, sizeof(*list));
	bool *is_missing CLEANUP(mem_free_any) = mem_new_array(n_rights, sizeof(*is_missing));

	for (size_t i = 0; i < n_rights; i++) {
		struct json *body CLEANUP(json_cleanup) = review_new(namespace_name, &rights[i]);
		const struct kube_request request = {
			.verb = KUBE_CREATE, .resource = &reviews, .body = body};

		list[i] = (struct review){&check, &is_missing[i]};
		kube_call_new(api, &request, on_reviewed, &list[i]);
	}
	loop_run(loop);
	if (check.err.code)
		return err_copy(err, &check.err);
	for (size_t i = 0; i < n_rights; i++)
		if (is_missing[i])
			return kube_rights_refuse(namespace_name, rights, is_missing, n_rights,
						  err);
	return 0;
}
