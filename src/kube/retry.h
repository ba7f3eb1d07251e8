/* Whether a call that failed is made again, and how. Pure; client-go's rules, and one more: what
 * may have been created is looked for before it is created again. A stream that has begun is no
 * call that failed: its caller goes on from where it was. */
#pragma once

#include "base/msec.h"
#include "base/own.h"
#include "kube/request.h"
#include "kube/status.h"

#include <stdbool.h>

#define KUBE_TRIES 10 /* of a call whose server asks to wait; as client-go */
/* Of a call whose server only fails; a create is looked for once more. */
#define KUBE_BLIND_TRIES 3

enum kube_retry_action {
	KUBE_GIVE_UP,
	KUBE_TRY_AGAIN, /* after `wait` */
	KUBE_LOOK_FIRST, /* after `wait`: it may have been done; read the object by its name */
	KUBE_REFRESH, /* renew the credential, then try again at once */
	KUBE_WAS_DONE, /* by an earlier try, whose answer was lost: it succeeded */
};

struct kube_retry {
	enum kube_retry_action action;
	msec wait;
};

/* How a try ended. */
struct kube_outcome {
	enum kube_verb verb;
	bool has_name; /* the object could be read by its name */
	bool is_question; /* a create that keeps nothing (kube_request_is_question) */
	bool is_relayed; /* what failed is not the server (kube/request.h) */
	int n_tries; /* with the one that ended */
	int n_failures; /* those of them that the server did not ask to wait after; of looks, when
			   it was one */
	bool was_refreshed, can_refresh;
	bool is_lost; /* no answer, but the request may have arrived */
	bool was_lost; /* the same of an earlier try, which may have been done */
	struct kube_status status; /* code 0: no answer */
};

/* Whether a server that answers so only asks to wait. */
bool kube_asks_to_wait(const struct kube_status *status);
/* `jitter` is a random number from 0 to 1. */
struct kube_retry kube_retry_decide(const struct kube_outcome *outcome, double jitter);
