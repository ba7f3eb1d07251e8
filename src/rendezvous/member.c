#include "rendezvous/member.h"

#include "base/backoff.h"

#define FIRST_PAUSE (MSEC_PER_SECOND / 10) /* after the second lost call in a row */
#define LONGEST_PAUSE MSEC_PER_SECOND

void member_begin(struct member *member, const struct member_settings *settings, instant now)
{
	*member = (struct member){
		.settings = *settings,
		.heard_at = now,
		.next_at = now,
		.goes_at = INSTANT_NEVER,
		.report.last_rank = -1,
	};
}

/* The last call, even if it was answered; NULL: none, or it was lost. */
static const struct member_outgoing *newest_call(const struct member *member)
{
	for (size_t i = 0; i < MEMBER_CALLS; i++)
		if (member->n_calls && member->calls[i].number == member->n_calls)
			return &member->calls[i];
	return NULL;
}

/* The next call waits for its time alone. */
static bool may_call(const struct member *member)
{
	const struct member_outgoing *newest = newest_call(member);
	bool has_news = !newest || !member_report_equals(&member->report, &newest->told);
	size_t n_open = 0;

	for (size_t i = 0; i < MEMBER_CALLS; i++)
		n_open += member->calls[i].is_open;
	return member->end == MEMBER_GOES_ON &&
	       (n_open == 0 || (n_open < MEMBER_CALLS && has_news));
}

/* The member was ordered to go and has no workers left: it sends its last call and ends. */
static void leave_when_idle(struct member *member, instant now)
{
	if (member->report.known.order != RENDEZVOUS_GO || member->has_workers ||
	    member->report.has_left)
		return;
	member->report.has_left = true;
	member->next_at = now;
}

int64_t member_wants(const struct member *member)
{
	const struct member_report *report = &member->report;
	bool is_over = report->generation == report->known.generation &&
		       report->activity != MEMBER_AT_WORK;

	if (member->end != MEMBER_GOES_ON || report->known.order != RENDEZVOUS_RUN || is_over)
		return 0;
	return report->known.generation;
}

bool member_may_save(const struct member *member)
{
	const struct member_order *order = &member->report.known;

	if (member->report.activity == MEMBER_HAS_FAILED)
		return false;
	/* The member is leaving, and its server does not know yet. */
	if (order->order == RENDEZVOUS_RUN && order->generation == member->report.generation)
		return true;
	if (order->order == RENDEZVOUS_GO)
		return order->verdict != RENDEZVOUS_FAILED;
	return order->reason == WORLD_GREW || order->reason == WORLD_MEMBER_LEFT ||
	       order->reason == WORLD_RESTART_ASKED || order->reason == WORLD_FORGOTTEN;
}

void member_started(struct member *member, int64_t generation, instant now)
{
	member->report.generation = generation;
	member->report.activity = MEMBER_AT_WORK;
	member->has_workers = true;
	member->next_at = instant_min(member->next_at, now);
}

/* Workers that were asked to stop report no result. */
static void conclude(struct member *member, enum member_activity activity)
{
	bool is_wanted = member_wants(member) == member->report.generation;

	if (member->report.activity == MEMBER_AT_WORK)
		member->report.activity = is_wanted ? activity : MEMBER_IDLE;
}

void member_failed(struct member *member)
{
	conclude(member, MEMBER_HAS_FAILED);
}

bool member_code_asks_restart(int exit_code)
{
	return exit_code == 42 || exit_code == 143;
}

void member_wants_restart(struct member *member)
{
	conclude(member, MEMBER_WANTS_RESTART);
}

void member_explained(struct member *member)
{
	member->report.failure = member->report.generation;
}

void member_progressed(struct member *member, int64_t step)
{
	if (step > member->report.progress)
		member->report.progress = step;
}

void member_ended(struct member *member, bool have_succeeded, instant now)
{
	conclude(member, have_succeeded ? MEMBER_HAS_SUCCEEDED : MEMBER_HAS_FAILED);
	member->has_workers = false;
	member->heard_at = now; /* patience begins now: the last answer may be long ago */
	leave_when_idle(member, now);
}

void member_drain(struct member *member, instant now)
{
	if (member->report.drains)
		return;
	member->report.drains = true;
	member->goes_at = instant_add(now, member->settings.drain_time);
}

/* Calls. */

bool member_is_call_due(const struct member *member, instant now)
{
	return instant_has_come(member->next_at, now) && may_call(member);
}

size_t member_called(struct member *member, instant now)
{
	size_t place = 0;

	while (member->calls[place].is_open)
		place++;
	member->calls[place] = (struct member_outgoing){
		.is_open = true,
		.number = ++member->n_calls,
		.told = member->report,
		.ends = instant_add(now, member->settings.hold + member->settings.answer_time),
	};
	member->calls[place].told.call = member->n_calls;
	return place;
}

static void apply_member_order(struct member *member, const struct member_order *order, instant now)
{
	struct member_report *report = &member->report;

	if (order->order == RENDEZVOUS_GO)
		member->goes_at = INSTANT_NEVER;
	report->known = *order;
	if (order->generation > report->newest)
		report->newest = order->generation;
	/* If a server orders a world whose end was already reported, it has lost the later reports,
	 * and waits for workers that no longer exist. */
	if (report->known.order == RENDEZVOUS_RUN && report->activity == MEMBER_IDLE &&
	    report->known.generation == report->generation)
		report->activity = MEMBER_HAS_FAILED;
	leave_when_idle(member, now);
}

/* An answer without news should have been held for longer, unless another call followed. */
static bool was_hasty(const struct member *member, const struct member_outgoing *call,
		      const struct member_order *order, instant now)
{
	msec left = instant_since(now, call->ends) - member->settings.answer_time;

	return call->number == member->n_calls && member_order_equals(order, &call->told.known) &&
	       left > member->settings.hold / 2;
}

bool member_is_answer_late(const struct member *member, size_t place)
{
	return member->calls[place].number < member->n_answered;
}

void member_answered(struct member *member, size_t place, const struct member_order *order,
		     instant now)
{
	struct member_outgoing *call = &member->calls[place];

	if (!call->is_open)
		return;
	call->is_open = false;
	member->n_lost = 0;
	member->heard_at = now;
	member->next_at = was_hasty(member, call, order, now) ? instant_add(now, FIRST_PAUSE) : now;
	if (member_is_answer_late(member, place))
		return;
	member->n_answered = call->number;
	if (call->told.has_left)
		member->end = MEMBER_ENDED;
	else if (member->report.known.order != RENDEZVOUS_GO || order->order == RENDEZVOUS_GO)
		apply_member_order(member, order,
				   now); /* GO is final, but its reason may become known later */
}

void member_lost_call(struct member *member, size_t place, instant now)
{
	struct member_outgoing *call = &member->calls[place];

	if (!call->is_open)
		return;
	call->is_open = false;
	call->number = 0;
	member->n_lost++;
	/* Immediately, then after growing pauses: a restarted server waits for one lease. */
	member->next_at =
		instant_add(now, backoff_pause(FIRST_PAUSE, LONGEST_PAUSE, member->n_lost - 1));
	if (call->told.has_left) /* the server will notice by itself */
		member->end = MEMBER_ENDED;
}

static void leave_without_server(struct member *member, instant now)
{
	const struct member_order alone = {.order = RENDEZVOUS_GO};

	apply_member_order(member, &alone, now);
}

void member_refused(struct member *member, size_t place, instant now)
{
	member_lost_call(member, place, now);
	if (member->report.known.order != RENDEZVOUS_GO)
		leave_without_server(member, now);
}

/* Time. */

/* A call that is open may be held by a server. */
static instant gives_up_at(const struct member *member)
{
	const struct member_settings *settings = &member->settings;
	bool is_unheard = !member->n_answered && member->n_lost > 0;
	msec patience = is_unheard ? settings->first_patience : settings->patience;

	return instant_add(member->heard_at,
			   member->has_workers ? settings->isolation_time : patience);
}

void member_time(struct member *member, instant now)
{
	for (size_t i = 0; i < MEMBER_CALLS; i++)
		if (instant_has_come(member->calls[i].ends, now))
			member_lost_call(member, i, now);
	if (instant_has_come(member->goes_at, now))
		leave_without_server(member, now);
	if (!instant_has_come(gives_up_at(member), now))
		return;
	if (member->has_workers)
		member_failed(member); /* in case the server puts it into the same world again */
	else
		member->end = MEMBER_GAVE_UP;
}

instant member_wake_at(const struct member *member)
{
	instant wake_at = member->goes_at;
	bool is_isolated = member->has_workers && member->report.activity != MEMBER_AT_WORK;

	if (member->end != MEMBER_GOES_ON)
		return INSTANT_NEVER;
	if (!is_isolated)
		wake_at = instant_min(wake_at, gives_up_at(member));
	for (size_t i = 0; i < MEMBER_CALLS; i++)
		if (member->calls[i].is_open)
			wake_at = instant_min(wake_at, member->calls[i].ends);
	if (may_call(member))
		wake_at = instant_min(wake_at, member->next_at);
	return wake_at;
}

const char *const member_activity_words[MEMBER_ACTIVITY_COUNT] = {
	[MEMBER_IDLE] = "idle",
	[MEMBER_AT_WORK] = "at-work",
	[MEMBER_HAS_FAILED] = "failed",
	[MEMBER_HAS_SUCCEEDED] = "succeeded",
	[MEMBER_WANTS_RESTART] = "wants-restart",
};

bool member_report_equals(const struct member_report *a, const struct member_report *b)
{
	return a->generation == b->generation && a->activity == b->activity &&
	       a->drains == b->drains && a->has_left == b->has_left && a->failure == b->failure &&
	       member_order_equals(&a->known, &b->known);
}

/* The rendezvous rejects reports about an ended world, which is no error. */
static void report_member_event(struct rendezvous *rendezvous, enum rendezvous_event_type type,
				const char *id, const struct member_report *report, instant now)
{
	const struct rendezvous_event event = {
		.type = type,
		.id = id,
		.generation = report->generation,
		.is_cause = report->is_cause,
	};

	(void) rendezvous_step(rendezvous, &event, now, NULL);
}

int member_call_apply(struct rendezvous *rendezvous, const char *id,
		      const struct member_report *report, const char *offer, instant now,
		      struct err *err)
{
	struct rendezvous_event join = {
		.type = RENDEZVOUS_JOIN,
		.id = id,
		.offer = offer,
		.node_rank = report->node_rank,
		.progress = report->progress,
		.newest = report->newest,
		.last_rank = report->last_rank,
		.key = report->key,
		.call = report->call,
	};

	if (report->has_left) {
		report_member_event(rendezvous, RENDEZVOUS_LEAVE, id, report, now);
		return 0;
	}
	const struct member_order order = rendezvous_order_for(rendezvous, id);

	join.has_acknowledged = member_order_equals(&order, &report->known);
	int rc = rendezvous_step(rendezvous, &join, now, err);

	if (rc < 0)
		return rc;
	if (report->activity == MEMBER_HAS_FAILED)
		report_member_event(rendezvous, RENDEZVOUS_FAIL, id, report, now);
	if (report->activity == MEMBER_HAS_SUCCEEDED)
		report_member_event(rendezvous, RENDEZVOUS_DONE, id, report, now);
	if (report->activity == MEMBER_WANTS_RESTART)
		report_member_event(rendezvous, RENDEZVOUS_RESTART, id, report, now);
	if (report->drains)
		report_member_event(rendezvous, RENDEZVOUS_DRAIN, id, report, now);
	return 0;
}
