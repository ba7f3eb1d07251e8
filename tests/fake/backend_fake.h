/* The fake back end: replicas that exist in a table only and do in virtual time what they were told
 * to. Transcripts and simulations use it; the reconciler cannot tell the difference. */
#pragma once

#include "base/msec.h"
#include "base/own.h"
#include "jobs/backend.h"
#include "reconcile/plan.h"

#include <stdbool.h>

/* What an attempt does once it is told to start. Zeroed: runs at once, ends with code 0 at once. */
struct fake_behaviour {
	msec start_takes; /* until it runs; MSEC_NEVER: it never does */
	msec runs_for; /* until it ends by itself; MSEC_NEVER: it does not */
	int exit_code; /* of that end */
	int signal; /* or the signal that it dies of; 0: none */
	const char *reason; /* and the world's word for it ("OOMKilled"), borrowed; NULL: none */
	bool cannot_start; /* fails with the reason StartFailed */
	bool ignores_term; /* but no other signal, as TensorFlow */
	bool ignores_stops; /* of any signal */
	msec term_takes; /* from the signal of a stop to its end */
	bool exits_on_term; /* with code 0 then; otherwise it dies of that signal */
};

struct backend_fake_settings {
	struct backend_traits traits;
	bool forgets_stopped; /* as Kubernetes: what was asked to end is gone when it has ended */
	backend_news_fn on_news; /* may be NULL */
	void *data;
};

/* Habits of the local back end, of the one for Kubernetes, and none at all. */
extern const struct backend_fake_settings backend_fake_like_local;
extern const struct backend_fake_settings backend_fake_without_traits;
extern const struct backend_fake_settings backend_fake_like_kubernetes;
extern const struct backend_fake_settings backend_fake_like_tfjobs; /* under the operator */

struct backend *backend_fake_new(const struct backend_fake_settings *settings, msec now) MUST_USE;

/* For attempts from `attempt` on that start later; what was said last counts. role NULL: every
 * role; index -1: every index. */
void backend_fake_set_behaviour(struct backend *backend, const char *role, int index, int attempt,
				const struct fake_behaviour *behaviour);

/* When something happens next by itself; MSEC_NEVER. */
msec backend_fake_next_event(const struct backend *backend);
/* Virtual time goes on to `now`; what was due happens in its order. */
void backend_fake_advance(struct backend *backend, msec now);

/* From outside: the attempt that lives dies of a signal; is deleted by somebody else, who leaves it
 * `grace`; disappears without a trace. False when none lives. */
bool backend_fake_kill(struct backend *backend, const char *role, int index, int signal);
bool backend_fake_delete(struct backend *backend, const char *role, int index, msec grace);
bool backend_fake_lose(struct backend *backend, const char *role, int index);

/* What those that were to keep their stacks say from now on; NULL: nothing yet. Borrowed. */
void backend_fake_set_stacks(struct backend *backend, const char *line);

/* The wall clock is set by this much, which is observed once. */
void backend_fake_set_clock(struct backend *backend, msec step);

/* The next `count` actions are refused with ERR_IO. */
void backend_fake_refuse(struct backend *backend, int count);
