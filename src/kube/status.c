/* apimachinery's meta/v1 Status: code, reason, message, details.retryAfterSeconds. */
#include "kube/status.h"

#include "base/mem.h"
#include "http/client.h"

#include <stdio.h>

#define LONGEST_MESSAGE 300
#define MOST_TOLD 100 /* warnings, so that a server cannot fill our memory */

/* Controllers create these in a namespace a moment after its creation. */
static bool is_about_to_be_there(const char *message)
{
	static const char *const words[] = {"error looking up service account",
					    "no API token found for service account",
					    "status unknown for quota"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strstr(message, words[i]))
			return true;
	return false;
}

static enum kube_refusal forbidden(const char *message)
{
	/* The authorizer's words only: no RBAC rule helps against a 403 of quotas or admission. */
	if (strstr(message, " cannot ") && strstr(message, " resource "))
		return KUBE_REFUSED_RIGHT;
	if (strstr(message, "exceeded quota"))
		return KUBE_REFUSED_QUOTA;
	return is_about_to_be_there(message) ? KUBE_REFUSED_FOR_NOW : KUBE_REFUSED_FOR_EVER;
}

enum kube_refusal kube_refusal_of(int http_code, const char *message)
{
	switch (http_code) {
	case 403:
		return forbidden(message);
	case 400:
	case 404: /* on a create: the namespace is missing */
	case 413:
	case 422:
		return KUBE_REFUSED_FOR_EVER;
	case 409:
		return KUBE_REFUSED_FOR_NOW;
	default:
		return KUBE_NOT_REFUSED;
	}
}

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
		     const char *namespace_name)
{
	const struct kube_resource *resource = request->resource;

	text_addf(text,
		  "; add this rule to a %s there: {apiGroups: [\"%s\"], resources: [\"%s%s%s\"], "
		  "verbs: [\"%s\"]}",
		  *namespace_name ? "Role" : "ClusterRole", resource->group, resource->plural,
		  request->subresource ? "/" : "", request->subresource ? request->subresource : "",
		  kube_verbs[request->verb].word);
}

static int set_err(const struct kube_request *request, const char *own_namespace, int http_code,
		   const char *reason, const char *message, struct err *err)
{
	const char *namespace_name = kube_request_namespace(request, own_namespace);
	struct text sentence CLEANUP(text_done) = {0};

	bool says_more = *message && !text_equals(message, "Unauthorized");

	if (http_code == 401) /* the cluster rejects this login for any request */
		return err_set(err, ERR_REFUSED,
			       "authentication failed (401): the token or client certificate is "
			       "invalid or has expired%s%.*s",
			       says_more ? ": " : "", says_more ? LONGEST_MESSAGE : 0, message);
	text_addf(&sentence, "cannot %s ", kube_verbs[request->verb].word);
	kube_request_add_object(&sentence, request);
	if (*namespace_name)
		text_addf(&sentence, " in namespace '%s'", namespace_name);
	if (*message)
		text_addf(&sentence, ": %.*s", LONGEST_MESSAGE, message);
	else
		text_addf(&sentence, ": the server responded with %d", http_code);
	if (kube_refusal_of(http_code, message) == KUBE_REFUSED_RIGHT)
		add_rule(&sentence, request, namespace_name);
	return err_set(err, err_code_of_http(http_code, reason), "%s", text_of(&sentence));
}

static bool is_status(const struct json *object)
{
	return text_equals(json_get_string(object, "kind", NULL), "Status");
}

int kube_status_of(const struct kube_request *request, const char *own_namespace, int http_code,
		   const struct json *object, struct kube_status *ret_status, struct err *err)
{
	const struct json *status = is_status(object) ? object : NULL;
	int64_t code = json_as_integer(json_get(status, "code"), http_code);
	const char *reason = json_get_string(status, "reason", "");
	const char *message = json_get_string(status, "message", "");
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

int kube_status_read(const struct kube_request *request, const char *own_namespace, int http_code,
		     const char *body, size_t len, struct kube_status *ret_status, struct err *err)
{
	struct json *object CLEANUP(json_cleanup) = NULL;
	struct text message CLEANUP(text_done) = {0};

	if (json_read(body, len, &object, NULL) == 0 && is_status(object))
		return kube_status_of(request, own_namespace, http_code, object, ret_status, err);
	/* A body that is not JSON is a proxy's page, or plain text of an overloaded server. */
	if (!len || *body != '<')
		text_add_as_utf8(&message, body, strcspn(body, "\r\n"));
	*ret_status = (struct kube_status){
		.code = http_code,
		.retry_after = -1,
		.refusal = kube_refusal_of(http_code, text_of(&message)),
	};
	return set_err(request, own_namespace, http_code, "", text_of(&message), err);
}

const char *kube_refusal_said(const char *sentence)
{
	const char *behind = strstr(sentence, ": ");

	return behind ? behind + strlen(": ") : sentence;
}

const char *kube_refusal_why(const char *sentence)
{
	static const char *const ends[] = {" is forbidden: ", " is invalid: "};
	const char *behind = kube_refusal_said(sentence);

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		const char *end = strstr(behind, ends[i]);

		if (end)
			return end + strlen(ends[i]);
	}
	return behind;
}

char *kube_warning_text(const char *value)
{
	const char *begin = strchr(value, '"');
	struct text text CLEANUP(text_done) = {0};

	if (!begin)
		return NULL;
	for (const char *byte = begin + 1; *byte && *byte != '"'; byte++) {
		if (*byte == '\\' && byte[1])
			byte++;
		text_add_char(&text, *byte);
	}
	return text.len ? text_take(&text) : NULL;
}

void kube_warnings_take(struct kube_warnings *warnings, const struct http_answer *answer)
{
	const char *value;

	for (size_t i = 0; (value = http_answer_header(answer, "Warning", i)); i++) {
		char *sentence CLEANUP(mem_free_text) = kube_warning_text(value);

		size_t len = warnings->told.len;

		if (!sentence || warnings->n_told == MOST_TOLD)
			continue;
		text_add_line_once(&warnings->told, "%s", sentence);
		if (warnings->told.len == len)
			continue;
		warnings->n_told++;
		if (warnings->fn)
			warnings->fn(sentence, warnings->data);
	}
}

void kube_warnings_done(struct kube_warnings *warnings)
{
	text_done(&warnings->told);
	*warnings = (struct kube_warnings){0};
}
