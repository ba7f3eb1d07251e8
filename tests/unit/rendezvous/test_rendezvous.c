/* Transcripts of rendezvous. With agents, over a bad network: tests/sim/elastic.c. */
#include "unit.h"

#include "base/mem.h"
#include "rendezvous/json.h"
#include "rendezvous/rendezvous.h"
#include "rendezvous/world.h"
#include "spec/limits.h"

#include <inttypes.h>
#include <stdio.h>

#define START ((msec) 1000000)

static const struct rendezvous_settings two_to_four = {
	.terms.min = 2,
	.terms.max = 4,
	.terms.unit = 1,
	.terms.join_time = 600 * MSEC_PER_SECOND,
	.terms.last_call = 30 * MSEC_PER_SECOND,
	.lease = 5 * MSEC_PER_SECOND,
	.terms.restarts = {.most = 3},
};

static const char *offer_of(const char *id)
{
	static char offer[100];

	snprintf(offer, sizeof(offer), "{\"host\":\"%s\",\"ports\":[1,2,3,4,5,6,7,8]}", id);
	return offer;
}

static int step(struct rendezvous *rendezvous, enum rendezvous_event_type type, const char *id,
		msec now)
{
	const struct rendezvous_event event = {
		.type = type,
		.id = id,
		.generation = rendezvous->world.generation,
		.offer = id ? offer_of(id) : NULL,
		.has_acknowledged = true,
	};

	return rendezvous_step(rendezvous, &event, moment(now), NULL);
}

static void take(struct rendezvous *rendezvous, enum rendezvous_event_type type, const char *id,
		 msec now)
{
	assert_int_equal(step(rendezvous, type, id, now), 0);
}

/* As a server does, which sleeps until the next moment that counts. */
static void pass_time(struct rendezvous *rendezvous, msec until)
{
	while (rendezvous_wake_at(rendezvous).since_boot <= until)
		take(rendezvous, RENDEZVOUS_TIME, NULL, rendezvous_wake_at(rendezvous).since_boot);
}

/* "1: a b c": the generation of the world that goes on, and its members by rank; "-": none does. */
static const char *world_text(const struct rendezvous *rendezvous)
{
	static char text[200];
	const struct world *world = &rendezvous->world;
	size_t len;

	if (world->n_members == 0 ||
	    rendezvous_order_for(rendezvous, world->members[0].id).order != RENDEZVOUS_RUN)
		return "-";
	len = (size_t) snprintf(text, sizeof(text), "%" PRId64 ":", world->generation);
	for (size_t i = 0; i < world->n_members; i++)
		len += (size_t) snprintf(text + len, sizeof(text) - len, " %s",
					 world->members[i].id);
	return text;
}

static void assert_world(const struct rendezvous *rendezvous, const char *expected)
{
	assert_string_equal(world_text(rendezvous), expected);
}

static void assert_view(const struct rendezvous *rendezvous, const char *id,
			enum rendezvous_order order, int rank)
{
	const struct member_entry *entry = member_table_find(&rendezvous->members, id);

	assert_non_null(entry);
	assert_int_equal(rendezvous_order_for(rendezvous, id).order, order);
	assert_int_equal(entry->rank, rank);
}

static struct rendezvous *begin(const struct rendezvous_settings *settings)
{
	return rendezvous_new(settings, moment(START));
}

/* The server that continues from its record. */
static struct rendezvous *started_again(const struct rendezvous *rendezvous,
					const struct rendezvous_settings *settings, msec now)
{
	struct json *record CLEANUP(json_cleanup) = json_new_object();
	struct rendezvous *other = NULL;

	rendezvous_record_set(record, rendezvous, moment(now));
	assert_int_equal(rendezvous_record_read(record, settings, moment(now), &other, NULL), 0);
	return other;
}

/* With a world of a, b and c since START + 30 s. */
static struct rendezvous *three(void)
{
	struct rendezvous *rendezvous = begin(&two_to_four);

	take(rendezvous, RENDEZVOUS_JOIN, "a", START);
	take(rendezvous, RENDEZVOUS_JOIN, "b", START);
	take(rendezvous, RENDEZVOUS_JOIN, "c", START);
	for (msec now = START + 3000; now <= START + 57000; now += 3000) {
		take(rendezvous, RENDEZVOUS_JOIN, "a", now);
		take(rendezvous, RENDEZVOUS_JOIN, "b", now);
		take(rendezvous, RENDEZVOUS_JOIN, "c", now);
	}
	assert_world(rendezvous, "1: a b c");
	return rendezvous;
}

static void leave(struct rendezvous **rendezvous)
{
	rendezvous_free(*rendezvous);
}

static int begin_three(void **state)
{
	*state = three();
	return 0;
}

static int leave_three(void **state)
{
	rendezvous_free(*state);
	return 0;
}

#define WORLD_TEST(name) TEST_IN(begin_three, leave_three, struct rendezvous *rendezvous, name)
#define NOW (START + 58000) /* soon after the last beats of `three` */

TEST(the_first_world_is_formed_when_the_last_call_is_over)
{
	struct rendezvous *rendezvous CLEANUP(leave) = begin(&two_to_four);

	take(rendezvous, RENDEZVOUS_JOIN, "a", START);
	assert_int_equal(rendezvous->phase, RENDEZVOUS_WAITING);
	take(rendezvous, RENDEZVOUS_JOIN, "a", START + 4000);
	take(rendezvous, RENDEZVOUS_JOIN, "b", START + 5000);
	assert_int_equal(rendezvous->phase, RENDEZVOUS_GATHERING);
	for (msec now = START + 6000; now < START + 35000; now += 1000) {
		take(rendezvous, RENDEZVOUS_JOIN, "a", now);
		take(rendezvous, RENDEZVOUS_JOIN, "b", now);
		assert_world(rendezvous, "-");
	}
	assert_int_equal(rendezvous_wake_at(rendezvous).since_boot, START + 35000);
	take(rendezvous, RENDEZVOUS_TIME, NULL, START + 35000);
	assert_world(rendezvous, "1: a b");
	assert_view(rendezvous, "b", RENDEZVOUS_RUN, 1);
}

TEST(the_last_call_ends_when_no_more_can_come)
{
	struct rendezvous *rendezvous CLEANUP(leave) = begin(&two_to_four);

	take(rendezvous, RENDEZVOUS_JOIN, "d", START);
	take(rendezvous, RENDEZVOUS_JOIN, "c", START);
	take(rendezvous, RENDEZVOUS_JOIN, "b", START);
	assert_world(rendezvous, "-");
	take(rendezvous, RENDEZVOUS_JOIN, "a", START);
	assert_world(rendezvous, "1: d c b a");
	take(rendezvous, RENDEZVOUS_JOIN, "spare", START);
	assert_world(rendezvous, "1: d c b a");
	assert_view(rendezvous, "spare", RENDEZVOUS_WAIT, -1);
	take(rendezvous, RENDEZVOUS_LEAVE, "d", START + 1000);
	assert_world(rendezvous, "2: c b a spare");
}

TEST(a_newcomer_stops_nobody_before_the_next_world)
{
	struct rendezvous *rendezvous CLEANUP(leave) = begin(&(struct rendezvous_settings){
		.terms.min = 1,
		.terms.max = 4,
		.terms.unit = 1,
		.terms.join_time = 1000,
		.terms.last_call = 2000,
		.lease = 60000,
	});

	struct member_order view;

	take(rendezvous, RENDEZVOUS_JOIN, "a", START);
	take(rendezvous, RENDEZVOUS_TIME, NULL, START + 2000);
	assert_world(rendezvous, "1: a");
	take(rendezvous, RENDEZVOUS_JOIN, "b", START + 5000);
	assert_int_equal(rendezvous->phase, RENDEZVOUS_GATHERING);
	assert_world(rendezvous, "1: a");
	assert_view(rendezvous, "b", RENDEZVOUS_WAIT, -1);
	take(rendezvous, RENDEZVOUS_TIME, NULL, START + 7000);
	assert_world(rendezvous, "2: a b");
	assert_int_equal(rendezvous->world.reason, WORLD_GREW);
	view = rendezvous_order_for(rendezvous, "a");
	assert_int_equal(view.reason, WORLD_GREW);
	take(rendezvous, RENDEZVOUS_JOIN, "c", START + 8000);
	take(rendezvous, RENDEZVOUS_LEAVE, "c", START + 9000);
	assert_int_equal(rendezvous->phase, RENDEZVOUS_RUNNING);
	take(rendezvous, RENDEZVOUS_TIME, NULL, START + 10000);
	assert_world(rendezvous, "2: a b");
}

WORLD_TEST(a_member_that_has_died_is_replaced_at_once)
{
	take(rendezvous, RENDEZVOUS_LOST, "a", NOW);
	assert_world(rendezvous, "2: b c");
	assert_int_equal(rendezvous->world.reason, WORLD_LOST_MEMBER);
	assert_int_equal(rendezvous->n_restarts, 0);
	assert_int_equal(step(rendezvous, RENDEZVOUS_DONE, "a", NOW + 600), ERR_NOT_FOUND);
}

WORLD_TEST(silence_is_a_loss_after_the_lease)
{
	take(rendezvous, RENDEZVOUS_JOIN, "a", NOW);
	take(rendezvous, RENDEZVOUS_JOIN, "c", NOW);
	pass_time(rendezvous, START + 57000 + 5000);
	assert_world(rendezvous, "2: a c");
	assert_view(rendezvous, "c", RENDEZVOUS_RUN, 1);
}

/* It was suspended, or waited for its disk: nobody could call. Who still does not call then is lost
 * a lease later. */
WORLD_TEST(a_pause_of_the_server_is_no_loss)
{
	msec late = NOW + 7000;

	take(rendezvous, RENDEZVOUS_TIME, NULL, late);
	take(rendezvous, RENDEZVOUS_JOIN, "a", late + 1000);
	take(rendezvous, RENDEZVOUS_JOIN, "c", late + 1000);
	assert_world(rendezvous, "1: a b c");
	pass_time(rendezvous, late + 5000);
	assert_world(rendezvous, "2: a c");
}

WORLD_TEST(one_that_speaks_and_does_not_hear_is_lost_too)
{
	struct rendezvous_event deaf = {.type = RENDEZVOUS_JOIN, .id = "c", .offer = offer_of("c")};

	take(rendezvous, RENDEZVOUS_FAIL, "a", NOW);
	assert_world(rendezvous, "2: a b c");
	for (msec now = NOW; now < NOW + 5000; now += 1000) {
		take(rendezvous, RENDEZVOUS_JOIN, "a", now);
		take(rendezvous, RENDEZVOUS_JOIN, "b", now);
		assert_int_equal(rendezvous_step(rendezvous, &deaf, moment(now), NULL), 0);
	}
	assert_int_equal(rendezvous_wake_at(rendezvous).since_boot, NOW + 5000);
	take(rendezvous, RENDEZVOUS_TIME, NULL, NOW + 5000);
	assert_world(rendezvous, "3: a b");
}

WORLD_TEST(below_the_minimum_nothing_trains_and_the_job_ends_in_time)
{
	struct member_order view;

	take(rendezvous, RENDEZVOUS_LEAVE, "a", NOW);
	assert_world(rendezvous, "2: b c");
	take(rendezvous, RENDEZVOUS_LEAVE, "b", NOW);
	assert_world(rendezvous, "-");
	assert_view(rendezvous, "c", RENDEZVOUS_WAIT, -1);
	for (msec now = NOW; now < NOW + 600000; now += 4000)
		take(rendezvous, RENDEZVOUS_JOIN, "c", now);
	assert_int_equal(rendezvous->phase, RENDEZVOUS_WAITING);
	take(rendezvous, RENDEZVOUS_JOIN, "c", NOW + 600000);
	view = rendezvous_order_for(rendezvous, "c");
	assert_int_equal(view.order, RENDEZVOUS_GO);
	assert_int_equal(view.verdict, RENDEZVOUS_TIMED_OUT);
	assert_int_equal(step(rendezvous, RENDEZVOUS_JOIN, "late", NOW + 600001), ERR_REFUSED);
}

WORLD_TEST(a_failed_worker_makes_a_new_world_of_the_same_members)
{
	const struct rendezvous_event late = {.type = RENDEZVOUS_FAIL, .id = "c", .generation = 1};

	take(rendezvous, RENDEZVOUS_FAIL, "b", NOW);
	assert_world(rendezvous, "2: a b c");
	/* The others of the old world fail as a consequence. */
	assert_int_equal(rendezvous_step(rendezvous, &late, moment(NOW), NULL), ERR_CONFLICT);
	assert_int_equal(rendezvous->n_restarts, 1);
	/* The second in a row waits, and everybody with it. */
	take(rendezvous, RENDEZVOUS_FAIL, "c", NOW + 100);
	assert_int_equal(rendezvous->phase, RENDEZVOUS_PAUSING);
	assert_view(rendezvous, "a", RENDEZVOUS_WAIT, -1);
	take(rendezvous, RENDEZVOUS_TIME, NULL, NOW + 1100);
	assert_world(rendezvous, "3: a b c");
}

WORLD_TEST(a_restart_that_a_worker_asks_for_is_not_charged)
{
	const struct rendezvous_event late = {
		.type = RENDEZVOUS_RESTART, .id = "c", .generation = 1};
	struct member_order view;

	take(rendezvous, RENDEZVOUS_RESTART, "b", NOW);
	assert_world(rendezvous, "2: a b c");
	view = rendezvous_order_for(rendezvous, "a");
	assert_int_equal(view.reason, WORLD_RESTART_ASKED);
	assert_int_equal(rendezvous_step(rendezvous, &late, moment(NOW), NULL), ERR_CONFLICT);
	assert_int_equal(rendezvous->n_restarts, 0);
}

/* However long they say nothing. */
static struct rendezvous *two_that_are_not_lost(void)
{
	struct rendezvous_settings settings = two_to_four;

	settings.terms.max = 2;
	settings.lease = 1000 * MSEC_PER_SECOND;
	struct rendezvous *rendezvous = begin(&settings);

	take(rendezvous, RENDEZVOUS_JOIN, "a", START);
	take(rendezvous, RENDEZVOUS_JOIN, "b", START);
	return rendezvous;
}

/* One that asks for it at each start never gets anywhere. */
TEST(restarts_that_are_asked_for_in_a_row_are_charged)
{
	struct rendezvous *rendezvous CLEANUP(leave) = two_that_are_not_lost();
	msec now = START;

	for (int i = 0; i < 4; i++, now += 5000) {
		assert_int_equal(rendezvous->n_restarts, 0);
		take(rendezvous, RENDEZVOUS_RESTART, "b", now);
		take(rendezvous, RENDEZVOUS_TIME, NULL, now + 4000);
	}
	assert_int_equal(rendezvous->n_restarts, 1);
	take(rendezvous, RENDEZVOUS_RESTART, "b", now + 10000);
	assert_int_equal(rendezvous->n_restarts, 1);
}

TEST(the_budget_is_one_number_for_the_job)
{
	struct rendezvous *rendezvous CLEANUP(leave) = two_that_are_not_lost();
	struct member_order view;

	for (int i = 1; i <= 4; i++) {
		msec now = START + i * 100 * MSEC_PER_SECOND;

		take(rendezvous, RENDEZVOUS_TIME, NULL, now - 1000);
		assert_int_equal(rendezvous->world.generation, i);
		take(rendezvous, RENDEZVOUS_FAIL, i % 2 ? "a" : "b", now);
	}
	take(rendezvous, RENDEZVOUS_TIME, NULL, START + 401000);
	view = rendezvous_order_for(rendezvous, "a");
	assert_int_equal(view.order, RENDEZVOUS_GO);
	assert_int_equal(view.verdict, RENDEZVOUS_FAILED);
	assert_int_equal(rendezvous->n_restarts, 3);
}

/* b is killed; a notices, because its peer has gone, before the server does. */
TEST(a_failure_that_a_lost_member_has_caused_is_not_charged)
{
	struct rendezvous_settings settings = two_to_four;

	for (settings.terms.restarts.most = 0; settings.terms.restarts.most < 2;
	     settings.terms.restarts.most++) {
		struct rendezvous *rendezvous = begin(&settings);
		struct member_order view;

		take(rendezvous, RENDEZVOUS_JOIN, "a", START);
		take(rendezvous, RENDEZVOUS_JOIN, "b", START);
		take(rendezvous, RENDEZVOUS_JOIN, "c", START);
		take(rendezvous, RENDEZVOUS_JOIN, "d", START);
		take(rendezvous, RENDEZVOUS_FAIL, "a", START + 1000);
		view = rendezvous_order_for(rendezvous, "c");
		assert_int_equal(view.is_last, settings.terms.restarts.most == 0);
		take(rendezvous, RENDEZVOUS_LOST, "b", START + 1010);
		take(rendezvous, RENDEZVOUS_JOIN, "c", START + 1010);
		take(rendezvous, RENDEZVOUS_TIME, NULL, START + 1500);
		take(rendezvous, RENDEZVOUS_TIME, NULL, START + 1510);
		assert_int_equal(rendezvous->verdict, RENDEZVOUS_OPEN);
		assert_int_equal(rendezvous->n_restarts, 0);
		assert_int_equal(rendezvous->world.n_members, 3);
		rendezvous_free(rendezvous);
	}
}

/* Too few are left, and wait: that is told them as well. */
TEST(a_job_that_a_lost_member_has_failed_does_not_end)
{
	struct rendezvous_settings settings = two_to_four;
	struct member_order view;

	settings.terms.max = 2;
	struct rendezvous *rendezvous CLEANUP(leave) = begin(&settings);

	take(rendezvous, RENDEZVOUS_JOIN, "a", START);
	take(rendezvous, RENDEZVOUS_JOIN, "b", START);
	take(rendezvous, RENDEZVOUS_FAIL, "a", START + 1000);
	take(rendezvous, RENDEZVOUS_TIME, NULL, START + 1009);
	int64_t version = rendezvous->version;

	take(rendezvous, RENDEZVOUS_LOST, "b", START + 1010);
	view = rendezvous_order_for(rendezvous, "a");
	assert_int_equal(view.order, RENDEZVOUS_WAIT);
	assert_false(view.is_last);
	assert_true(rendezvous->version > version);
	assert_int_equal(rendezvous_count_candidates(rendezvous), 1);
}

static void fail_as_cause(struct rendezvous *rendezvous, const char *id, int64_t generation,
			  bool is_cause, msec now)
{
	const struct rendezvous_event event = {
		.type = RENDEZVOUS_FAIL,
		.id = id,
		.generation = generation,
		.is_cause = is_cause,
		.has_acknowledged = true,
	};

	(void) rendezvous_step(rendezvous, &event, moment(now), NULL);
}

/* However long they say nothing; any number of failures is allowed. */
static struct rendezvous *three_of(int min)
{
	struct rendezvous_settings settings = two_to_four;

	settings.terms.min = min;
	settings.terms.max = 3;
	settings.lease = 100000 * MSEC_PER_SECOND;
	settings.terms.restarts.most = -1;
	struct rendezvous *rendezvous = begin(&settings);

	take(rendezvous, RENDEZVOUS_JOIN, "a", START);
	take(rendezvous, RENDEZVOUS_JOIN, "b", START);
	take(rendezvous, RENDEZVOUS_JOIN, "c", START);
	return rendezvous;
}

/* Its own failures, a minute apart, each of which others follow. */
static void fail_often(struct rendezvous *rendezvous, const char *id, int times, msec *now)
{
	for (int i = 0; i < times; i++, *now += 60000) {
		int64_t generation = rendezvous->world.generation;

		fail_as_cause(rendezvous, "b", generation, false, *now); /* its peer is gone */
		fail_as_cause(rendezvous, id, generation, true, *now);
		fail_as_cause(rendezvous, "c", generation, true, *now); /* the second to say so */
		take(rendezvous, RENDEZVOUS_TIME, NULL, *now + 30000);
	}
}

static bool is_excluded(const struct rendezvous *rendezvous, const char *id)
{
	struct member_order view;

	view = rendezvous_order_for(rendezvous, id);
	return view.is_excluded;
}

TEST(a_machine_that_keeps_failing_is_set_aside)
{
	struct rendezvous *rendezvous CLEANUP(leave) = three_of(2);
	msec now = START + 60000;

	fail_often(rendezvous, "a", 2, &now);
	assert_world(rendezvous, "3: a b c");
	fail_often(rendezvous, "a", 1, &now);
	assert_world(rendezvous, "5: b c"); /* 4 was that of all, before a said why */
	assert_view(rendezvous, "a", RENDEZVOUS_WAIT, -1);
	assert_true(is_excluded(rendezvous, "a"));
	assert_false(is_excluded(rendezvous, "b"));
	/* It is better than no training, and leads no more. */
	take(rendezvous, RENDEZVOUS_LEAVE, "b", now);
	assert_world(rendezvous, "6: c a");
	/* Others come: it is left alone until there is another world anyway. */
	take(rendezvous, RENDEZVOUS_JOIN, "d", now);
	take(rendezvous, RENDEZVOUS_TIME, NULL, now + 60000);
	assert_world(rendezvous, "6: c a");
	fail_as_cause(rendezvous, "c", 6, true, now + 70000);
	take(rendezvous, RENDEZVOUS_TIME, NULL, now + 90000);
	assert_world(rendezvous, "7: c d");
}

TEST(a_machine_that_is_needed_is_not_set_aside)
{
	struct rendezvous *rendezvous CLEANUP(leave) = three_of(3);
	msec now = START + 60000;

	fail_often(rendezvous, "a", 6, &now);
	assert_world(rendezvous, "7: b c a");
}

TEST(failures_that_lie_far_apart_set_nothing_aside)
{
	struct rendezvous *rendezvous CLEANUP(leave) = three_of(2);
	msec now = START + 60000;

	for (int i = 0; i < 4; i++, now += 3600000)
		fail_often(rendezvous, "a", 1, &now);
	assert_world(rendezvous, "5: a b c");
}

TEST(a_server_that_is_started_again_knows_who_was_set_aside)
{
	struct rendezvous *rendezvous = three_of(2);
	struct rendezvous_settings settings = two_to_four;
	msec now = START + 60000;

	fail_often(rendezvous, "a", 3, &now);
	struct rendezvous *other = started_again(rendezvous, &settings, now);

	take(other, RENDEZVOUS_JOIN, "a", now + 10);
	take(other, RENDEZVOUS_JOIN, "b", now + 10);
	take(other, RENDEZVOUS_JOIN, "c", now + 10);
	take(other, RENDEZVOUS_TIME, NULL, now + 4000);
	assert_world(other, "5: b c");
	assert_true(is_excluded(other, "a"));
	rendezvous_free(rendezvous);
	rendezvous_free(other);
}

/* They were together when it was killed: no more are waited for. */
TEST(a_server_that_is_started_again_holds_no_last_call)
{
	struct rendezvous *rendezvous = three();

	struct rendezvous *other = started_again(rendezvous, &two_to_four, NOW);

	assert_world(other, "1: a b c");
	take(other, RENDEZVOUS_JOIN, "b", NOW + 10);
	take(other, RENDEZVOUS_FAIL, "b", NOW + 10);
	assert_world(other, "-"); /* what the others know may be newer */
	take(other, RENDEZVOUS_JOIN, "a", NOW + 20);
	take(other, RENDEZVOUS_JOIN, "c", NOW + 30);
	assert_world(other, "2: a b c");
	rendezvous_free(rendezvous);
	rendezvous_free(other);
}

/* It was restored from a backup, or what it last wrote got lost. */
TEST(a_server_that_knows_less_than_its_members_forms_no_world_twice)
{
	struct rendezvous *rendezvous = three();
	struct rendezvous_event join = {.type = RENDEZVOUS_JOIN,
					.id = "a",
					.offer = offer_of("a"),
					.newest = 4,
					.has_acknowledged = true};

	struct rendezvous *other = started_again(rendezvous, &two_to_four, NOW);

	take(other, RENDEZVOUS_JOIN, "d", NOW + 10);
	take(other, RENDEZVOUS_JOIN, "c", NOW + 10);
	take(other, RENDEZVOUS_TIME, NULL, NOW + 4000);
	assert_world(other, "1: a b c"); /* "a" may know a newer one, and "b" */
	assert_int_equal(rendezvous_step(other, &join, moment(NOW + 4000), NULL), 0);
	assert_world(other, "-");
	assert_view(other, "c", RENDEZVOUS_WAIT, -1);
	take(other, RENDEZVOUS_TIME, NULL, NOW + two_to_four.lease);
	assert_world(other, "5: a c d");
	assert_int_equal(other->world.reason, WORLD_FORGOTTEN);
	/* It is known to all by now. */
	assert_int_equal(rendezvous_step(other, &join, moment(NOW + two_to_four.lease), NULL), 0);
	assert_world(other, "5: a c d");
	rendezvous_free(rendezvous);
	rendezvous_free(other);
}

/* Says which world it knows, and its rank there. */
static int rejoin(struct rendezvous *rendezvous, const char *id, int64_t newest, int rank, msec now)
{
	const struct rendezvous_event join = {.type = RENDEZVOUS_JOIN,
					      .id = id,
					      .offer = offer_of(id),
					      .newest = newest,
					      .last_rank = rank,
					      .has_acknowledged = true};

	return rendezvous_step(rendezvous, &join, moment(now), NULL);
}

/* The server has come back without its files, and a newcomer has found it first. */
TEST(a_job_without_its_record_is_founded_again)
{
	struct rendezvous_settings settings = two_to_four;

	settings.terms.last_call = 0;
	struct rendezvous *rendezvous CLEANUP(leave) = begin(&settings);

	assert_int_equal(rejoin(rendezvous, "d", 0, -1, START + 100), 0);
	assert_int_equal(rejoin(rendezvous, "c", 7, 2, START + 200), 0);
	assert_world(rendezvous, "-");
	assert_view(rendezvous, "c", RENDEZVOUS_WAIT, -1);
	assert_int_equal(rejoin(rendezvous, "a", 7, 0, START + 4000), 0);
	assert_world(rendezvous, "-");
	take(rendezvous, RENDEZVOUS_TIME, NULL, START + settings.lease);
	assert_world(rendezvous, "8: a c d");
	assert_int_equal(rendezvous->world.reason, WORLD_FORGOTTEN);
	assert_int_equal(rendezvous->n_restarts, 0);
	/* One that comes later is as any newcomer. */
	assert_int_equal(rejoin(rendezvous, "b", 7, 1, START + settings.lease + 1), 0);
	assert_world(rendezvous, "9: a c d b");
}

WORLD_TEST(a_generation_that_no_lost_record_explains_is_refused)
{
	struct rendezvous *restored = started_again(rendezvous, &two_to_four, NOW);
	struct rendezvous *empty = begin(&two_to_four);

	assert_int_equal(rejoin(restored, "a", 1000000000, 0, NOW), ERR_INVALID);
	assert_int_equal(rejoin(restored, "a", 1 + RENDEZVOUS_LOST_WORLDS + 1, 0, NOW),
			 ERR_INVALID);
	assert_world(restored, "1: a b c");
	assert_int_equal(rejoin(restored, "a", 1 + RENDEZVOUS_LOST_WORLDS, 0, NOW), 0);
	assert_world(restored, "-");
	assert_int_equal(rejoin(restored, "a", 2 + RENDEZVOUS_LOST_WORLDS, 0, NOW), ERR_INVALID);
	assert_int_equal(rejoin(empty, "a", RENDEZVOUS_LOST_RECORD + 1, 0, START), ERR_INVALID);
	assert_int_equal(empty->members.count, 0);
	assert_int_equal(rejoin(empty, "a", RENDEZVOUS_LOST_RECORD, 0, START), 0);
	assert_int_equal(rejoin(empty, "a", 2 * RENDEZVOUS_LOST_RECORD, 0, START), ERR_INVALID);
	rendezvous_free(empty);
	rendezvous_free(restored);
}

/* A person asks for it, on another machine. */
WORLD_TEST(a_drain_is_no_sign_of_life)
{
	take(rendezvous, RENDEZVOUS_JOIN, "b", NOW);
	take(rendezvous, RENDEZVOUS_JOIN, "c", NOW);
	take(rendezvous, RENDEZVOUS_JOIN, "a", NOW - 1000);
	take(rendezvous, RENDEZVOUS_DRAIN, "a", NOW);
	pass_time(rendezvous, NOW - 1000 + two_to_four.lease);
	assert_null(member_table_find(&rendezvous->members, "a"));
}

TEST(there_is_no_room_for_more_processes_than_a_job_may_have)
{
	struct rendezvous_settings settings = two_to_four;
	int ports[4 * (1000 + 1)];
	const struct offer offer = {.host = "h", .n_processes = 1000, .ports = ports};
	struct text text CLEANUP(text_done) = {0};
	struct rendezvous_event join = {.type = RENDEZVOUS_JOIN};
	char id[16];

	for (size_t i = 0; i < ARRAY_LEN(ports); i++)
		ports[i] = 10000;
	offer_add(&offer, &text);
	join.offer = text_of(&text);
	settings.terms.max = 100;
	struct rendezvous *rendezvous CLEANUP(leave) = begin(&settings);

	for (int i = 0; i < 12; i++) {
		snprintf(id, sizeof(id), "m%d", i);
		join.id = id;
		assert_int_equal(rendezvous_step(rendezvous, &join, moment(START), NULL),
				 i < LIMIT_REPLICAS / 1000 ? 0 : ERR_LIMIT);
	}
	take(rendezvous, RENDEZVOUS_LEAVE, "m3", START);
	assert_int_equal(rendezvous_step(rendezvous, &join, moment(START), NULL), 0);
}

TEST(nor_for_those_that_a_member_offers_later)
{
	struct rendezvous_settings settings = two_to_four;
	int ports[4 * (1000 + 1)];
	struct text small CLEANUP(text_done) = {0}, large CLEANUP(text_done) = {0};
	struct rendezvous_event join = {.type = RENDEZVOUS_JOIN};
	char id[16];

	for (size_t i = 0; i < ARRAY_LEN(ports); i++)
		ports[i] = 10000;
	offer_add(&(struct offer){.host = "h", .n_processes = 1, .ports = ports}, &small);
	offer_add(&(struct offer){.host = "h", .n_processes = 1000, .ports = ports}, &large);
	settings.terms.max = 100;
	struct rendezvous *rendezvous CLEANUP(leave) = begin(&settings);

	for (int i = 0; i < 24; i++) {
		snprintf(id, sizeof(id), "m%d", i % 12);
		join.id = id;
		join.offer = text_of(i < 12 ? &small : &large);
		assert_int_equal(rendezvous_step(rendezvous, &join, moment(START), NULL),
				 i < 12 + LIMIT_REPLICAS / 1000 - 1 ? 0 : ERR_LIMIT);
	}
	join.id = "m0";
	assert_int_equal(rendezvous_step(rendezvous, &join, moment(START), NULL), 0);
}

TEST(nor_for_more_addresses_than_fit_into_tf_config)
{
	struct rendezvous_settings settings = two_to_four;
	int ports[4 * (400 + 1)];
	char host[250];
	struct offer offer = {.host = "10.0.0.1", .n_processes = 400, .ports = ports};
	struct text small CLEANUP(text_done) = {0}, large CLEANUP(text_done) = {0};
	struct err err = {0};

	for (size_t i = 0; i < ARRAY_LEN(ports); i++)
		ports[i] = 10000;
	offer_add(&offer, &small);
	for (size_t i = 0; i < sizeof(host); i++)
		host[i] = i % 50 == 49 ? '.' : 'h';
	host[sizeof(host) - 1] = '\0';
	offer.host = host;
	offer_add(&offer, &large);
	struct rendezvous *rendezvous CLEANUP(leave) = begin(&settings);
	struct rendezvous_event join = {
		.type = RENDEZVOUS_JOIN, .id = "honest", .offer = text_of(&small)};

	assert_int_equal(rendezvous_step(rendezvous, &join, moment(START), NULL), 0);
	join.id = "first";
	join.offer = text_of(&large);
	assert_int_equal(rendezvous_step(rendezvous, &join, moment(START), NULL), 0);
	join.id = "second";
	assert_int_equal(rendezvous_step(rendezvous, &join, moment(START), &err), ERR_INVALID);
	assert_non_null(strstr(err.text, "TF_CONFIG"));
	join.id = "honest"; /* with another offer, too */
	assert_int_equal(rendezvous_step(rendezvous, &join, moment(START), NULL), ERR_INVALID);
	take(rendezvous, RENDEZVOUS_LEAVE, "first", START);
	join.id = "second";
	assert_int_equal(rendezvous_step(rendezvous, &join, moment(START), NULL), 0);
}

static int n_given_back;

static void give_back(void *attachment, bool is_lost)
{
	(void) is_lost;
	assert_ptr_equal(attachment, &n_given_back);
	n_given_back++;
}

TEST(what_was_attached_to_a_member_is_given_back)
{
	struct rendezvous_settings settings = two_to_four;

	settings.on_removed = give_back;
	struct rendezvous *rendezvous = begin(&settings);

	assert_null(member_table_find(&rendezvous->members, "a"));
	for (const char *id = "abcd"; *id; id++) {
		const char name[] = {*id, '\0'};

		take(rendezvous, RENDEZVOUS_JOIN, name, START);
		if (*id != 'd')
			member_table_find(&rendezvous->members, name)->attachment = &n_given_back;
	}
	take(rendezvous, RENDEZVOUS_LEAVE, "a", START);
	assert_int_equal(n_given_back, 1);
	take(rendezvous, RENDEZVOUS_TIME, NULL, START + two_to_four.lease - 1);
	take(rendezvous, RENDEZVOUS_JOIN, "c", START + two_to_four.lease - 1);
	take(rendezvous, RENDEZVOUS_TIME, NULL, START + two_to_four.lease);
	assert_int_equal(n_given_back, 2);
	rendezvous_free(rendezvous);
	assert_int_equal(n_given_back, 3);
}

TEST(a_job_that_makes_no_progress_ends)
{
	struct rendezvous_settings settings = two_to_four;
	struct rendezvous_event join = {.type = RENDEZVOUS_JOIN,
					.id = "a",
					.offer = offer_of("a"),
					.has_acknowledged = true};
	msec now = START;

	settings.terms.min = settings.terms.max = 1;
	settings.lease = 100000 * MSEC_PER_SECOND;
	settings.terms.restarts = (struct restart_terms){.most = -1, .max_no_progress = 3};
	struct rendezvous *rendezvous CLEANUP(leave) = begin(&settings);

	for (int64_t step = 1; step <= 8; step++, now += 60000) {
		join.progress = step < 5 ? step : 5; /* 5 is where it always fails */
		assert_int_equal(rendezvous_step(rendezvous, &join, moment(now), NULL), 0);
		assert_int_equal(rendezvous->verdict, RENDEZVOUS_OPEN);
		take(rendezvous, RENDEZVOUS_FAIL, "a", now + 30000);
	}
	assert_int_equal(rendezvous->verdict, RENDEZVOUS_NO_PROGRESS);
	assert_int_equal(rendezvous->n_restarts, 7);
	assert_int_equal(rendezvous->budget.progress, 5);
}

WORLD_TEST(an_early_finisher_waits_for_the_others)
{
	take(rendezvous, RENDEZVOUS_DONE, "a", NOW);
	take(rendezvous, RENDEZVOUS_LEAVE, "a", NOW);
	/* Nor does the job grow any more. */
	take(rendezvous, RENDEZVOUS_JOIN, "d", NOW);
	assert_int_equal(rendezvous->phase, RENDEZVOUS_RUNNING);
	assert_view(rendezvous, "b", RENDEZVOUS_RUN, 1);
	take(rendezvous, RENDEZVOUS_DONE, "c", NOW);
	assert_int_equal(rendezvous->verdict, RENDEZVOUS_OPEN);
	take(rendezvous, RENDEZVOUS_DONE, "b", NOW);
	assert_int_equal(rendezvous->verdict, RENDEZVOUS_SUCCEEDED);
	assert_view(rendezvous, "d", RENDEZVOUS_GO, -1);
}

WORLD_TEST(a_failure_after_a_finish_is_the_jobs)
{
	take(rendezvous, RENDEZVOUS_DONE, "a", NOW);
	take(rendezvous, RENDEZVOUS_FAIL, "b", NOW);
	assert_world(rendezvous, "2: a b c");
	take(rendezvous, RENDEZVOUS_DONE, "b", NOW);
	take(rendezvous, RENDEZVOUS_DONE, "c", NOW);
	assert_int_equal(rendezvous->verdict, RENDEZVOUS_OPEN);
	take(rendezvous, RENDEZVOUS_DONE, "a", NOW);
	assert_int_equal(rendezvous->verdict, RENDEZVOUS_SUCCEEDED);
	struct rendezvous *again CLEANUP(leave) = started_again(rendezvous, &two_to_four, NOW);

	assert_int_equal(again->phase, RENDEZVOUS_CLOSED);
}

WORLD_TEST(a_member_that_drains_is_not_waited_for)
{
	struct member_report report = {.generation = 1, .activity = MEMBER_AT_WORK};

	assert_int_equal(
		member_call_apply(rendezvous, "b", &report, offer_of("b"), moment(NOW), NULL), 0);
	assert_world(rendezvous, "1: a b c");
	report.drains = true;
	assert_int_equal(
		member_call_apply(rendezvous, "b", &report, offer_of("b"), moment(NOW), NULL), 0);
	assert_world(rendezvous, "2: a c");
	assert_int_equal(rendezvous->world.reason, WORLD_MEMBER_LEFT);
	assert_view(rendezvous, "b", RENDEZVOUS_GO, -1);
	take(rendezvous, RENDEZVOUS_LEAVE, "b", NOW + 1000);
	assert_world(rendezvous, "2: a c");
	assert_int_equal(rendezvous->n_restarts, 0);
}

TEST(worlds_have_multiples_of_the_unit)
{
	struct rendezvous_settings settings = two_to_four;

	settings.terms.unit = 2;
	settings.terms.last_call = 1000;
	struct rendezvous *rendezvous CLEANUP(leave) = begin(&settings);

	take(rendezvous, RENDEZVOUS_JOIN, "a", START);
	take(rendezvous, RENDEZVOUS_JOIN, "b", START);
	take(rendezvous, RENDEZVOUS_JOIN, "c", START);
	take(rendezvous, RENDEZVOUS_TIME, NULL, START + 1000);
	assert_world(rendezvous, "1: a b");
	take(rendezvous, RENDEZVOUS_JOIN, "d", START + 2000);
	assert_world(rendezvous, "2: a b c d");
	take(rendezvous, RENDEZVOUS_LEAVE, "b", START + 3000);
	assert_world(rendezvous, "3: a c");
	assert_view(rendezvous, "d", RENDEZVOUS_WAIT, -1);
}

TEST(a_job_that_all_have_left_is_over)
{
	struct rendezvous *rendezvous CLEANUP(leave) = rendezvous_new(&two_to_four, moment(START));

	take(rendezvous, RENDEZVOUS_JOIN, "a", START);
	take(rendezvous, RENDEZVOUS_DRAIN, "a", START + 1);
	take(rendezvous, RENDEZVOUS_LEAVE, "a", START + 2);
	assert_int_equal(rendezvous->phase, RENDEZVOUS_CLOSED);
	assert_int_equal(rendezvous->verdict, RENDEZVOUS_STOPPED);
}
