/* Runs one request at a time and one timer; reconcile/lease.h decides which and until when. */
#include "kube/lease_keeper.h"

#include "io/log.h"
#include "kube/objects.h"

static void on_lease_keeper_timer(void *data);

static void handle_lease_call_failed(struct lease_keeper *keeper, const struct err *err)
{
	lease_failed(&keeper->lease, loop_monotonic_now());
	if (keeper->settings.on_trouble)
		keeper->settings.on_trouble(err, keeper->settings.data);
}

static void observe_missing_lease(struct lease_keeper *keeper)
{
	static const struct lease_record missing = {.is_there = false};

	lease_observe(&keeper->lease, &missing, loop_monotonic_now());
}

/* Reads the Lease that a request has returned. False: none; a failed request is handled. */
static bool read_seen_lease(struct lease_keeper *keeper, const struct json *object,
			    const struct err *err)
{
	struct lease_record *record = &keeper->seen.record;
	struct err wrong = {0};

	if (err && err->code == ERR_NOT_FOUND) {
		observe_missing_lease(keeper);
		return false;
	}
	if (!err && kube_lease_read(object, &keeper->seen, &wrong) < 0)
		err = &wrong;
	if (err) {
		handle_lease_call_failed(keeper, err);
		return false;
	}
	/* A holder on this machine shares our wall clock; a paused one does not count as alive. */
	if (record->fate == LEASE_FATE_ALIVE &&
	    loop_now() - keeper->seen.renewed_at > LEASE_DEADLINE)
		record->fate = LEASE_FATE_UNKNOWN;
	return true;
}

static void call_lease(struct lease_keeper *keeper, enum kube_verb verb, struct json *take_body,
		       kube_done_fn done)
{
	struct json *body CLEANUP(json_cleanup) = take_body;
	const struct kube_request request = {verb, &kube_leases,
					     keeper->settings.job ? keeper->settings.job->name_space
								  : keeper->settings.namespace_name,
					     verb == KUBE_CREATE ? NULL : keeper->name,
					     .body = body};

	kube_call_start(&keeper->call, keeper->settings.api, &request, done, keeper);
}

static void on_written(const struct kube_result *result, void *data)
{
	struct lease_keeper *keeper = data;
	const struct err *err = result->err;
	bool had_seen = lease_keeper_has_seen(keeper);

	if (err && (err->code == ERR_CONFLICT || err->code == ERR_EXISTS))
		lease_conflicted(&keeper->lease, loop_monotonic_now());
	else if (read_seen_lease(keeper, result->object, err))
		lease_wrote(&keeper->lease, &keeper->seen.record, loop_monotonic_now());
	on_lease_keeper_timer(keeper);
	if (!had_seen && lease_keeper_has_seen(keeper))
		keeper->settings.on_change(keeper->settings.data);
}

/* Ignores the result for the Lease of an earlier job: the next read shows it. */
static void on_cleared(const struct kube_result *result, void *data)
{
	struct lease_keeper *keeper = data;
	const struct err *err = result->err;

	if (err && err->code != ERR_NOT_FOUND && err->code != ERR_CONFLICT)
		handle_lease_call_failed(keeper, err);
	else
		observe_missing_lease(keeper);
	on_lease_keeper_timer(keeper);
}

static void on_looked(const struct kube_result *result, void *data)
{
	struct lease_keeper *keeper = data;
	const struct kube_lease *seen = &keeper->seen;
	const struct job *job = keeper->settings.job;

	bool is_read = read_seen_lease(keeper, result->object, result->err);

	if (is_read && job && !text_equals(seen->owner_uid, job->uid)) {
		/* Of an earlier job of this name: the cluster deletes it soon. */
		call_lease(keeper, KUBE_DELETE, kube_delete_options_new(seen->uid), on_cleared);
		return;
	}
	if (is_read)
		lease_observe(&keeper->lease, &seen->record, loop_monotonic_now());
	on_lease_keeper_timer(keeper);
}

static void begin_call(struct lease_keeper *keeper)
{
	enum lease_call next = lease_next_call(&keeper->lease, loop_monotonic_now());

	if (next == LEASE_CREATE && keeper->settings.must_exist && !keeper->is_missing) {
		keeper->is_missing = true;
		keeper->settings.on_change(keeper->settings.data);
	}
	if (next == LEASE_NO_CALL || keeper->is_missing)
		return;
	lease_called(&keeper->lease, loop_monotonic_now());
	switch (next) {
	case LEASE_LOOK:
		call_lease(keeper, KUBE_GET, NULL, on_looked);
		break;
	case LEASE_CREATE:
		call_lease(keeper, KUBE_CREATE,
			   kube_lease_new(keeper->name, keeper->settings.job, keeper->holder,
					  loop_now()),
			   on_written);
		break;
	case LEASE_WRITE:
		log_debug("Lease '%s': renewed as %s", keeper->name, keeper->holder);
		call_lease(keeper, KUBE_PATCH,
			   kube_lease_hold(&keeper->seen, keeper->holder, loop_now()), on_written);
		break;
	case LEASE_NO_CALL:
		break;
	}
}

static void finish_lease_keeping(struct lease_keeper *keeper)
{
	keeper->is_done = true;
	loop_timer_arm(keeper->timer, INSTANT_NEVER);
	keeper->settings.on_change(keeper->settings.data);
}

static void on_lease_keeper_timer(void *data)
{
	struct lease_keeper *keeper = data;
	struct err err = {0};

	if (keeper->is_ending) { /* the last request has had its time */
		kube_call_cancel(TAKE(keeper->call));
		finish_lease_keeping(keeper);
		return;
	}
	if (lease_is_call_overdue(&keeper->lease, loop_monotonic_now())) {
		kube_call_cancel(TAKE(keeper->call));
		err_set(&err, ERR_UNREACHABLE, "the cluster does not respond");
		handle_lease_call_failed(keeper, &err);
	}
	begin_call(keeper);
	loop_timer_arm(keeper->timer, lease_wake_at(&keeper->lease, loop_monotonic_now()));
	enum lease_standing standing = lease_keeper_standing(keeper);

	if (standing == keeper->told)
		return;
	keeper->told = standing;
	keeper->settings.on_change(keeper->settings.data);
}

static void on_lease_given_up(const struct kube_result *result, void *data)
{
	struct lease_keeper *keeper = data;

	(void) result;
	finish_lease_keeping(keeper);
}

/* Cancels the request under way. Its possible effect does not matter: the last request names the
 * holder, or the object. */
static void begin_ending(struct lease_keeper *keeper)
{
	keeper->is_ending = true;
	kube_call_cancel(TAKE(keeper->call));
	loop_timer_arm_after(keeper->timer, LEASE_PATIENCE);
}

void lease_keeper_release(struct lease_keeper *keeper)
{
	begin_ending(keeper);
	call_lease(keeper, KUBE_JSON_PATCH, kube_lease_release(keeper->holder), on_lease_given_up);
}

void lease_keeper_remove(struct lease_keeper *keeper)
{
	begin_ending(keeper);
	if (lease_keeper_has_seen(keeper))
		call_lease(keeper, KUBE_DELETE, kube_delete_options_new(keeper->seen.uid),
			   on_lease_given_up);
	else
		loop_timer_arm_after(keeper->timer, 0);
}

bool lease_keeper_has_seen(const struct lease_keeper *keeper)
{
	return keeper->seen.uid[0];
}

enum lease_standing lease_keeper_standing(const struct lease_keeper *keeper)
{
	return lease_standing(&keeper->lease, loop_monotonic_now());
}

char *lease_keeper_supervisor(const struct lease_keeper *keeper)
{
	const char *holder = keeper->seen.record.holder;

	return *holder && !text_equals(holder, keeper->holder) ? lease_holder_describe(holder)
							       : NULL;
}

int lease_keeper_new(const struct lease_keeper_settings *settings, struct lease_keeper **ret_keeper,
		     struct err *err)
{
	char *holder CLEANUP(mem_free_text) = NULL;
	int rc = lease_holder_new(&holder, err);

	if (rc < 0)
		return rc;
	struct lease_keeper *keeper = mem_new(sizeof(*keeper));

	keeper->settings = *settings;
	keeper->holder = TAKE(holder);
	keeper->name = settings->job ? objects_owner_name(settings->job->name)
				     : mem_copy_text(settings->name);
	lease_begin(&keeper->lease, keeper->holder, settings->made_at, loop_monotonic_now());
	keeper->lease.may_be_first = settings->may_be_first;
	keeper->timer = loop_new_timer(settings->api->loop, on_lease_keeper_timer, keeper);
	loop_timer_arm_after(keeper->timer, 0);
	*ret_keeper = keeper;
	return 0;
}

void lease_keeper_free(struct lease_keeper *keeper)
{
	if (!keeper)
		return;
	kube_call_cancel(keeper->call);
	loop_watch_free(keeper->timer);
	free(keeper->holder);
	free(keeper->name);
	free(keeper);
}
