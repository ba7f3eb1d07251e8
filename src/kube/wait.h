/* A call that its caller waits for: for what cannot go on before the answer is there. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/own.h"
#include "io/loop.h"
#include "kube/api.h"

/* Makes the call and runs the loop, which is the one that the API was made with and is not running,
 * until it has ended. *ret_object, which may be NULL, is the answer: the caller frees it. Errors as
 * kube/api.h. */
int kube_wait(struct loop *loop, struct kube_api *api, const struct kube_request *request,
	      struct json **ret_object, struct err *err) MUST_USE;
