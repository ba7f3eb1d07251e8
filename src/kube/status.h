/* What an API server says in the place of an object: a Status with a reason, and what follows. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/msec.h"
#include "base/own.h"
#include "kube/refusal.h"
#include "kube/request.h"

#define KUBE_REASON_SIZE 64

struct kube_status {
	int code; /* of HTTP; 0: there was no answer */
	char reason[KUBE_REASON_SIZE]; /* "NotFound" …; "" when the server does not say */
	enum kube_refusal refusal;
	msec retry_after; /* how long it asks to wait; -1: it does not say */
};

/* Reads the body of an answer that is no success; whatever it is, it becomes an error:
 * ERR_NOT_FOUND 404; ERR_EXISTS and ERR_CONFLICT 409, by reason; ERR_REFUSED 401 and 403;
 * ERR_INVALID 400 and 422; ERR_LIMIT 413; ERR_UNSUPPORTED 405, 406, 415; ERR_CONFLICT 410 (the
 * version that was asked for is no longer kept); ERR_UNREACHABLE 429 and all of 5xx. For a right
 * that is missing the sentence names the RBAC rule to add. Returns the error's code. */
int kube_status_read(const struct kube_request *request, const char *own_namespace, int http_code,
		     const char *body, size_t len, struct kube_status *ret_status, struct err *err);

/* The same of a Status object that is read already, as in a watch. `http_code` counts where the
 * object has no code. */
int kube_status_of(const struct kube_request *request, const char *own_namespace, int http_code,
		   const struct json *object, struct kube_status *ret_status, struct err *err);
