#include "rendezvous/member_call.h"

const char *const member_activity_words[MEMBER_ACTIVITY_COUNT] = {
	[MEMBER_IDLE] = "idle",
	[MEMBER_AT_WORK] = "at-work",
	[MEMBER_HAS_FAILED] = "failed",
	[MEMBER_HAS_SUCCEEDED] = "succeeded",
	[MEMBER_WANTS_RESTART] = "wants-restart",
};

bool member_order_equals(const struct member_order *a, const struct member_order *b)
{
	return a->order == b->order && a->generation == b->generation && a->reason == b->reason &&
	       a->verdict == b->verdict && a->is_excluded == b->is_excluded &&
	       a->is_last == b->is_last;
}

bool member_report_equals(const struct member_report *a, const struct member_report *b)
{
	return a->generation == b->generation && a->activity == b->activity &&
	       a->drains == b->drains && a->has_left == b->has_left && a->failure == b->failure &&
	       member_order_equals(&a->known, &b->known);
}

static int report_member_event(struct rendezvous *rendezvous, enum rendezvous_event_type type,
			       const char *id, const struct member_report *report, instant now)
{
	const struct rendezvous_event event = {
		.type = type,
		.id = id,
		.generation = report->generation,
		.is_cause = report->is_cause,
	};

	return rendezvous_step(rendezvous, &event, now, NULL);
}

/* The rendezvous rejects reports about an ended world, which is no error. */
static void report_member_events(struct rendezvous *rendezvous, const char *id,
				 const struct member_report *report, instant now)
{
	if (report->activity == MEMBER_HAS_FAILED)
		(void) report_member_event(rendezvous, RENDEZVOUS_FAIL, id, report, now);
	if (report->activity == MEMBER_HAS_SUCCEEDED)
		(void) report_member_event(rendezvous, RENDEZVOUS_DONE, id, report, now);
	if (report->activity == MEMBER_WANTS_RESTART)
		(void) report_member_event(rendezvous, RENDEZVOUS_RESTART, id, report, now);
	if (report->drains)
		(void) report_member_event(rendezvous, RENDEZVOUS_DRAIN, id, report, now);
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
	struct member_order order;

	if (report->has_left) {
		(void) report_member_event(rendezvous, RENDEZVOUS_LEAVE, id, report, now);
		return 0;
	}
	member_call_answer(rendezvous, id, &order);
	join.has_acknowledged = member_order_equals(&order, &report->known);
	int rc = rendezvous_step(rendezvous, &join, now, err);

	if (rc == 0)
		report_member_events(rendezvous, id, report, now);
	return rc;
}

void member_call_answer(const struct rendezvous *rendezvous, const char *id,
			struct member_order *ret_order)
{
	struct rendezvous_view view = {
		.order = RENDEZVOUS_GO,
		.verdict = rendezvous_verdict(rendezvous),
	};

	(void) rendezvous_view(rendezvous, id, &view, NULL);
	*ret_order = (struct member_order){
		.order = view.order,
		.generation = view.order == RENDEZVOUS_RUN ? view.world->generation : 0,
		.reason = view.order == RENDEZVOUS_GO ? WORLD_FIRST : view.reason,
		.verdict = view.verdict,
		.is_excluded = view.is_excluded,
		.is_last = view.is_last,
	};
}
