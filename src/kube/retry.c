#include "kube/retry.h"

#include "base/backoff.h"
#include "spec/pod_template.h"

#define SHORTEST_WAIT ((msec) 200)
#define LONGEST_WAIT (60 * MSEC_PER_SECOND) /* caps the wait that a server asks for */
#define LONGEST_BACKOFF (10 * MSEC_PER_SECOND)

bool kube_asks_to_wait(const struct kube_status *status)
{
	return status->code == 429 || (status->code >= 500 && status->retry_after >= 0);
}

/* An earlier try may have caused this answer: its object was deleted, exists or has changed. */
static bool tells_of_earlier_try(const struct kube_outcome *outcome)
{
	const struct kube_status *status = &outcome->status;

	if (!outcome->was_lost || outcome->n_tries >= KUBE_TRIES)
		return false;
	if (outcome->verb == KUBE_DELETE)
		return status->code == 404;
	if (!outcome->has_name)
		return false;
	return outcome->verb == KUBE_CREATE ? text_equals(status->reason, "AlreadyExists")
					    : outcome->verb == KUBE_PATCH && status->code == 409;
}

/* One question after the other; the first "yes" decides. */
struct kube_retry kube_retry_decide(const struct kube_outcome *outcome, double jitter)
{
	const struct kube_status *status = &outcome->status;
	const struct kube_retry give_up = {KUBE_GIVE_UP, 0};
	/* 0.2 s, 0.4 s, 0.8 s …, and up to half as much more. */
	msec back_off = backoff_spread(
		backoff_pause(SHORTEST_WAIT, LONGEST_BACKOFF, outcome->n_tries), 0.5, jitter);
	/* Spread a little, so that clients that got the same wait do not retry at the same time. */
	msec asked = msec_min(status->retry_after, LONGEST_WAIT) +
		     (msec) ((double) SHORTEST_WAIT * jitter);
	bool is_server_fault = outcome->is_lost || status->code >= 500;
	bool is_create = outcome->verb == KUBE_CREATE && !outcome->is_question;

	if (status->code == 401)
		return outcome->can_refresh && !outcome->was_refreshed
			       ? (struct kube_retry){KUBE_REFRESH, 0}
			       : give_up;
	if (tells_of_earlier_try(outcome))
		return (struct kube_retry){
			outcome->verb == KUBE_DELETE ? KUBE_WAS_DONE : KUBE_LOOK_FIRST, 0};
	/* 429 means that nothing was done, so a create is safe to repeat. */
	if (kube_asks_to_wait(status) && (status->code == 429 || !is_create)) {
		if (outcome->n_tries >= KUBE_TRIES)
			return give_up;
		return (struct kube_retry){KUBE_TRY_AGAIN,
					   status->retry_after >= 0 ? asked : back_off};
	}
	bool is_worn_out = outcome->n_tries >= KUBE_TRIES ||
			   (!is_create && outcome->n_failures >= KUBE_BLIND_TRIES);

	/* A JSON patch must not be applied twice. */
	if (!is_server_fault || outcome->verb == KUBE_JSON_PATCH || is_worn_out ||
	    (outcome->is_relayed && status->code) || (is_create && !outcome->has_name))
		return give_up;
	return (struct kube_retry){is_create ? KUBE_LOOK_FIRST : KUBE_TRY_AGAIN, back_off};
}

static bool has_owners(const struct json *sent, const struct json *found)
{
	for (size_t i = 0; i < json_count(sent); i++)
		if (!pod_template_find(found, "uid",
				       json_get_string(json_at(sent, i), "uid", NULL)))
			return false;
	return true;
}

static bool is_so(const struct json *patch, const struct json *found)
{
	const char *key = NULL;
	struct json *value;

	if (!json_is(patch, JSON_OBJECT))
		return json_equals(patch, found);
	while (json_next(patch, &key, &value)) {
		const struct json *its = json_get(found, key);

		if (json_is(value, JSON_NULL) ? its != NULL : !is_so(value, its))
			return false;
	}
	return true;
}

bool kube_was_patched(const struct json *patch, const struct json *found)
{
	struct json *wanted CLEANUP(json_cleanup) = json_new_copy(patch);

	if (json_get_path(wanted, "metadata", "resourceVersion", NULL))
		json_remove(json_get(wanted, "metadata"), "resourceVersion");
	return is_so(wanted, found);
}

bool kube_was_created(const struct json *sent, const struct json *found)
{
	static const char *const maps[] = {"labels", "annotations"};
	const struct json *mine = json_get(sent, "metadata");
	const struct json *its = json_get(found, "metadata");
	const struct json *owners = json_get(mine, "ownerReferences");
	size_t n_marks = json_count(owners);

	for (size_t i = 0; i < ARRAY_LEN(maps); i++) {
		const struct json *map = json_get(mine, maps[i]);

		n_marks += json_count(map);
		if (map && !is_so(map, json_get(its, maps[i])))
			return false;
	}
	return n_marks > 0 && has_owners(owners, json_get(its, "ownerReferences"));
}
