/* Requests that block the caller until their answer has arrived. */
#pragma once

#include "base/json.h"
#include "kube/api.h"

/* Makes the request and runs the API's loop, which must not be running, until it has ended.
 * *ret_object, which may be NULL, is the answer; the caller frees it. Errors as in kube/api.h.
 * ERR_UNREACHABLE also if a callback stopped the loop (a signal): then the request may or may not
 * have taken effect. */
int kube_wait(struct kube_api *api, const struct kube_request *request, struct json **ret_object,
	      struct err *err) MUST_USE;

struct kube_answer {
	struct json *object; /* NULL after an error, or if there is none; the caller frees it */
	struct err err; /* its code is 0 on success */
	int http_code; /* 0: no answer */
};

/* The same for `count` requests at the same time; answers[i] belongs to requests[i]. */
void kube_wait_all(struct kube_api *api, const struct kube_request *requests, size_t count,
		   struct kube_answer *answers);
/* Copies the first error to `err` and returns its code; 0: no error. */
int kube_answers_error(const struct kube_answer *answers, size_t count, struct err *err) MUST_USE;
/* Frees the array and its objects. NULL is fine. */
void kube_answers_free(struct kube_answer *answers, size_t count);
/* For deletions: all are tried, then the first error is returned. An object that does not exist, or
 * was replaced by another one of its name, is no error. */
int kube_wait_deleted(struct kube_api *api, const struct kube_request *deletions, size_t count,
		      struct err *err) MUST_USE;
