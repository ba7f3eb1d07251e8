/* Transcripts of an agent. Agents and their server together: tests/sim/elastic.c. */
#include "unit.h"

#include "rendezvous/member.h"

#include <inttypes.h>
#include <stdio.h>

#define START ((msec) 1000000)

static const struct member_settings usual = {
	.hold = MSEC_PER_SECOND,
	.answer_time = 2 * MSEC_PER_SECOND,
	.isolation_time = 30 * MSEC_PER_SECOND,
	.patience = 100 * MSEC_PER_SECOND,
	.first_patience = 100 * MSEC_PER_SECOND,
	.drain_time = 2 * MSEC_PER_SECOND,
};

static const struct member_order wait = {.order = RENDEZVOUS_WAIT};
static const struct member_order drained = {.order = RENDEZVOUS_GO};
static const struct member_order lost_job = {.order = RENDEZVOUS_GO, .verdict = RENDEZVOUS_FAILED};

static struct member_order run(int64_t generation, enum world_reason reason)
{
	return (struct member_order){
		.order = RENDEZVOUS_RUN, .generation = generation, .reason = reason};
}

/* The place of the last call of any member. */
static size_t last_call;

static void call(struct member *member, msec now)
{
	assert_true(member_is_call_due(member, moment(now)));
	assert_true(member_wake_at(member).since_boot <= now);
	last_call = member_called(member, moment(now));
	assert_false(member_is_call_due(member, moment(now)));
}

static const struct member_report *told(const struct member *member)
{
	return &member->calls[last_call].told;
}

/* The server answers the earlier call as soon as it has the last one. */
static void answer(struct member *member, struct member_order order, msec now)
{
	member_answered(member, !last_call, &order, moment(now));
	member_answered(member, last_call, &order, moment(now));
}

static void lose(struct member *member, msec now)
{
	member_lost_call(member, last_call, moment(now));
}

/* At work in generation 1 since START, with a call under way. */
static struct member at_work(void)
{
	struct member member;

	member_begin(&member, &usual, moment(START));
	call(&member, START);
	answer(&member, run(1, WORLD_FIRST), START);
	assert_int_equal(member_wants(&member), 1);
	member_started(&member, 1, moment(START));
	call(&member, START);
	return member;
}

TEST(it_joins_waits_and_runs)
{
	struct member member;

	member_begin(&member, &usual, moment(START));
	call(&member, START);
	answer(&member, wait, START + 1000);
	assert_int_equal(member_wants(&member), 0);
	call(&member, START + 1000);
	assert_int_equal(member_wake_at(&member).since_boot, START + 4000);
	answer(&member, run(4, WORLD_FIRST), START + 1100);
	assert_int_equal(member_wants(&member), 4);
	call(&member, START + 1100);
	/* What has changed is told at once, and not when the server answers. */
	member_started(&member, 4, moment(START + 1101));
	call(&member, START + 1101);
}

TEST(a_new_world_ends_the_workers_of_the_old_one)
{
	struct member member = at_work();

	answer(&member, run(2, WORLD_GREW), START + 500);
	assert_int_equal(member_wants(&member), 2);
	assert_true(member_may_save(&member));
	member_ended(&member, false, moment(START + 700));
	assert_int_equal(member.report.activity, MEMBER_IDLE);
	assert_int_equal(member_wants(&member), 2);
	member_started(&member, 2, moment(START + 700));
	call(&member, START + 700);
	answer(&member, run(3, WORLD_LOST_MEMBER), START + 800);
	assert_false(member_may_save(&member));
}

TEST(a_failure_ends_its_workers_and_is_told_until_there_is_a_new_world)
{
	struct member member = at_work();

	member_failed(&member);
	assert_int_equal(member_wants(&member), 0);
	assert_false(member_may_save(&member));
	call(&member, START + 100);
	assert_int_equal(told(&member)->activity, MEMBER_HAS_FAILED);
	lose(&member, START + 200);
	member_ended(&member, true, moment(START + 200));
	call(&member, START + 200);
	assert_int_equal(told(&member)->activity, MEMBER_HAS_FAILED);
	answer(&member, run(2, WORLD_WORKER_FAILED), START + 300);
	assert_int_equal(member_wants(&member), 2);
}

TEST(a_worker_that_asks_for_a_restart_lets_the_others_save)
{
	struct member member = at_work(), other = at_work();

	assert_true(member_code_asks_restart(42) && member_code_asks_restart(143));
	assert_false(member_code_asks_restart(0) || member_code_asks_restart(1));
	member_wants_restart(&member);
	assert_int_equal(member_wants(&member), 0);
	assert_true(member_may_save(&member));
	call(&member, START + 100);
	assert_int_equal(told(&member)->activity, MEMBER_WANTS_RESTART);
	answer(&other, run(2, WORLD_RESTART_ASKED), START + 200);
	assert_true(member_may_save(&other));
	member_ended(&other, false, moment(START + 300));
	assert_int_equal(other.report.activity, MEMBER_IDLE);
}

TEST(a_failure_is_news_again_when_it_is_explained)
{
	struct member member = at_work();

	member_failed(&member);
	call(&member, START + 100);
	assert_false(member_is_call_due(&member, moment(START + 100)));
	member_explained(&member);
	assert_false(
		member_is_call_due(&member, moment(START + 101))); /* both connections are in use */
	member_answered(&member, !last_call, &(struct member_order){RENDEZVOUS_RUN, 1, WORLD_FIRST},
			moment(START + 101));
	call(&member, START + 101);
	assert_int_equal(told(&member)->failure, 1);
}

TEST(a_server_that_is_away_for_a_while_is_not_noticed)
{
	struct member member = at_work();
	msec now = START + 100;

	while (now < START + 20000) {
		lose(&member, now);
		assert_int_equal(member_wants(&member), 1);
		assert_true(member_wake_at(&member).since_boot <= now + MSEC_PER_SECOND);
		now = member_wake_at(&member).since_boot;
		call(&member, now);
	}
	answer(&member, run(1, WORLD_FIRST), now);
	assert_int_equal(member_wants(&member), 1);
}

TEST(alone_for_too_long_it_ends_its_workers_then_itself)
{
	struct member member = at_work();

	member_time(&member, moment(START + 3000)); /* the call is lost */
	assert_int_equal(member_wants(&member), 1);
	member_time(&member, moment(START + 30000));
	assert_int_equal(member_wants(&member), 0);
	member_ended(&member, false, moment(START + 31000));
	member_time(&member, moment(START + 130999));
	assert_int_equal(member.end, MEMBER_GOES_ON);
	member_time(&member, moment(START + 131000));
	assert_int_equal(member.end, MEMBER_GAVE_UP);
	assert_int_equal(member_wake_at(&member).since_boot, MSEC_NEVER);
}

TEST(it_leaves_when_its_workers_have_ended)
{
	struct member member = at_work();

	member_drain(&member, moment(START + 100));
	call(&member, START + 100);
	assert_int_equal(member_wants(&member), 1);
	answer(&member, drained, START + 200);
	assert_int_equal(member_wants(&member), 0);
	assert_true(member_may_save(&member));
	call(&member, START + 200);
	assert_false(told(&member)->has_left);
	member_ended(&member, false, moment(START + 5000));
	call(&member, START + 5000);
	assert_true(told(&member)->has_left);
	answer(&member, drained, START + 5001);
	assert_int_equal(member.end, MEMBER_ENDED);
}

TEST(a_drain_waits_for_no_server_for_long)
{
	struct member member = at_work();

	member_drain(&member, moment(START + 100));
	call(&member, START + 100);
	member_time(&member, moment(START + 2100));
	assert_int_equal(member_wants(&member), 0);
	member_ended(&member, true, moment(START + 3000));
	assert_false(member_is_call_due(&member,
					moment(START + 3000))); /* both connections are in use */
	member_time(&member, moment(START + 3000));
	call(&member, START + 3000);
	lose(&member, START + 3100);
	assert_int_equal(member.end, MEMBER_ENDED);
}

TEST(a_failed_job_leaves_nothing_to_save)
{
	struct member member = at_work();

	answer(&member, lost_job, START + 100);
	assert_int_equal(member_wants(&member), 0);
	assert_false(member_may_save(&member));
}

TEST(a_server_that_keeps_no_call_is_not_asked_without_pause)
{
	struct member member = at_work();

	answer(&member, run(1, WORLD_FIRST), START + 1);
	assert_false(member_is_call_due(&member, moment(START + 1)));
	assert_int_equal(member_wake_at(&member).since_boot, START + 101);
}

TEST(one_that_was_never_answered_has_its_own_patience)
{
	struct member_settings hasty = usual;
	struct member member;

	hasty.first_patience = MSEC_PER_SECOND / 2;
	member_begin(&member, &hasty, moment(START));
	call(&member, START);
	member_time(&member, moment(START + hasty.first_patience)); /* the call may be held */
	assert_int_equal(member.end, MEMBER_GOES_ON);

	member_begin(&member, &hasty, moment(START));
	call(&member, START);
	lose(&member, START + 10);
	member_time(&member, moment(START + hasty.first_patience - 1));
	assert_int_equal(member.end, MEMBER_GOES_ON);
	assert_true(member_wake_at(&member).since_boot <= START + hasty.first_patience);
	member_time(&member, moment(START + hasty.first_patience));
	assert_int_equal(member.end, MEMBER_GAVE_UP);

	member_begin(&member, &hasty, moment(START));
	call(&member, START);
	answer(&member, wait, START + 10);
	member_time(&member, moment(START + 10 + usual.patience - 1));
	assert_int_equal(member.end, MEMBER_GOES_ON);
	member_time(&member, moment(START + 10 + usual.patience));
	assert_int_equal(member.end, MEMBER_GAVE_UP);
}

/* The server may have been killed before it could answer, again and again. */
TEST(one_whose_workers_have_ended_has_patience_from_then_on)
{
	const msec ended_at = START + usual.patience + 1;
	struct member_settings longer = usual;
	struct member member = at_work();

	longer.isolation_time = 10 * usual.patience;
	member.settings = longer;
	lose(&member, ended_at);
	member_ended(&member, true, moment(ended_at));
	member_time(&member, moment(ended_at));
	assert_int_equal(member.end, MEMBER_GOES_ON);
	assert_int_equal(member.report.activity, MEMBER_HAS_SUCCEEDED);
	member_time(&member, moment(ended_at + usual.patience - 1));
	assert_int_equal(member.end, MEMBER_GOES_ON);
	member_time(&member, moment(ended_at + usual.patience));
	assert_int_equal(member.end, MEMBER_GAVE_UP);
}

TEST(a_world_that_is_ordered_again_after_its_end_has_failed)
{
	struct member member = at_work();

	answer(&member, wait, START + 100);
	member_ended(&member, false, moment(START + 200));
	assert_int_equal(member.report.activity, MEMBER_IDLE);
	call(&member, START + 200);
	answer(&member, run(1, WORLD_FIRST), START + 300);
	assert_int_equal(member_wants(&member), 0);
	assert_int_equal(member.report.activity, MEMBER_HAS_FAILED);
	call(&member, START + 300);
}

TEST(one_that_is_refused_leaves_its_job)
{
	struct member member = at_work();

	member_refused(&member, last_call, moment(START + 100));
	assert_int_equal(member.report.known.order, RENDEZVOUS_GO);
	assert_int_equal(member.report.known.verdict, RENDEZVOUS_OPEN);
	assert_int_equal(member_wants(&member), 0);
	assert_false(member.calls[last_call].is_open);
}
