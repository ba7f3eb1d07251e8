/* Streams of one log, one after the other, to the container's very end. */
#include "unit.h"

#include "kube/log_follow.h"

#define NO_JITTER 0.0

/* A stream from its beginning to its end, in which something new came or did not. */
static struct log_next pass(struct log_follow *follow, bool has_news, enum log_end end)
{
	log_follow_begin(follow);
	follow->has_news = has_news;
	return log_follow_ended(follow, end, false, NO_JITTER);
}

static void a_proper_end_while_the_container_runs_is_none(void **state)
{
	struct log_follow follow = {0};
	struct log_next next = pass(&follow, true, LOG_END_PROPER);

	(void) state;
	assert_int_equal(next.step, LOG_STEP_STREAM);
	assert_int_equal(next.wait, 250);
}

static void it_is_complete_when_a_stream_behind_the_end_brings_nothing_new(void **state)
{
	struct log_follow follow = {0};

	(void) state;
	log_follow_begin(&follow);
	follow.has_news = true;
	follow.container.has_ended = true;
	struct log_next next = log_follow_ended(&follow, LOG_END_PROPER, false, NO_JITTER);

	assert_int_equal(next.step, LOG_STEP_STREAM);
	assert_int_equal(next.wait, 0);
	assert_int_equal(pass(&follow, true, LOG_END_PROPER).step, LOG_STEP_STREAM);
	assert_int_equal(pass(&follow, false, LOG_END_PROPER).step, LOG_STEP_DONE);
}

static void what_is_still_catching_up_is_not_complete(void **state)
{
	struct log_follow follow = {.container.has_ended = true};

	(void) state;
	log_follow_begin(&follow);
	assert_int_equal(log_follow_ended(&follow, LOG_END_PROPER, true, NO_JITTER).step,
			 LOG_STEP_STREAM);
}

static void pauses_grow_while_nothing_new_comes(void **state)
{
	struct log_follow follow = {0};
	msec waits[8];

	(void) state;
	for (size_t i = 0; i < ARRAY_LEN(waits); i++)
		waits[i] = pass(&follow, false, LOG_END_LOST).wait;
	assert_int_equal(waits[0], 250);
	assert_int_equal(waits[1], 500);
	assert_int_equal(waits[4], 4000);
	assert_int_equal(waits[7], 8000);
	assert_int_equal(pass(&follow, true, LOG_END_LOST).wait, 250);
	log_follow_begin(&follow);
	assert_int_equal(log_follow_ended(&follow, LOG_END_LOST, false, 1.0).wait, 375);
}

static void the_log_of_a_container_that_ended_is_given_up_some_time(void **state)
{
	struct log_follow follow = {.container.has_ended = true};
	int n_streams = 1;

	(void) state;
	while (pass(&follow, false, LOG_END_LOST).step == LOG_STEP_STREAM)
		n_streams++;
	assert_int_equal(n_streams, LOG_FOLLOW_TRIES);
	follow = (struct log_follow){.container.has_ended = true};
	for (n_streams = 1; pass(&follow, false, LOG_END_FAILED).step == LOG_STEP_STREAM;)
		n_streams++;
	assert_int_equal(n_streams, LOG_FOLLOW_FAILURES);
}

static void what_is_refused_is_asked_again_only_while_it_runs(void **state)
{
	struct log_follow running = {0}, ended = {.container.has_ended = true};

	(void) state;
	assert_int_equal(pass(&running, false, LOG_END_REFUSED).step, LOG_STEP_STREAM);
	assert_int_equal(pass(&ended, false, LOG_END_REFUSED).step, LOG_STEP_GIVE_UP);
}

static void a_pod_that_is_gone_has_no_more_to_say(void **state)
{
	struct log_follow follow = {0}, broken = {0};

	(void) state;
	pass(&follow, true, LOG_END_PROPER);
	follow.container.has_ended = true;
	assert_int_equal(pass(&follow, false, LOG_END_ABSENT).step, LOG_STEP_DONE);
	pass(&broken, true, LOG_END_LOST);
	broken.container.has_ended = true;
	assert_int_equal(pass(&broken, false, LOG_END_ABSENT).step, LOG_STEP_GIVE_UP);
}

/* kubelet was started again, under a container that went on. */
static void a_log_that_nobody_knows_is_asked_for_again_while_its_container_runs(void **state)
{
	struct log_follow follow = {0};

	(void) state;
	pass(&follow, true, LOG_END_PROPER);
	assert_int_equal(pass(&follow, false, LOG_END_ABSENT).step, LOG_STEP_STREAM);
	assert_int_equal(pass(&follow, true, LOG_END_PROPER).step, LOG_STEP_STREAM);
}

static void a_container_that_was_started_again_is_read_behind_the_one_before_it(void **state)
{
	struct log_follow follow = {0};

	(void) state;
	pass(&follow, true, LOG_END_PROPER);
	follow.container.n_restarts = 1;
	assert_false(log_follow_begin(&follow));
	assert_true(follow.reads_previous);
	struct log_next next = log_follow_ended(&follow, LOG_END_PROPER, false, NO_JITTER);

	assert_int_equal(next.step, LOG_STEP_STREAM);
	assert_int_equal(next.wait, 0);
	assert_true(log_follow_begin(&follow));
	assert_false(follow.reads_previous);
}

static void who_comes_late_reads_the_container_before_the_last_as_well(void **state)
{
	struct log_follow follow = {.container.n_restarts = 3};

	(void) state;
	log_follow_begin(&follow);
	assert_true(follow.reads_previous);
	/* It is no longer there. */
	assert_int_equal(log_follow_ended(&follow, LOG_END_REFUSED, false, NO_JITTER).step,
			 LOG_STEP_STREAM);
	log_follow_begin(&follow);
	assert_false(follow.reads_previous);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_proper_end_while_the_container_runs_is_none),
		cmocka_unit_test(it_is_complete_when_a_stream_behind_the_end_brings_nothing_new),
		cmocka_unit_test(what_is_still_catching_up_is_not_complete),
		cmocka_unit_test(pauses_grow_while_nothing_new_comes),
		cmocka_unit_test(the_log_of_a_container_that_ended_is_given_up_some_time),
		cmocka_unit_test(what_is_refused_is_asked_again_only_while_it_runs),
		cmocka_unit_test(a_pod_that_is_gone_has_no_more_to_say),
		cmocka_unit_test(
			a_log_that_nobody_knows_is_asked_for_again_while_its_container_runs),
		cmocka_unit_test(
			a_container_that_was_started_again_is_read_behind_the_one_before_it),
		cmocka_unit_test(who_comes_late_reads_the_container_before_the_last_as_well),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
