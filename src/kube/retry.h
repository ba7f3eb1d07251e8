/* Whether and how a failed request is retried. Pure. The rules are client-go's, plus one: an object
 * that may have been created is searched before it is created again. If the answer to a create or
 * change was lost, another client may have created an object of that name, or changed it first. A
 * stream that has begun does not count as failed: its caller resumes it. */
#pragma once

#include "base/msec.h"
#include "kube/request.h"
#include "kube/status.h"

#include <stdbool.h>

#define KUBE_TRIES 10 /* if the server asks to wait; as client-go */
/* If the server just fails; a create is searched once more. */
#define KUBE_BLIND_TRIES 3

enum kube_retry_action {
	KUBE_GIVE_UP,
	KUBE_TRY_AGAIN, /* after `wait` */
	KUBE_LOOK_FIRST, /* after `wait`: read the object: the request may have succeeded */
	KUBE_REFRESH, /* renew the credential, then retry immediately */
	KUBE_WAS_DONE, /* by an earlier try, whose answer was lost: success */
};

struct kube_retry {
	enum kube_retry_action action;
	msec wait;
};

/* The end of a try. */
struct kube_outcome {
	enum kube_verb verb;
	bool has_name; /* the object can be read by its name */
	bool is_question; /* a create that stores nothing (kube_request_is_question) */
	bool is_relayed; /* the failure is not the server's (kube/request.h) */
	int n_tries; /* including the last one */
	int n_failures; /* tries without a request to wait; of searches, if this was one */
	bool was_refreshed, can_refresh;
	bool is_lost; /* no answer, but the request may have arrived */
	bool was_lost; /* an earlier try got no answer and may have succeeded */
	struct kube_status status; /* code 0: no answer */
};

/* Whether this answer only asks the client to wait. */
bool kube_asks_to_wait(const struct kube_status *status);
/* `jitter` is a random number from 0 to 1. */
struct kube_retry kube_retry_decide(const struct kube_outcome *outcome, double jitter);

/* True if `sent` has labels, annotations or owners, and all of them are in `found`. A server adds
 * to what was sent and removes nothing. */
bool kube_was_created(const struct json *sent, const struct json *found);
/* True if `found` has all values of the merge patch (RFC 7386), regardless of resourceVersion: the
 * patch was applied, or is no longer needed. */
bool kube_was_patched(const struct json *patch, const struct json *found);
