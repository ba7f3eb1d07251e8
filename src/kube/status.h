/* Reads the API server's answer to a failed request: a Status with a reason. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/msec.h"
#include "base/own.h"
#include "kube/refusal.h"
#include "kube/request.h"

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

/* The same for a parsed Status object, as in a watch. `http_code` is used if the object has no
 * code. */
int kube_status_of(const struct kube_request *request, const char *own_namespace, int http_code,
		   const struct json *object, struct kube_status *ret_status, struct err *err);
