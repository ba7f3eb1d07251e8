/* What an API server says of a request: the Status of a failed one with its reason, why it rejects
 * an object and whether it may accept it later, and the warnings in its answers.
 *
 * Sources of the words of refusals: apimachinery's status errors; apiserver's plugin/admission
 * (resourcequota, limitranger, podsecurity, namespace/lifecycle, serviceaccount). */
#pragma once

#include "base/json.h"
#include "base/text.h"
#include "kube/login.h"
#include "kube/request.h"

struct http_answer;

enum kube_refusal {
	KUBE_NOT_REFUSED, /* it was created, or no answer came, or a server error */
	KUBE_REFUSED_RIGHT, /* by the authorizer: an RBAC rule is missing */
	KUBE_REFUSED_QUOTA, /* until an object is deleted or the quota is raised */
	KUBE_REFUSED_FOR_NOW, /* for another temporary reason */
	KUBE_REFUSED_FOR_EVER, /* it is invalid, admission rejects it, or its namespace ends */
};

#define KUBE_REASON_SIZE 64

struct kube_status {
	int code; /* HTTP code; 0: no answer */
	char reason[KUBE_REASON_SIZE]; /* "NotFound" …; "" if absent */
	enum kube_refusal refusal;
	msec retry_after; /* how long the server asks to wait; -1: absent */
};

/* Turns the body of an unsuccessful answer into an error, whatever the body is: ERR_NOT_FOUND 404;
 * ERR_EXISTS and ERR_CONFLICT 409, by reason; ERR_REFUSED 401 and 403; ERR_INVALID 400 and 422;
 * ERR_LIMIT 413; ERR_UNSUPPORTED 405, 406, 415; ERR_CONFLICT 410 (the requested version is no
 * longer kept); ERR_UNREACHABLE 429 and all of 5xx. If a permission is missing, the text names the
 * RBAC rule to add. Returns the error's code. */
int kube_status_read(const struct kube_request *request, const char *own_namespace, int http_code,
		     const char *body, size_t len, struct kube_status *ret_status, struct err *err);

/* The same for a parsed Status object, as in a watch. `http_code` counts if it has no code. */
int kube_status_of(const struct kube_request *request, const char *own_namespace, int http_code,
		   const struct json *object, struct kube_status *ret_status, struct err *err);

/* Classifies the code and message of a Status; `message` is not NULL. */
enum kube_refusal kube_refusal_of(int http_code, const char *message);
/* The server's part of the text of an error above. */
const char *kube_refusal_said(const char *sentence);
/* The part of the text that does not name the object: one message can cover many objects. */
const char *kube_refusal_why(const char *sentence);

/* The warnings of a server, each reported once. Zero it to begin; `fn` NULL: only recorded. */
struct kube_warnings {
	kube_warning_fn fn;
	void *data;
	struct text told; /* a line for each */
	size_t n_told;
};

/* Reports the warnings of the answer that were not reported before. */
void kube_warnings_take(struct kube_warnings *warnings, const struct http_answer *answer);
void kube_warnings_done(struct kube_warnings *warnings);
/* The unquoted text of a `Warning` header (`299 - "text"`, RFC 7234); NULL: malformed. Caller
 * frees. */
char *kube_warning_text(const char *value) MUST_USE;
