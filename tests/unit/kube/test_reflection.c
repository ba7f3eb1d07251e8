/* Transcripts of a mirror in virtual time: what the server does, and what is done then. */
#include "unit.h"

#include "kube/reflection.h"

static const struct kube_status no_answer = {.retry_after = -1};

struct story {
	struct reflection reflection;
	msec now;
};

/* A mirror whose first step has started. */
static struct story new_story(void)
{
	struct story story = {.now = 1000000};

	reflection_begin(&story.reflection, moment(story.now));
	assert_int_equal(story.reflection.step, REFLECTION_STREAM);
	assert_int_equal(story.reflection.wake_at.since_boot, story.now);
	reflection_start(&story.reflection, moment(story.now));
	return story;
}

static int begin(void **state)
{
	static struct story story;

	story = new_story();
	*state = &story;
	return 0;
}

#define STORY_TEST(name) TEST_IN(begin, NULL, struct story *story, name)

static void pass(struct story *story, msec duration)
{
	story->now += duration;
}

static void end(struct story *story, int err_code, int http_code)
{
	struct reflection_end how = {.err_code = err_code, .status = no_answer};

	how.status.code = http_code;
	reflection_ended(&story->reflection, &how, moment(story->now), 0);
}

/* What is next, and after which wait; the step begins. */
static void assert_next(struct story *story, enum reflection_step step, msec wait)
{
	assert_int_equal(story->reflection.step, step);
	assert_int_equal(story->reflection.wake_at.since_boot - story->now, wait);
	story->now = story->reflection.wake_at.since_boot;
	reflection_start(&story->reflection, moment(story->now));
}

STORY_TEST(a_stream_of_all_objects_goes_on_as_a_watch)
{
	reflection_observe(&story->reflection, "7");
	assert_false(story->reflection.is_synced);
	assert_string_equal(story->reflection.version, "");
	reflection_listed(&story->reflection, "9", moment(story->now));
	assert_true(story->reflection.is_synced);
	assert_true(instant_is_never(story->reflection.wake_at));
	reflection_observe(&story->reflection, "12");
	pass(story, 400000);
	end(story, 0, 0);
	assert_string_equal(story->reflection.version, "12");
	assert_next(story, REFLECTION_WATCH, 0);
	assert_true(story->reflection.is_synced);
}

TEST(a_server_that_cannot_stream_is_asked_for_pages)
{
	static const int codes[] = {400, 422, 500};

	for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
		struct story story = new_story();

		end(&story, ERR_INVALID, codes[i]);
		assert_next(&story, REFLECTION_LIST, 0);
		reflection_listed(&story.reflection, "9", moment(story.now));
		assert_next(&story, REFLECTION_WATCH, 0);
		/* And it is not asked for a stream again. */
		pass(&story, 5000);
		end(&story, ERR_CONFLICT, 410);
		assert_next(&story, REFLECTION_LIST, 0);
	}
}

STORY_TEST(a_server_that_takes_the_stream_for_a_watch_is_asked_for_pages)
{
	reflection_observe(&story->reflection, "7");
	pass(story, 60000);
	end(story, ERR_UNREACHABLE, 0);
	assert_next(story, REFLECTION_LIST, 0);
}

STORY_TEST(an_old_version_means_to_list_anew_at_once)
{
	reflection_listed(&story->reflection, "9", moment(story->now));
	pass(story, 5000);
	end(story, 0, 0);
	assert_next(story, REFLECTION_WATCH, 0);
	end(story, ERR_CONFLICT, 410);
	assert_next(story, REFLECTION_STREAM, 0);
	assert_false(story->reflection.is_synced);
	assert_string_equal(story->reflection.version, "");
}

STORY_TEST(a_version_that_the_server_does_not_take_is_forgotten)
{
	reflection_listed(&story->reflection, "none", moment(story->now));
	pass(story, 5000);
	end(story, 0, 0);
	assert_next(story, REFLECTION_WATCH, 0);
	end(story, ERR_INVALID, 400);
	assert_next(story, REFLECTION_STREAM, 0);
	assert_string_equal(story->reflection.version, "");
}

STORY_TEST(versions_that_are_always_too_old_make_no_loop)
{
	reflection_listed(&story->reflection, "9", moment(story->now));
	pass(story, 5000);
	end(story, ERR_CONFLICT, 410);
	assert_next(story, REFLECTION_STREAM, 0);
	end(story, ERR_CONFLICT, 410);
	assert_next(story, REFLECTION_STREAM, 800);
	end(story, ERR_CONFLICT, 410);
	assert_next(story, REFLECTION_STREAM, 1600);
}

/* The server was restored from a backup, and has not reached the version that it once gave. */
TEST(a_watch_that_is_never_told_anything_means_to_list_anew)
{
	static const int ends[] = {0, ERR_UNREACHABLE};

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		struct story story = new_story();

		reflection_listed(&story.reflection, "900", moment(story.now));
		pass(&story, 150000);
		end(&story, 0, 0);
		assert_next(&story, REFLECTION_WATCH, 0);
		pass(&story, 150000);
		end(&story, ends[i], 0);
		assert_next(&story, REFLECTION_STREAM, 0);
		assert_false(story.reflection.is_synced);
		assert_string_equal(story.reflection.version, "");
	}
}

STORY_TEST(watches_that_are_given_up_soon_are_silent_together)
{
	reflection_listed(&story->reflection, "900", moment(story->now));
	pass(story, 30000);
	end(story, ERR_UNREACHABLE, 0);
	for (int i = 0; i < 3; i++) {
		assert_next(story, REFLECTION_WATCH, 800);
		pass(story, 30000);
		end(story, ERR_UNREACHABLE, 0);
	}
	assert_next(story, REFLECTION_STREAM, 0);
}

STORY_TEST(a_bookmark_says_that_the_version_is_good)
{
	reflection_listed(&story->reflection, "9", moment(story->now));
	for (int i = 0; i < 10; i++) {
		end(story, ERR_UNREACHABLE, 0);
		assert_next(story, REFLECTION_WATCH, 800);
		pass(story, 60000);
		if (i % 2)
			reflection_observe(&story->reflection, "9");
	}
}

STORY_TEST(a_lost_watch_goes_on_from_its_version)
{
	reflection_listed(&story->reflection, "9", moment(story->now));
	reflection_observe(&story->reflection, "11");
	pass(story, 5000);
	end(story, ERR_UNREACHABLE, 0);
	assert_string_equal(story->reflection.version, "11");
	assert_next(story, REFLECTION_WATCH, 800);
	assert_true(story->reflection.is_synced);
}

STORY_TEST(waits_grow_to_half_a_minute_and_begin_anew_after_a_quiet_time)
{
	static const msec waits[] = {800, 1600, 3200, 6400, 12800, 25600, 30000, 30000};

	for (size_t i = 0; i < ARRAY_LEN(waits); i++) {
		end(story, ERR_UNREACHABLE, 0);
		assert_next(story, REFLECTION_STREAM, waits[i]);
	}
	reflection_listed(&story->reflection, "9", moment(story->now));
	pass(story, 120001);
	end(story, ERR_UNREACHABLE, 0);
	assert_next(story, REFLECTION_WATCH, 800);
}

STORY_TEST(what_is_lost_after_a_while_is_started_anew_soon)
{
	reflection_listed(&story->reflection, "9", moment(story->now));
	for (int i = 0; i < 20; i++) {
		pass(story, 2000); /* nothing was heard for so long */
		end(story, ERR_UNREACHABLE, 0);
		assert_next(story, REFLECTION_WATCH, 800);
	}
}

STORY_TEST(a_server_that_fails_slowly_is_spared)
{
	reflection_listed(&story->reflection, "9", moment(story->now));
	pass(story, 5000);
	end(story, ERR_UNREACHABLE, 500);
	assert_next(story, REFLECTION_WATCH, 800);
	pass(story, 5000);
	end(story, ERR_UNREACHABLE, 500);
	assert_next(story, REFLECTION_WATCH, 1600);
}

TEST(waits_are_spread)
{
	struct story story = new_story();
	const struct reflection_end how = {.err_code = ERR_UNREACHABLE, .status = no_answer};

	reflection_ended(&story.reflection, &how, moment(story.now), 1);
	assert_next(&story, REFLECTION_STREAM, 1600);
}

STORY_TEST(a_watch_that_ends_at_once_makes_no_loop)
{
	reflection_listed(&story->reflection, "9", moment(story->now));
	pass(story, 5000);
	end(story, 0, 0);
	assert_next(story, REFLECTION_WATCH, 0);
	end(story, 0, 0);
	assert_next(story, REFLECTION_WATCH, 800);
	pass(story, 1000);
	end(story, 0, 0);
	assert_next(story, REFLECTION_WATCH, 0);
}

TEST(a_server_that_asks_to_wait_longer_gets_its_wish)
{
	struct story story = new_story();
	const struct reflection_end how = {
		.err_code = ERR_UNREACHABLE,
		.status = {.code = 429, .retry_after = 9000},
	};

	reflection_ended(&story.reflection, &how, moment(story.now), 0);
	assert_next(&story, REFLECTION_STREAM, 9000);
}

STORY_TEST(who_may_not_watch_tries_again_and_is_not_taken_for_an_old_server)
{
	end(story, ERR_REFUSED, 403);
	assert_next(story, REFLECTION_STREAM, 800);
	assert_false(story->reflection.is_without_stream);
}

STORY_TEST(a_list_that_fails_is_listed_again)
{
	end(story, ERR_INVALID, 422);
	assert_next(story, REFLECTION_LIST, 0);
	end(story, ERR_CONFLICT, 410);
	assert_next(story, REFLECTION_LIST, 0);
	end(story, ERR_CONFLICT, 410);
	assert_next(story, REFLECTION_LIST, 800);
	end(story, ERR_UNREACHABLE, 500);
	assert_next(story, REFLECTION_LIST, 1600);
}
