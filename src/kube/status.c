/* apimachinery's meta/v1 Status: code, reason, message, details.retryAfterSeconds. */
#include "kube/status.h"

#include "base/text.h"
#include "kube/refusal.h"

#include <stdio.h>
#include <string.h>

#define LONGEST_MESSAGE 300

static enum err_code err_code_of_http(int http_code, const char *reason)
{
	switch (http_code) {
	case 404:
		return ERR_NOT_FOUND;
	case 409:
		return text_equals(reason, "AlreadyExists") ? ERR_EXISTS : ERR_CONFLICT;
	case 410:
		return ERR_CONFLICT;
	case 401:
	case 403:
		return ERR_REFUSED;
	case 413:
		return ERR_LIMIT;
	case 405:
	case 406:
	case 415:
		return ERR_UNSUPPORTED;
	case 429:
		return ERR_UNREACHABLE;
	default:
		return http_code >= 400 && http_code < 500 ? ERR_INVALID : ERR_UNREACHABLE;
	}
}

static void add_rule(struct text *text, const struct kube_request *request,
		     const char *own_namespace)
{
	const struct kube_resource *resource = request->resource;
	const char *namespace_name = kube_request_namespace(request, own_namespace);

	text_addf(text,
		  "; add this rule to a %s there: {apiGroups: [\"%s\"], resources: [\"%s%s%s\"], "
		  "verbs: [\"%s\"]}",
		  *namespace_name ? "Role" : "ClusterRole", resource->group, resource->plural,
		  request->subresource ? "/" : "", request->subresource ? request->subresource : "",
		  kube_verb_word(request->verb));
}

static void add_what(struct text *text, const struct kube_request *request,
		     const char *own_namespace)
{
	const char *namespace_name = kube_request_namespace(request, own_namespace);

	text_addf(text, "cannot %s ", kube_verb_word(request->verb));
	kube_request_add_object(text, request);
	if (*namespace_name)
		text_addf(text, " in namespace '%s'", namespace_name);
}

/* Adds the server's message; without one at least the code. */
static void add_why(struct text *text, int http_code, const char *message)
{
	if (*message)
		text_addf(text, "%.*s", LONGEST_MESSAGE, message);
	else
		text_addf(text, "the server responded with %d", http_code);
}

/* The cluster rejects this login for any request. */
static int set_unknown(const char *message, struct err *err)
{
	bool says_more = *message && !text_equals(message, "Unauthorized");

	return err_set(err, ERR_REFUSED,
		       "authentication failed (401): the token or client certificate is invalid or "
		       "has expired%s%.*s",
		       says_more ? ": " : "", says_more ? LONGEST_MESSAGE : 0, message);
}

static int set_err(const struct kube_request *request, const char *own_namespace, int http_code,
		   const char *reason, const char *message, struct err *err)
{
	struct text sentence CLEANUP(text_done) = {0};

	if (http_code == 401)
		return set_unknown(message, err);
	add_what(&sentence, request, own_namespace);
	text_add(&sentence, ": ");
	add_why(&sentence, http_code, message);
	if (kube_refusal_of(http_code, message) == KUBE_REFUSED_RIGHT)
		add_rule(&sentence, request, own_namespace);
	return err_set(err, err_code_of_http(http_code, reason), "%s", text_of(&sentence));
}

static bool is_status(const struct json *object)
{
	return text_equals(json_as_string(json_get(object, "kind"), NULL), "Status");
}

int kube_status_of(const struct kube_request *request, const char *own_namespace, int http_code,
		   const struct json *object, struct kube_status *ret_status, struct err *err)
{
	const struct json *status = is_status(object) ? object : NULL;
	int64_t code = json_as_integer(json_get(status, "code"), http_code);
	const char *reason = json_as_string(json_get(status, "reason"), "");
	const char *message = json_as_string(json_get(status, "message"), "");
	int64_t seconds =
		json_as_integer(json_get_path(status, "details", "retryAfterSeconds", NULL), -1);

	if (code < 100 || code > 599)
		code = http_code;
	ret_status->code = (int) code;
	snprintf(ret_status->reason, sizeof(ret_status->reason), "%s", reason);
	ret_status->retry_after =
		seconds < 0 || seconds > 24 * 3600 ? -1 : (msec) seconds * MSEC_PER_SECOND;
	ret_status->refusal = kube_refusal_of((int) code, message);
	return set_err(request, own_namespace, (int) code, reason, message, err);
}

/* A body that is not JSON is a proxy's page, or plain text of an overloaded server. */
static int parse_status_as_text(const struct kube_request *request, const char *own_namespace,
				int http_code, const char *body, size_t len,
				struct kube_status *ret_status, struct err *err)
{
	struct text message CLEANUP(text_done) = {0};

	*ret_status = (struct kube_status){.code = http_code, .retry_after = -1};
	if (!len || *body != '<') {
		text_add_as_utf8(&message, body, strcspn(body, "\r\n"));
	}
	ret_status->refusal = kube_refusal_of(http_code, text_of(&message));
	return set_err(request, own_namespace, http_code, "", text_of(&message), err);
}

int kube_status_read(const struct kube_request *request, const char *own_namespace, int http_code,
		     const char *body, size_t len, struct kube_status *ret_status, struct err *err)
{
	struct json *object CLEANUP(json_cleanup) = NULL;

	if (json_read(body, len, &object, NULL) < 0 || !is_status(object))
		return parse_status_as_text(request, own_namespace, http_code, body, len,
					    ret_status, err);
	return kube_status_of(request, own_namespace, http_code, object, ret_status, err);
}
