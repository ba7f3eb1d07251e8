/* Transcripts of claimants of one lease, and a random world in which no two of them ever act. */
#include "unit.h"

#include "reconcile/lease.h"

#include "base/text.h"

#include <stdio.h>

#define START ((msec) 1000000)

static struct lease_record record_of(const char *holder, int64_t version)
{
	struct lease_record record = {
		.is_there = true, .version = version, .duration = LEASE_DURATION};

	snprintf(record.holder, sizeof(record.holder), "%s", holder);
	return record;
}

static const struct lease_record missing = {.is_there = false};

static void assert_call(struct lease *lease, enum lease_call call, msec now)
{
	assert_int_equal(lease_next_call(lease, moment(now)), call);
	if (call != LEASE_NO_CALL)
		lease_called(lease, moment(now));
}

static void see(struct lease *lease, struct lease_record record, msec now)
{
	lease_observe(lease, &record, moment(now));
}

static void write(struct lease *lease, struct lease_record record, msec now)
{
	lease_wrote(lease, &record, moment(now));
}

/* One that holds it since START. */
static struct lease holder(void)
{
	struct lease lease;

	lease_begin(&lease, "a", moment(START), moment(START));
	assert_call(&lease, LEASE_CREATE, START);
	write(&lease, record_of("a", 1), START + 20);
	return lease;
}

/* One that has seen it like this at START. */
static struct lease newcomer_of(struct lease_record record, bool may_be_first)
{
	struct lease lease;

	lease_begin(&lease, "b", INSTANT_UNSET, moment(START));
	lease.may_be_first = may_be_first;
	assert_call(&lease, LEASE_LOOK, START);
	see(&lease, record, START);
	return lease;
}

static struct lease newcomer(struct lease_record record)
{
	return newcomer_of(record, false);
}

TEST(the_lease_of_a_new_job_is_made_at_once)
{
	struct lease lease = holder();

	assert_int_equal(lease_standing(&lease, moment(START + 20)), LEASE_HELD);
	assert_call(&lease, LEASE_NO_CALL, START + 20);
	assert_int_equal(lease_wake_at(&lease, moment(START + 20)).since_boot,
			 START + LEASE_RENEWAL);
	assert_call(&lease, LEASE_WRITE, START + LEASE_RENEWAL);
}

TEST(whoever_made_the_job_holds_its_lease_without_a_record)
{
	struct lease lease;

	lease_begin(&lease, "a", moment(START - 3000), moment(START));
	assert_int_equal(lease_standing(&lease, moment(START)), LEASE_HELD);
	assert_call(&lease, LEASE_CREATE, START);
	assert_int_equal(lease_standing(&lease, moment(START - 3000 + LEASE_DEADLINE - 1)),
			 LEASE_HELD);
	assert_int_equal(lease_standing(&lease, moment(START - 3000 + LEASE_DEADLINE)),
			 LEASE_OVERDUE);
}

TEST(whoever_made_the_job_long_ago_waits_for_the_record)
{
	struct lease lease;

	lease_begin(&lease, "a", moment(START - 60000), moment(START));
	assert_int_equal(lease_standing(&lease, moment(START)), LEASE_OVERDUE);
	assert_call(&lease, LEASE_CREATE, START);
	write(&lease, record_of("a", 1), START + 20);
	assert_int_equal(lease_standing(&lease, moment(START + 20)), LEASE_HELD);
}

TEST(a_holder_that_cannot_write_stops_before_the_deadline_and_may_go_on)
{
	struct lease lease = holder();
	msec now = START + LEASE_RENEWAL;

	while (now < START + LEASE_DEADLINE) {
		assert_int_equal(lease_standing(&lease, moment(now)), LEASE_HELD);
		if (lease_next_call(&lease, moment(now)) == LEASE_WRITE)
			lease_called(&lease, moment(now));
		if (lease_is_call_overdue(&lease, moment(now)))
			lease_failed(&lease, moment(now));
		now = lease_wake_at(&lease, moment(now)).since_boot;
	}
	assert_int_equal(now, START + LEASE_DEADLINE);
	assert_int_equal(lease_standing(&lease, moment(now)), LEASE_OVERDUE);
	lease_failed(&lease, moment(now));
	assert_call(&lease, LEASE_WRITE, now + LEASE_RETRY);
	write(&lease, record_of("a", 2), now + LEASE_RETRY + 5);
	assert_int_equal(lease_standing(&lease, moment(now + LEASE_RETRY + 5)), LEASE_HELD);
}

TEST(a_write_that_took_long_counts_from_its_beginning)
{
	struct lease lease = holder();
	msec began = START + LEASE_RENEWAL;

	assert_call(&lease, LEASE_WRITE, began);
	write(&lease, record_of("a", 2), began + 3900);
	assert_int_equal(lease_standing(&lease, moment(began + LEASE_DEADLINE - 1)), LEASE_HELD);
	assert_int_equal(lease_standing(&lease, moment(began + LEASE_DEADLINE)), LEASE_OVERDUE);
}

TEST(a_released_lease_is_taken_at_once)
{
	struct lease lease = newcomer(record_of("", 7));

	assert_call(&lease, LEASE_WRITE, START);
}

TEST(the_lease_of_a_process_that_is_gone_is_taken_at_once)
{
	struct lease_record record = record_of("a", 7);
	struct lease lease;

	record.fate = LEASE_FATE_GONE;
	lease = newcomer(record);
	assert_call(&lease, LEASE_WRITE, START);
}

TEST(a_holder_next_door_is_known_at_once)
{
	struct lease_record record = record_of("a", 7);
	struct lease lease;

	record.fate = LEASE_FATE_ALIVE;
	lease = newcomer(record);
	assert_int_equal(lease_standing(&lease, moment(START)), LEASE_OTHERS);
}

TEST(a_silent_holder_loses_it_after_a_whole_duration)
{
	struct lease lease = newcomer(record_of("a", 7));
	msec now = START;

	for (;;) {
		assert_int_equal(lease_standing(&lease, moment(now)), LEASE_UNSETTLED);
		now = lease_wake_at(&lease, moment(now)).since_boot;
		if (lease_next_call(&lease, moment(now)) != LEASE_LOOK)
			break;
		lease_called(&lease, moment(now));
		see(&lease, record_of("a", 7), now);
	}
	assert_int_equal(now, START + LEASE_DURATION);
	assert_call(&lease, LEASE_WRITE, now);
}

TEST(a_holder_that_renews_keeps_it)
{
	struct lease lease = newcomer(record_of("a", 7));

	for (int i = 1; i < 50; i++) {
		msec now = START + i * LEASE_SPACING;

		assert_call(&lease, LEASE_LOOK, now);
		see(&lease, record_of("a", 7 + i / 2), now);
		assert_int_equal(lease_standing(&lease, moment(now)),
				 i < 2 ? LEASE_UNSETTLED : LEASE_OTHERS);
	}
}

TEST(a_missing_lease_is_made_by_a_newcomer_only_when_no_holder_made_it_again)
{
	struct lease lease = newcomer(missing);

	assert_call(&lease, LEASE_LOOK, START + LEASE_SPACING);
	see(&lease, missing, START + LEASE_SPACING);
	assert_call(&lease, LEASE_CREATE, START + LEASE_DURATION);
}

TEST(the_first_of_all_makes_it_at_once_and_others_do_not)
{
	struct lease first = newcomer_of(missing, true);
	struct lease waits = newcomer_of(record_of("a", 1), true);

	assert_call(&first, LEASE_CREATE, START);
	assert_call(&waits, LEASE_LOOK, START + LEASE_SPACING);
	see(&waits, missing, START + LEASE_SPACING);
	assert_call(&waits, LEASE_LOOK, START + 2 * LEASE_SPACING);
	see(&waits, missing, START + 2 * LEASE_SPACING);
	assert_call(&waits, LEASE_CREATE, START + LEASE_SPACING + LEASE_DURATION);
}

TEST(a_holder_makes_a_deleted_lease_again_at_once)
{
	struct lease lease = holder();

	assert_call(&lease, LEASE_WRITE, START + LEASE_RENEWAL);
	see(&lease, missing, START + LEASE_RENEWAL);
	assert_call(&lease, LEASE_CREATE, START + LEASE_RENEWAL);
}

TEST(a_conflict_with_a_lost_answer_of_our_own_is_none)
{
	struct lease lease = holder();
	msec now = START + LEASE_RENEWAL;

	assert_call(&lease, LEASE_WRITE, now);
	lease_failed(&lease, moment(now + LEASE_PATIENCE));
	now += LEASE_PATIENCE + LEASE_RETRY;
	assert_call(&lease, LEASE_WRITE, now);
	lease_conflicted(&lease, moment(now));
	assert_call(&lease, LEASE_LOOK, now);
	see(&lease, record_of("a", 2), now);
	assert_call(&lease, LEASE_WRITE, now);
}

TEST(whoever_comes_second_sees_who_was_first)
{
	struct lease lease = newcomer(record_of("", 7));

	assert_call(&lease, LEASE_WRITE, START);
	lease_conflicted(&lease, moment(START + 10));
	assert_call(&lease, LEASE_LOOK, START + 10);
	see(&lease, record_of("c", 8), START + 20);
	assert_int_equal(lease_standing(&lease, moment(START + 20)), LEASE_OTHERS);
	assert_call(&lease, LEASE_NO_CALL, START + 20);
}

TEST(a_holder_that_was_replaced_knows_it_by_the_next_look)
{
	struct lease lease = holder();

	assert_call(&lease, LEASE_WRITE, START + 60000);
	lease_conflicted(&lease, moment(START + 60000));
	assert_call(&lease, LEASE_LOOK, START + 60000);
	see(&lease, record_of("b", 9), START + 60010);
	assert_int_equal(lease_standing(&lease, moment(START + 60010)), LEASE_OTHERS);
}

/* The world: claimants whose clocks run a little fast or slow, which are stopped for a while or for
 * ever, and calls that are late, or lost, on their way there or back. */

#define N_CLAIMANTS 3
#define STEP 50

struct server {
	struct lease_record record;
	int holder; /* the claimant that wrote it */
};

struct claimant {
	struct lease lease;
	char name[16];
	int number; /* of lives */
	double rate; /* of its clock */
	msec offset;
	msec stopped_until;

	enum lease_call call; /* on its way */
	int64_t call_version;
	char call_name[16];
	msec arrives_at, returns_at; /* MSEC_NEVER: lost */
	bool has_arrived;
	bool was_refused;
	struct lease_record answer;
};

struct scene {
	uint32_t seed;
	msec now;
	struct server server;
	struct claimant claimants[N_CLAIMANTS];
	msec last_held; /* when somebody last might act */
};

static uint32_t draw(struct scene *world, uint32_t limit)
{
	world->seed = world->seed * 1664525u + 1013904223u;
	return (world->seed >> 8) % limit;
}

static msec clock_of(const struct scene *world, const struct claimant *claimant)
{
	return claimant->offset + (msec) ((double) world->now * claimant->rate);
}

static void live(struct scene *world, struct claimant *claimant, int index)
{
	claimant->call = LEASE_NO_CALL;
	snprintf(claimant->name, sizeof(claimant->name), "%d.%d", index, ++claimant->number);
	lease_begin(&claimant->lease, claimant->name, INSTANT_UNSET,
		    moment(clock_of(world, claimant)));
}

/* The first one made what it is about: a moment ago, or so long ago that others may be faster. */
static void live_first(struct scene *world, struct claimant *claimant)
{
	msec clock = clock_of(world, claimant);

	live(world, claimant, 0);
	lease_begin(&claimant->lease, claimant->name, moment(clock - draw(world, 30000)),
		    moment(clock));
}

static msec delay(struct scene *world)
{
	switch (draw(world, 12)) {
	case 0:
		return MSEC_NEVER;
	case 1:
		return draw(world, 40000); /* longer than anybody has patience */
	default:
		return draw(world, 300);
	}
}

static void begin_call(struct scene *world, struct claimant *claimant, enum lease_call call)
{
	msec there = delay(world), back = delay(world);

	lease_called(&claimant->lease, moment(clock_of(world, claimant)));
	claimant->call = call;
	claimant->call_version = claimant->lease.seen.version;
	snprintf(claimant->call_name, sizeof(claimant->call_name), "%s", claimant->name);
	claimant->has_arrived = false;
	claimant->arrives_at = there == MSEC_NEVER ? there : world->now + there;
	claimant->returns_at = there == MSEC_NEVER || back == MSEC_NEVER
				       ? MSEC_NEVER
				       : claimant->arrives_at + back;
}

/* Calls that were given up may arrive all the same. */
struct late_call {
	enum lease_call call;
	int64_t version;
	char name[16];
	msec at;
};

static bool serve(struct server *server, enum lease_call call, int64_t version, const char *name)
{
	struct lease_record *record = &server->record;

	if (call == LEASE_LOOK)
		return true;
	if (call == LEASE_CREATE ? record->is_there
				 : !record->is_there || record->version != version)
		return false;
	version = record->version + 1;
	*record = record_of(name, version);
	return true;
}

static void arrive(struct scene *world, struct claimant *claimant)
{
	claimant->has_arrived = true;
	claimant->was_refused =
		!serve(&world->server, claimant->call, claimant->call_version, claimant->call_name);
	claimant->answer = world->server.record;
}

/* Whose process is gone is known to those on its machine, which all of them are or none is. */
static enum lease_fate fate_of(const struct scene *world, const struct lease_record *record)
{
	for (size_t i = 0; i < N_CLAIMANTS; i++)
		if (text_equals(world->claimants[i].name, record->holder))
			return LEASE_FATE_UNKNOWN;
	return world->seed & 1024 ? LEASE_FATE_GONE : LEASE_FATE_UNKNOWN;
}

static void take_answer(const struct scene *world, struct claimant *claimant, msec clock)
{
	struct lease_record record = claimant->answer;
	enum lease_call call = claimant->call;

	record.fate = fate_of(world, &record);
	claimant->call = LEASE_NO_CALL;
	if (call == LEASE_LOOK || (call == LEASE_WRITE && !record.is_there))
		lease_observe(&claimant->lease, &record, moment(clock));
	else if (claimant->was_refused)
		lease_conflicted(&claimant->lease, moment(clock));
	else
		lease_wrote(&claimant->lease, &record, moment(clock));
}

static void step_claimant(struct scene *world, struct claimant *claimant, struct late_call *late)
{
	msec clock = clock_of(world, claimant);

	if (claimant->call != LEASE_NO_CALL && !claimant->has_arrived &&
	    world->now >= claimant->arrives_at)
		arrive(world, claimant);
	if (world->now < claimant->stopped_until)
		return;
	if (claimant->call != LEASE_NO_CALL && claimant->has_arrived &&
	    world->now >= claimant->returns_at)
		take_answer(world, claimant, clock);
	if (lease_is_call_overdue(&claimant->lease, moment(clock))) {
		if (!claimant->has_arrived && claimant->arrives_at != MSEC_NEVER) {
			*late = (struct late_call){.call = claimant->call,
						   .version = claimant->call_version,
						   .at = claimant->arrives_at};
			snprintf(late->name, sizeof(late->name), "%s", claimant->call_name);
		}
		claimant->call = LEASE_NO_CALL;
		lease_failed(&claimant->lease, moment(clock));
	}
	enum lease_call call = lease_next_call(&claimant->lease, moment(clock));

	if (call != LEASE_NO_CALL)
		begin_call(world, claimant, call);
}

static void disturb(struct scene *world)
{
	size_t index = draw(world, N_CLAIMANTS);
	struct claimant *claimant = &world->claimants[index];

	switch (draw(world, 400)) {
	case 0: /* killed, and another one comes */
		live(world, claimant, (int) index);
		break;
	case 1: /* stopped for a while */
		claimant->stopped_until = world->now + draw(world, 40000);
		break;
	default:
		break;
	}
}

static void assert_at_most_one_acts(struct scene *world)
{
	int n_acting = 0;

	for (size_t i = 0; i < N_CLAIMANTS; i++) {
		const struct claimant *claimant = &world->claimants[i];

		n_acting += lease_standing(&claimant->lease, moment(clock_of(world, claimant))) ==
			    LEASE_HELD;
	}
	assert_true(n_acting <= 1);
	if (n_acting)
		world->last_held = world->now;
}

static void play(uint32_t seed)
{
	struct scene world = {.seed = seed, .now = START, .last_held = START};
	struct late_call late = {.call = LEASE_NO_CALL};

	for (size_t i = 0; i < N_CLAIMANTS; i++) {
		world.claimants[i].rate = 0.9 + 0.1 * draw(&world, 3);
		world.claimants[i].offset = draw(&world, 1000000);
		live(&world, &world.claimants[i], (int) i);
	}
	live_first(&world, &world.claimants[0]);
	for (int i = 0; i < 6000; i++) {
		world.now += STEP;
		disturb(&world);
		if (late.call != LEASE_NO_CALL && world.now >= late.at) {
			serve(&world.server, late.call, late.version, late.name);
			late.call = LEASE_NO_CALL;
		}
		for (size_t j = 0; j < N_CLAIMANTS; j++) {
			step_claimant(&world, &world.claimants[j], &late);
			assert_at_most_one_acts(&world);
		}
		/* Two lost calls and a stop of everybody are as long as it can be nobody's. */
		assert_true(world.now - world.last_held < 300000);
	}
}

TEST(no_two_ever_act_in_any_order_of_faults)
{
	for (uint32_t seed = 1; seed <= 300; seed++)
		play(seed);
}
