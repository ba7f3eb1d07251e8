/* Calls that their caller waits for: for what cannot go on before the answer is there. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/own.h"
#include "io/loop.h"
#include "kube/api.h"

/* Makes the call and runs the loop, which is the one that the API was made with and is not running,
 * until it has ended. *ret_object, which may be NULL, is the answer: the caller frees it. Errors as
 * kube/api.h; ERR_UNREACHABLE too when somebody stopped the loop before (a signal): then nobody
 * knows what the server did. */
int kube_wait(struct loop *loop, struct kube_api *api, const struct kube_request *request,
	      struct json **ret_object, struct err *err) MUST_USE;

struct kube_answer {
	struct json *object; /* NULL: none, as after an error; the caller frees it */
	struct err err; /* with code 0 when the call succeeded */
	int http_code; /* 0: there was no answer */
};

/* The same for `count` calls that are started all at once; answers[i] is that of requests[i]. */
void kube_wait_all(struct loop *loop, struct kube_api *api, const struct kube_request *requests,
		   size_t count, struct kube_answer *answers);
/* The first error among them, which it gives with its code; 0 when there is none. */
int kube_answers_error(const struct kube_answer *answers, size_t count, struct err *err) MUST_USE;
/* Frees the list and what is in it; NULL is fine. */
void kube_answers_free(struct kube_answer *answers, size_t count);
