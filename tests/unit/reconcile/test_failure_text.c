#include "unit.h"

#include "base/text.h"
#include "reconcile/failure_text.h"
#include "status/exception.h"

#define LINES(...)                                                                                 \
	.last_lines = (const char *[])                                                             \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

TEST(a_block_tells_cause_last_lines_and_consequences)
{
	struct consequence consequences[] = {
		{.role = "worker", .index = 0, .what = "was stopped by muster"},
		{.role = "worker", .index = 2, .what = "exited with code 1"},
	};
	struct failure failure = {
		.role = "worker",
		.index = 1,
		.attempt = 2,
		.message = "worker-1 exited with code 1 after 2s (attempt 2)",
		.cause = "worker-0 was stopped",
		.exception = "ValueError: no",
		.time = 1763740931000,
		LINES("Traceback (most recent call last):", "  File \"train.py\", line 3",
		      "ValueError: no"),
		.n_last_lines = 3,
		.consequences = consequences,
		.n_consequences = 2,
	};
	struct replica_status replica = {
		.role = "worker", .index = 1, .attempt = 2, .log = "/logs/worker-1.2.log"};
	const struct status status = {.failure = &failure, .replicas = &replica, .n_replicas = 1};
	struct text text CLEANUP(text_done) = {0};

	failure_describe(&status, "train", &(struct failure_style){0}, &text);
	assert_string_equal(
		text_of(&text),
		"worker-1 exited with code 1 after 2s (attempt 2)\n  likely cause  worker-0 was "
		"stopped\n  error         ValueError: no\n  at            2025-11-21T16:02:11Z\n  "
		"last output   | Traceback (most recent call last):\n                |   File "
		"\"train.py\", line 3\n                | ValueError: no\n  consequences  worker-0 "
		"was stopped by muster\n                worker-2 exited with code 1\n  log file    "
		"  /logs/worker-1.2.log\n  full log      muster logs train --role worker --index 1 "
		"--attempt 2\n");
}

static void assert_explained(const char *const *lines, size_t n_lines, const char *expected)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	const struct printed printed = {.lines = (const char **) lines, .count = n_lines};
	struct failure failure = {
		.role = "worker",
		.message = "worker-0 exited with code 1",
		.exception = exception_find(&printed, arena), /* as the reconciler notes it */
		.last_lines = (const char **) lines,
		.n_last_lines = n_lines,
	};
	const struct status status = {.failure = &failure};
	struct text text CLEANUP(text_done) = {0};

	failure_describe(&status, "train", &(struct failure_style){0}, &text);
	if (!strstr(text_of(&text), expected))
		fail_msg("%s", text_of(&text));
}

TEST(what_is_known_of_tensorflow_is_advised)
{
	const char *keras[] = {
		"      [0.17113522, 0.8620795 , 0.15279093]]], shape=(64, 28, 28), dtype=float32)>",
		"}) with an unsupported type (<class "
		"'tensorflow.python.distribute.values.PerReplica'>"
		") to a Tensor.",
	};
	const char *port[] = {
		"  File \"/tf/eager/context.py\", line 745, in ensure_initialized",
		"    pywrap_tfe.TFE_EnableCollectiveOps(context_handle, server_def_str)",
		"tensorflow.python.framework.errors_impl.UnknownError: Could not start gRPC server",
	};
	const char *missing[] = {
		"Traceback (most recent call last):",
		"  File \"train.py\", line 1, in <module>",
		"ModuleNotFoundError: No module named 'tensorflow'",
	};

	assert_explained(keras, ARRAY_LEN(keras),
			 "  advice        fit() of Keras 3 does not support ");
	assert_explained(
		port, ARRAY_LEN(port),
		"  error         tensorflow.python.framework.errors_impl.UnknownError: Could "
		"not start gRPC server\n"
		"  advice        the port is in use; ");
	assert_explained(missing, ARRAY_LEN(missing),
			 "  error         ModuleNotFoundError: No module named 'tensorflow'\n"
			 "  advice        this Python has no TensorFlow: ");
}

TEST(what_is_known_of_jax_is_advised)
{
	const char *no_arguments[] = {"ValueError: Number of processes must be defined."};

	assert_explained(no_arguments, ARRAY_LEN(no_arguments),
			 "  advice        jax.distributed.initialize reads only");
}

TEST(where_a_job_was_stands_below_its_end)
{
	const char *stacks[] = {"worker-0: barrier (c10d.py:3672), from train.py:12",
				"worker-1: load (data.py:4)"};
	struct failure failure = {
		.message = "the job was active longer than its deadline of 1h",
		.stacks = stacks,
		.n_stacks = 2,
		LINES("worker-0 | step 7", "worker-1 | step 7"),
		.n_last_lines = 2,
	};
	const struct status status = {.failure = &failure};
	struct text text CLEANUP(text_done) = {0};

	failure_describe(&status, "train", &(struct failure_style){0}, &text);
	assert_string_equal(
		text_of(&text),
		"the job was active longer than its deadline of 1h\n  stacks        worker-0: "
		"barrier (c10d.py:3672), from train.py:12\n                worker-1: load "
		"(data.py:4)\n  last output   worker-0 | step 7\n                worker-1 | step "
		"7\n  all stacks    muster stacks train\n  full log      muster logs train\n");
}

TEST(the_log_of_a_later_attempt_is_not_named)
{
	struct failure failure = {.role = "ps", .message = "ps-0 exited with code 1", .attempt = 0};
	struct replica_status replica = {.role = "ps", .attempt = 1, .log = "/logs/ps-0.1.log"};
	const struct status status = {.failure = &failure, .replicas = &replica, .n_replicas = 1};
	struct text text CLEANUP(text_done) = {0};

	failure_describe(&status, "train", &(struct failure_style){0}, &text);
	assert_string_equal(text_of(&text), "ps-0 exited with code 1\n  full log      muster logs "
					    "train --role ps --index 0 --attempt 0\n");
}

TEST(what_never_began_has_no_lines_to_be_shown)
{
	static const char *const reasons[] = {"Refused", "StartFailed", "InitContainerFailed"};

	for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
		struct failure failure = {.role = "ps",
					  .reason = reasons[i],
					  .message = "ps-0 was rejected by the cluster: no"};
		const struct status status = {.failure = &failure};
		struct text text CLEANUP(text_done) = {0};

		failure_describe(&status, "train", &(struct failure_style){0}, &text);
		assert_string_equal(text_of(&text), "ps-0 was rejected by the cluster: no\n");
	}
}

TEST(neighbours_that_ended_alike_are_one_row)
{
	struct consequence consequences[] = {
		{.role = "ps", .index = 0, .what = "was stopped by muster"},
		{.role = "worker", .index = 1, .what = "was stopped by muster"},
		{.role = "worker", .index = 2, .what = "was stopped by muster"},
		{.role = "worker", .index = 3, .what = "was stopped by muster"},
		{.role = "worker", .index = 4, .what = "exited with code 1"},
		{.role = "worker", .index = 6, .what = "exited with code 1"},
	};
	struct failure failure = {.role = "worker",
				  .message = "worker-0 exited with code 1",
				  .consequences = consequences,
				  .n_consequences = ARRAY_LEN(consequences)};
	const struct status status = {.failure = &failure};
	struct text text CLEANUP(text_done) = {0};

	failure_describe(&status, "train", &(struct failure_style){0}, &text);
	assert_string_equal(
		text_of(&text),
		"worker-0 exited with code 1\n  consequences  ps-0 was stopped by muster\n         "
		"       worker-1 to worker-3: each was stopped by muster\n                worker-4 "
		"exited with code 1\n                worker-6 exited with code 1\n  full log      "
		"muster logs train --role worker --index 0 --attempt 0\n");
}

TEST(a_failure_without_a_replica_is_one_sentence)
{
	struct failure failure = {.role = "", .index = -1, .reason = "DeadlineExceeded"};
	const struct status status = {.failure = &failure};
	struct text text CLEANUP(text_done) = {0};

	failure_describe(&status, "train", &(struct failure_style){0}, &text);
	assert_string_equal(text_of(&text), "DeadlineExceeded\n");
}
