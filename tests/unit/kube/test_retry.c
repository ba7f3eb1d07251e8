#include "unit.h"

#include "kube/retry.h"

#include <stdio.h>

/* What is decided of one try. */
static struct kube_retry after(struct kube_outcome outcome)
{
	if (!outcome.n_tries)
		outcome.n_tries = 1;
	if (!outcome.n_failures)
		outcome.n_failures = outcome.n_tries;
	if (!outcome.status.retry_after)
		outcome.status.retry_after = -1;
	return kube_retry_decide(&outcome, 0);
}

TEST(a_server_that_asks_to_wait_is_asked_again_ten_times)
{
	struct kube_outcome outcome = {.verb = KUBE_CREATE, .status = {.code = 429}};

	outcome.status.retry_after = 7000;
	for (outcome.n_tries = 1; outcome.n_tries < KUBE_TRIES; outcome.n_tries++) {
		assert_int_equal(after(outcome).action, KUBE_TRY_AGAIN);
		assert_int_equal(after(outcome).wait, 7000);
	}
	assert_int_equal(after(outcome).action, KUBE_GIVE_UP);
}

TEST(what_fails_behind_the_server_is_not_asked_again)
{
	struct kube_outcome outcome = {.verb = KUBE_WATCH, .status = {.code = 500}};

	assert_int_equal(after(outcome).action, KUBE_TRY_AGAIN);
	outcome.is_relayed = true;
	assert_int_equal(after(outcome).action, KUBE_GIVE_UP);
	outcome.status.code = 429; /* the server's own word */
	assert_int_equal(after(outcome).action, KUBE_TRY_AGAIN);
	outcome.status.code = 0;
	outcome.is_lost = true;
	assert_int_equal(after(outcome).action, KUBE_TRY_AGAIN);
}

TEST(nobody_waits_longer_than_a_minute)
{
	assert_int_equal(
		after((struct kube_outcome){.verb = KUBE_GET,
					    .status = {.code = 503, .retry_after = 3600000}})
			.wait,
		60000);
}

TEST(waits_grow_and_are_spread)
{
	const struct kube_outcome first = {
		.verb = KUBE_GET, .n_tries = 1, .status = {.code = 500, .retry_after = -1}};
	const struct kube_outcome ninth = {
		.verb = KUBE_GET, .n_tries = 9, .status = {.code = 429, .retry_after = -1}};

	assert_int_equal(kube_retry_decide(&first, 0).wait, 200);
	assert_int_equal(kube_retry_decide(&first, 1).wait, 300);
	assert_int_equal(kube_retry_decide(&ninth, 0).wait, 10000);
	assert_int_equal(kube_retry_decide(&ninth, 1).wait, 15000);
}

TEST(a_create_that_may_have_arrived_is_looked_for)
{
	assert_int_equal(
		after((struct kube_outcome){.verb = KUBE_CREATE, .has_name = true, .is_lost = true})
			.action,
		KUBE_LOOK_FIRST);
	assert_int_equal(after((struct kube_outcome){.verb = KUBE_CREATE,
						     .has_name = true,
						     .status = {.code = 504, .retry_after = 1000}})
				 .action,
			 KUBE_LOOK_FIRST);
	/* However often: what was made and is not known of would be left behind. */
	assert_int_equal(after((struct kube_outcome){.verb = KUBE_CREATE,
						     .has_name = true,
						     .n_tries = KUBE_BLIND_TRIES,
						     .is_lost = true})
				 .action,
			 KUBE_LOOK_FIRST);
	/* The server makes the name up: nobody could find it. */
	assert_int_equal(after((struct kube_outcome){.verb = KUBE_CREATE, .is_lost = true}).action,
			 KUBE_GIVE_UP);
}

TEST(a_question_may_be_asked_again)
{
	assert_int_equal(after((struct kube_outcome){
				       .verb = KUBE_CREATE, .is_question = true, .is_lost = true})
				 .action,
			 KUBE_TRY_AGAIN);
}

TEST(what_is_gone_after_a_delete_whose_answer_was_lost_was_deleted)
{
	struct kube_outcome outcome = {
		.verb = KUBE_DELETE, .was_lost = true, .n_tries = 2, .status = {.code = 404}};

	assert_int_equal(after(outcome).action, KUBE_WAS_DONE);
	outcome.was_lost = false;
	assert_int_equal(after(outcome).action, KUBE_GIVE_UP);
	outcome = (struct kube_outcome){
		.verb = KUBE_GET, .was_lost = true, .n_tries = 2, .status = {.code = 404}};
	assert_int_equal(after(outcome).action, KUBE_GIVE_UP);
}

TEST(what_is_there_after_a_call_that_was_lost_is_looked_at)
{
	struct kube_outcome outcome = {.verb = KUBE_CREATE,
				       .has_name = true,
				       .was_lost = true,
				       .n_tries = 3,
				       .status = {.code = 409, .reason = "AlreadyExists"}};

	assert_int_equal(after(outcome).action, KUBE_LOOK_FIRST);
	outcome.verb = KUBE_PATCH;
	snprintf(outcome.status.reason, sizeof(outcome.status.reason), "Conflict");
	assert_int_equal(after(outcome).action, KUBE_LOOK_FIRST);
	outcome.n_tries = KUBE_TRIES;
	assert_int_equal(after(outcome).action, KUBE_GIVE_UP);
	outcome.n_tries = 3;
	outcome.was_lost = false;
	assert_int_equal(after(outcome).action, KUBE_GIVE_UP);
}

TEST(what_the_server_judged_is_not_asked_again)
{
	static const int codes[] = {400, 403, 404, 405, 409, 410, 413, 422};

	for (size_t i = 0; i < ARRAY_LEN(codes); i++)
		assert_int_equal(
			after((struct kube_outcome){.verb = KUBE_GET, .status = {.code = codes[i]}})
				.action,
			KUBE_GIVE_UP);
}

TEST(what_was_never_sent_is_its_callers_to_try_again)
{
	assert_int_equal(after((struct kube_outcome){.verb = KUBE_GET}).action, KUBE_GIVE_UP);
}

TEST(a_server_that_only_fails_is_asked_three_times)
{
	struct kube_outcome outcome = {.verb = KUBE_APPLY, .n_tries = 2, .is_lost = true};

	assert_int_equal(after(outcome).action, KUBE_TRY_AGAIN);
	outcome.n_tries = 3;
	assert_int_equal(after(outcome).action, KUBE_GIVE_UP);
	outcome.n_failures = 1; /* it asked to wait before */
	assert_int_equal(after(outcome).action, KUBE_TRY_AGAIN);
}

TEST(what_may_not_be_done_twice_is_not)
{
	assert_int_equal(
		after((struct kube_outcome){.verb = KUBE_JSON_PATCH, .is_lost = true}).action,
		KUBE_GIVE_UP);
}

TEST(a_watch_that_did_not_begin_is_tried_again_like_any_question)
{
	struct kube_outcome outcome = {.verb = KUBE_WATCH, .n_tries = 1, .is_lost = true};

	assert_int_equal(after(outcome).action, KUBE_TRY_AGAIN);
	outcome.n_tries = KUBE_BLIND_TRIES;
	outcome.n_failures = KUBE_BLIND_TRIES;
	assert_int_equal(after(outcome).action, KUBE_GIVE_UP);
}

TEST(a_credential_is_renewed_once)
{
	struct kube_outcome outcome = {
		.verb = KUBE_GET, .can_refresh = true, .status = {.code = 401}};

	assert_int_equal(after(outcome).action, KUBE_REFRESH);
	outcome.was_refreshed = true;
	assert_int_equal(after(outcome).action, KUBE_GIVE_UP);
	outcome = (struct kube_outcome){.verb = KUBE_GET, .status = {.code = 401}};
	assert_int_equal(after(outcome).action, KUBE_GIVE_UP);
}

static bool was_created(const char *sent_text, const char *found_text)
{
	struct json *sent CLEANUP(json_cleanup) = NULL;
	struct json *found CLEANUP(json_cleanup) = NULL;

	assert_int_equal(json_read(sent_text, strlen(sent_text), &sent, NULL), 0);
	assert_int_equal(json_read(found_text, strlen(found_text), &found, NULL), 0);
	return kube_was_created(sent, found);
}

TEST(a_server_may_add_to_what_was_sent)
{
	assert_true(was_created(
		"{\"metadata\":{\"labels\":{\"a\":\"1\"},"
		"\"ownerReferences\":[{\"uid\":\"u\"}]}}",
		"{\"metadata\":{\"labels\":{\"b\":\"2\",\"a\":\"1\"},"
		"\"ownerReferences\":[{\"uid\":\"v\"},{\"uid\":\"u\"}],\"uid\":\"x\"}}"));
}

TEST(another_mark_is_another_object)
{
	assert_false(was_created("{\"metadata\":{\"labels\":{\"a\":\"1\"}}}",
				 "{\"metadata\":{\"labels\":{\"a\":\"2\"}}}"));
	assert_false(was_created("{\"metadata\":{\"annotations\":{\"a\":\"1\"}}}",
				 "{\"metadata\":{\"labels\":{\"a\":\"1\"}}}"));
	assert_false(was_created("{\"metadata\":{\"ownerReferences\":[{\"uid\":\"u\"}]}}",
				 "{\"metadata\":{\"ownerReferences\":[{\"uid\":\"v\"}]}}"));
}

TEST(what_has_no_mark_cannot_be_told_apart)
{
	assert_false(
		was_created("{\"metadata\":{\"name\":\"a\"}}", "{\"metadata\":{\"name\":\"a\"}}"));
}

static bool was_patched(const char *patch_text, const char *found_text)
{
	struct json *patch CLEANUP(json_cleanup) = NULL;
	struct json *found CLEANUP(json_cleanup) = NULL;

	assert_int_equal(json_read(patch_text, strlen(patch_text), &patch, NULL), 0);
	assert_int_equal(json_read(found_text, strlen(found_text), &found, NULL), 0);
	return kube_was_patched(patch, found);
}

TEST(what_a_patch_wants_is_so_at_any_version)
{
	const char *patch = "{\"metadata\":{\"resourceVersion\":\"7\"},\"data\":{\"a\":\"1\","
			    "\"b\":null}}";

	assert_true(was_patched(patch, "{\"metadata\":{\"resourceVersion\":\"8\",\"name\":\"n\"},"
				       "\"data\":{\"a\":\"1\",\"c\":\"2\"}}"));
	assert_false(was_patched(patch, "{\"metadata\":{},\"data\":{\"a\":\"2\"}}"));
	assert_false(was_patched(patch, "{\"metadata\":{},\"data\":{\"a\":\"1\",\"b\":\"3\"}}"));
	assert_false(was_patched(patch, "{}"));
}

TEST(lists_of_a_patch_are_whole)
{
	assert_true(was_patched("{\"a\":[1,2]}", "{\"a\":[1,2]}"));
	assert_false(was_patched("{\"a\":[1]}", "{\"a\":[1,2]}"));
}
