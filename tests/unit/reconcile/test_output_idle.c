#include "unit.h"

#include "reconcile/output_idle.h"

#define START ((msec) 1000000)
#define SECOND MSEC_PER_SECOND

static struct role roles[] = {
	{.kind = ROLE_CHIEF, .name = "chief", .replicas = 1},
	{.kind = ROLE_PS, .name = "ps", .replicas = 1},
	{.kind = ROLE_WORKER, .name = "worker", .replicas = 2},
};
static const struct job led = {.roles = roles, .n_roles = 3};
static const struct job without_chief = {.roles = &roles[1], .n_roles = 2};
static const struct job workers = {.roles = &roles[2], .n_roles = 1};

static void set_up_workers(struct output_idle *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		list[i] = (struct output_idle){
			.role = "worker", .index = (int) i, .is_watched = true};
		output_idle_record_start(&list[i], START);
	}
}

static void assert_told(struct output_idle *list, size_t count, msec now, const char *expected)
{
	struct text text CLEANUP(text_done) = {0};

	assert_true(output_idle_report(list, count, now, &text));
	assert_string_equal(text_of(&text), expected);
}

static void assert_not_told(struct output_idle *list, size_t count, msec now)
{
	struct text text CLEANUP(text_done) = {0};

	assert_false(output_idle_report(list, count, now, &text));
	assert_int_equal(text.len, 0);
}

static void assert_lasting(const struct output_idle *list, size_t count, const char *expected)
{
	struct text text CLEANUP(text_done) = {0};

	output_idle_add_lasting(list, count, &text);
	assert_string_equal(text_of(&text), expected);
}

TEST(a_silence_is_told_after_30_seconds_and_once)
{
	struct output_idle list[2];

	set_up_workers(list, 2);
	output_idle_record_output(&list[0], START + 40 * SECOND);
	output_idle_record_output(&list[1], START + 30 * SECOND);
	assert_int_equal(output_idle_wake_at(list, 2), START + 60 * SECOND);
	assert_not_told(list, 2, START + 59 * SECOND - 1);
	assert_told(list, 2, START + 60 * SECOND, "worker-1 has printed nothing for 30s");
	assert_lasting(list, 2, "worker-1 has printed nothing for 30s");
	assert_int_equal(output_idle_wake_at(list, 2), START + 70 * SECOND);
	assert_told(list, 2, START + 70 * SECOND, "worker-0 has printed nothing for 30s");
	assert_int_equal(output_idle_wake_at(list, 2), MSEC_NEVER);
	assert_not_told(list, 2, START + 5000 * SECOND);
}

/* Only rank 0 prints: the silence of the others is that of the job. */
TEST(who_prints_only_at_its_start_is_told_with_those_that_print)
{
	struct output_idle list[3];

	set_up_workers(list, 3);
	output_idle_record_output(&list[0], START + 29 * SECOND);
	output_idle_record_output(&list[1], START + 10 * SECOND);
	assert_not_told(list, 3, START + 40 * SECOND);
	assert_true(list[1].is_news && list[2].is_news); /* an exception of theirs is reported */
	assert_lasting(list, 3, "");
	output_idle_record_output(&list[0], START + 50 * SECOND);
	assert_not_told(list, 3, START + 79 * SECOND - 1);
	assert_false(list[1].is_news || list[2].is_news);
	assert_told(list, 3, START + 80 * SECOND,
		    "worker-0 and 2 more have printed nothing for 30s");
	assert_lasting(list, 3, "worker-0 and 2 more have printed nothing for 30s");
	assert_not_told(list, 3, START + 81 * SECOND);
	output_idle_record_output(&list[0], START + 90 * SECOND);
	assert_lasting(list, 3, "");
	assert_told(list, 3, START + 170 * SECOND,
		    "worker-0 and 2 more have printed nothing for 30s");
	output_idle_record_start(&list[0], START + 200 * SECOND);
	assert_lasting(list, 3, "worker-1 and worker-2 have printed nothing for 30s");
}

TEST(when_those_that_print_have_ended_the_others_are_silent)
{
	struct output_idle list[3];

	set_up_workers(list, 3);
	output_idle_record_output(&list[0], START + 29 * SECOND);
	assert_not_told(list, 3, START + 40 * SECOND);
	output_idle_record_output(&list[0], START + 45 * SECOND);
	assert_int_equal(output_idle_wake_at(list, 3), START + 75 * SECOND);
	list[0].is_watched = list[2].is_watched = false;
	assert_true(output_idle_wake_at(list, 3) <= START + 50 * SECOND);
	assert_told(list, 3, START + 50 * SECOND, "worker-1 has printed nothing for 30s");
	assert_int_equal(output_idle_wake_at(list, 3), MSEC_NEVER);
}

TEST(those_that_fall_silent_together_are_told_together)
{
	struct output_idle list[3];

	set_up_workers(list, 3);
	output_idle_record_output(&list[1], START + 500);
	output_idle_record_output(&list[2], START + 900);
	assert_told(list, 3, START + 30 * SECOND,
		    "worker-0 and 2 more have printed nothing for 30s");
}

TEST(who_printed_again_is_not_among_those_whose_silence_lasts)
{
	struct output_idle list[3];

	set_up_workers(list, 3);
	for (size_t i = 0; i < 3; i++)
		output_idle_record_output(&list[i], START + 30 * SECOND);
	assert_told(list, 3, START + 60 * SECOND,
		    "worker-0 and 2 more have printed nothing for 30s");
	output_idle_record_output(&list[0], START + 70 * SECOND);
	assert_lasting(list, 3, "worker-1 and worker-2 have printed nothing for 30s");
	assert_told(list, 3, START + 150 * SECOND, "worker-0 has printed nothing for 80s");
	assert_lasting(list, 3, "worker-0 and 2 more have printed nothing for 30s");
}

TEST(those_that_only_run_what_a_chief_sends_are_silent_by_nature)
{
	assert_true(output_idle_is_meaningful(&led, "chief"));
	assert_false(output_idle_is_meaningful(&led, "ps"));
	assert_false(output_idle_is_meaningful(&led, "worker"));
	assert_false(output_idle_is_meaningful(&without_chief, "ps"));
	assert_true(output_idle_is_meaningful(&without_chief, "worker"));
	assert_false(output_idle_is_meaningful(&led, "evaluator"));
}

static void assert_cause(const struct output_idle *list, size_t count, const struct job *job,
			 const char *expected)
{
	struct text text CLEANUP(text_done) = {0};

	output_idle_add_cause(list, count, job, &text);
	assert_string_equal(text_of(&text), expected);
}

TEST(a_whole_job_may_wait_for_a_chief)
{
	struct output_idle list[2];
	const char *cause = "; no chief coordinates this job: add --chief if it waits for one";

	set_up_workers(list, 2);
	assert_cause(list, 2, &without_chief, "");
	list[0].is_told = true;
	assert_cause(list, 2, &without_chief, "");
	list[1].is_watched = false;
	assert_cause(list, 2, &without_chief, cause);
	assert_cause(list, 2, &led, "");
	assert_cause(list, 2, &workers, "");
	list[0].is_watched = false;
	assert_cause(list, 2, &without_chief, "");
}

TEST(output_ends_a_silence_and_a_slow_replica_gets_more_patience)
{
	struct output_idle list[1];

	set_up_workers(list, 1);
	assert_told(list, 1, START + 30 * SECOND, "worker-0 has printed nothing for 30s");
	output_idle_record_output(&list[0], START + 60 * SECOND);
	assert_lasting(list, 1, "");
	assert_int_equal(output_idle_wake_at(list, 1), START + 180 * SECOND);
	output_idle_record_output(&list[0], START + 120 * SECOND);
	assert_not_told(list, 1, START + 200 * SECOND);
	assert_told(list, 1, START + 240 * SECOND, "worker-0 has printed nothing for 2m");
}

TEST(who_does_not_run_or_never_started_is_not_told_of)
{
	struct output_idle list[2];

	set_up_workers(list, 2);
	list[0].is_watched = false;
	list[1].last_life = MSEC_UNSET;
	assert_int_equal(output_idle_wake_at(list, 2), MSEC_NEVER);
	assert_not_told(list, 2, START + 100 * SECOND);
	assert_int_equal(output_idle_wake_at(NULL, 0), MSEC_NEVER);
}

TEST(an_older_moment_changes_nothing)
{
	struct output_idle list[1];

	set_up_workers(list, 1);
	output_idle_record_output(&list[0], START - SECOND);
	output_idle_record_output(&list[0], MSEC_UNSET);
	assert_int_equal(list[0].last_life, START);
}

static void assert_beginning(const struct output_idle *list, size_t count, msec now,
			     const char *expected, msec expected_next)
{
	struct text text CLEANUP(text_done) = {0};

	assert_int_equal(output_idle_report_start(list, count, now, &text), expected_next);
	assert_string_equal(text_of(&text), expected);
}

TEST(that_nothing_was_printed_yet_is_told_each_second_until_something_is)
{
	struct output_idle list[3];

	set_up_workers(list, 3);
	list[0].is_running = list[1].is_running = true;
	list[2].is_stopped = true;
	assert_beginning(list, 3, START + 200, "", START + SECOND);
	assert_beginning(list, 3, START + 9100, "2 of 2 running, nothing printed yet (9s)",
			 START + 10 * SECOND);
	list[1].is_running = false;
	assert_beginning(list, 3, START + 2 * SECOND, "1 of 2 running, nothing printed yet (2s)",
			 START + 3 * SECOND);
	output_idle_record_output(&list[1], START + 3 * SECOND);
	assert_beginning(list, 3, START + 4 * SECOND, "", MSEC_NEVER);
}

TEST(a_restart_begins_in_silence_again)
{
	struct output_idle list[1];

	assert_beginning(NULL, 0, START, "", MSEC_NEVER);
	set_up_workers(list, 1);
	list[0].is_running = true;
	output_idle_record_output(&list[0], START + SECOND);
	output_idle_record_start(&list[0], START);
	assert_beginning(list, 1, START + 4 * SECOND, "", MSEC_NEVER);
	output_idle_record_start(&list[0], START + 5 * SECOND);
	output_idle_record_output(&list[0], START + SECOND);
	assert_beginning(list, 1, START + 6 * SECOND, "1 of 1 running, nothing printed yet (1s)",
			 START + 7 * SECOND);
}
