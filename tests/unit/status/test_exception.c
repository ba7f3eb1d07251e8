/* What programs print when they fail, and the line of it that says why. */
#include "unit.h"

#include "status/exception.h"

static void assert_found(const char *expected, const char *const *lines, size_t n_lines)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	const struct printed printed = {.lines = (const char **) lines, .count = n_lines};
	const char *found = exception_find(&printed, arena);

	assert_string_equal(found ? found : "", expected);
}

#define FOUND(expected, ...)                                                                       \
	do {                                                                                       \
		const char *const lines[] = {__VA_ARGS__};                                         \
                                                                                                   \
		assert_found(expected, lines, ARRAY_LEN(lines));                                   \
	} while (0)

TEST(the_exception_of_the_last_traceback_counts)
{
	FOUND("ValueError: no", "epoch 1",
	      "Traceback (most recent call last):", "  File \"train.py\", line 3, in <module>",
	      "    fit()", "KeyError: 'x'", "",
	      "During handling of the above exception, another exception occurred:", "",
	      "Traceback (most recent call last):", "  File \"train.py\", line 5", "ValueError: no",
	      "ended");
	FOUND("SyntaxError: invalid syntax", "  File \"train.py\", line 1", "    def", "       ^",
	      "SyntaxError: invalid syntax");
	FOUND("train.BadShape: (2, 3) and (4, 5)",
	      "Traceback (most recent call last):", "  File \"b.py\", line 2", "    go()",
	      "train.BadShape: (2, 3) and (4, 5)", "cleaning up");
	FOUND("", "epoch 1", "loss 0.3");
	FOUND("", "step 7", "killed");
	FOUND("", "Traceback (most recent call last):", "  File");
	assert_found("", NULL, 0);
}

TEST(prefixes_and_colors_are_left_out)
{
	FOUND("ValueError: no", "[rank1]: Traceback (most recent call last):",
	      "[rank1]:   File \"train.py\", line 3, in <module>", "[rank1]:     fit()",
	      "[rank1]:     ~~~^^", "[rank1]: ValueError: no");
	FOUND("ValueError: no", "[default1]:[rank1]: Traceback (most recent call last):",
	      "[default1]:[rank1]:   File \"train.py\", line 3",
	      "[default1]:[rank1]: ValueError: no");
	FOUND("ValueError: no", "[default0]:  File \"train.py\", line 3", "[default0]:    fit()",
	      "[default0]:ValueError: no");
	FOUND("ValueError: no", "Traceback (most recent call last):",
	      "  File \x1b[35m\"train.py\"\x1b[0m, line \x1b[35m1\x1b[0m",
	      "\x1b[1;35mValueError\x1b[0m: \x1b[35mno\x1b[0m");
	FOUND("[1, 2] is a list", "  File \"train.py\", line 3", "[1, 2] is a list");
}

TEST(of_a_group_the_first_exception_inside_counts)
{
	FOUND("ValueError: a", "  + Exception Group Traceback (most recent call last):",
	      "  |   File \"x.py\", line 1, in <module>",
	      "  |     raise ExceptionGroup('several', errors)",
	      "  | ExceptionGroup: several (2 sub-exceptions)",
	      "  +-+---------------- 1 ----------------", "    | ValueError: a",
	      "    +---------------- 2 ----------------", "    | TypeError: b",
	      "    +------------------------------------");
	FOUND("KeyError: 'c'", "  + Exception Group Traceback (most recent call last):",
	      "  |   File \"x.py\", line 1, in <module>",
	      "  | ExceptionGroup: outer (1 sub-exception)",
	      "  +-+---------------- 1 ----------------",
	      "    | Exception Group Traceback (most recent call last):",
	      "    |   File \"x.py\", line 2, in <module>",
	      "    | ExceptionGroup: inner (2 sub-exceptions)",
	      "    +-+---------------- 1 ----------------",
	      "      | Traceback (most recent call last):", "      |   File \"x.py\", line 3",
	      "      | KeyError: 'c'", "      +---------------- 2 ----------------",
	      "      | Traceback (most recent call last):", "      |   File \"x.py\", line 4",
	      "      | OSError: d", "      +------------------------------------");
	FOUND("OSError: later", "  + Exception Group Traceback (most recent call last):",
	      "  | ExceptionGroup: several (1 sub-exception)",
	      "  +-+---------------- 1 ----------------", "    | ValueError: a",
	      "    +------------------------------------",
	      "Traceback (most recent call last):", "  File \"x.py\", line 1", "OSError: later");
}

TEST(a_framed_traceback_is_one)
{
	FOUND("ValueError: no", "╭──────── Traceback (most recent call last) ────────╮",
	      "│ /model/train.py:3 in <module>                     │",
	      "│ ❱ 3 fit()                                         │",
	      "╰───────────────────────────────────────────────────╯", "ValueError: no");
}

TEST(a_program_may_report_its_error_in_one_line)
{
	FOUND("train.py: error: the following arguments are required: --data",
	      "usage: train.py [-h] --data DATA",
	      "train.py: error: the following arguments are required: --data");
	FOUND("Error: Missing option '--data'.", "Usage: train.py [OPTIONS]",
	      "Try 'train.py --help' for help.", "", "Error: Missing option '--data'.");
	FOUND("errors_impl.UnavailableError: gone", "node {{x}}",
	      "errors_impl.UnavailableError: gone", "ended");
	FOUND("", "the error: none", "an Error was not seen", ": error: ", "retry after Error");
}

TEST(python_itself_reports_what_it_cannot_run)
{
	FOUND("/usr/bin/python3.11: can't open file '/x.py': [Errno 2] No such file or directory",
	      "/usr/bin/python3.11: can't open file '/x.py': [Errno 2] No such file or directory");
	FOUND("python3: No module named nopkg", "python3: No module named nopkg");
	FOUND("", "python-foo: no", "pythonic: no", "/python3/x: no", "python3 : no");
}

TEST(a_line_that_ends_with_a_colon_goes_on_in_the_next)
{
	FOUND("RuntimeError: Error(s) in loading state_dict for Net: Missing key(s): 'a'",
	      "Traceback (most recent call last):", "  File \"x.py\", line 1, in <module>",
	      "RuntimeError: Error(s) in loading state_dict for Net:", "", "\tMissing key(s): 'a'",
	      "\tUnexpected key(s): 'b'");
	FOUND("ValueError: no:", "Traceback (most recent call last):", "  File \"x.py\", line 1",
	      "ValueError: no:");
}

TEST(the_exception_of_user_code_is_the_last_one_in_its_words)
{
	FOUND("TypeError: f() missing 1 required positional argument: 'y'",
	      "Traceback (most recent call last):", "  File \"x.py\", line 6, in <module>",
	      "    step(1)", "TypeError: in user code:", "",
	      "    File \"x.py\", line 4, in step  *", "        return f(x)", "",
	      "    TypeError: f() missing 1 required positional argument: 'y'", "");
	FOUND("ValueError: later", "Traceback (most recent call last):", "  File \"x.py\", line 6",
	      "TypeError: in user code:", "    File \"x.py\", line 4", "    KeyError: 'x'",
	      "Traceback (most recent call last):", "  File \"x.py\", line 7", "ValueError: later");
}

#define FOUND_AT(expected, times_, ...)                                                            \
	do {                                                                                       \
		struct arena *arena CLEANUP(arena_cleanup) = arena_new();                          \
		const char *lines[] = {"Traceback (most recent call last):",                       \
				       "  File \"x.py\", line 1", __VA_ARGS__};                    \
		msec times[] = times_;                                                             \
		const struct printed printed = {lines, times, ARRAY_LEN(lines)};                   \
		const char *found = exception_find(&printed, arena);                               \
                                                                                                   \
		assert_int_equal(ARRAY_LEN(lines), ARRAY_LEN(times));                              \
		assert_string_equal(found ? found : "", expected);                                 \
	} while (0)
#define AT(...)                                                                                    \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

/* `except ImportError: traceback.print_exc()`, and the training begins. */
TEST(what_the_program_has_left_behind_is_not_what_ended_it)
{
	FOUND_AT("", AT(5, 5, 5, 1005), "ImportError: no flash_attn", "step 1");
	FOUND_AT("ImportError: no flash_attn", AT(5, 5, 5, 1004), "ImportError: no flash_attn",
		 "a second line of the message");
	FOUND_AT("ImportError: no flash_attn", AT(5, 5, 5, 9005, 9006, 9006),
		 "ImportError: no flash_attn", "[rank1]:[W1128 02:44:00.1 x.cpp:9] closed",
		 "E0000 00:00:1763740931.5 77 agent.cc:9] lost", "/x.py:3: UserWarning: leaked");
	FOUND_AT("x.py: error: no --data", AT(5, 5, 5, 1005, 1005), "ImportError: no", "step 1",
		 "x.py: error: no --data");
	FOUND_AT("OSError: later", AT(5, 5, 5, 1005, 1005, 1005, 1005), "ImportError: no", "step 1",
		 "Traceback (most recent call last):", "  File \"x.py\", line 2", "OSError: later");
}

TEST(some_exceptions_are_about_a_peer)
{
	assert_true(exception_blames_peer("DistStoreError: Timed out after 13 seconds waiting for "
					  "clients. 1/2 clients joined."));
	assert_true(exception_blames_peer("RuntimeError: Connection closed by peer [127.0.0.1]"));
	assert_false(exception_blames_peer("ValueError: loss is NaN"));
}

/* A JAX process that has failed waits for its peers, and is aborted minutes later. */
TEST(what_a_program_printed_before_it_blamed_a_peer_is_its_own)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	const char *lines[] = {
		"Traceback (most recent call last):",
		"  File \"x.py\", line 7, in <module>",
		"ValueError: loss is NaN",
		"F1128 03:25:34.510653 6409 client.h:80] … most likely another task died",
		"Barrier result: timed out",
	};
	msec times[] = {1, 1, 1, 300000, 300000}, time;
	struct printed printed = {lines, times, ARRAY_LEN(lines)};

	assert_string_equal(exception_find(&printed, arena), lines[3]);
	assert_string_equal(exception_find_own(&printed, arena, &time), lines[2]);
	assert_int_equal(time, 1);
	printed.lines = lines + 3;
	printed.count = 2;
	assert_null(exception_find_own(&printed, arena, NULL));
}

/* The first process of a JAX job, which its coordination service is in. */
TEST(the_log_of_a_library_is_not_the_program_that_goes_on)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	const char *lines[] = {
		"Traceback (most recent call last):",
		"  File \"x.py\", line 7, in <module>",
		"ValueError: loss is NaN",
		"E1128 16:34:08.551759 32355 coordination_service.cc:1520] Shutdown barrier "
		"failed:",
		"DEADLINE_EXCEEDED: Barrier timed out. Id: Shutdown::1::0.",
		"# of tasks that reached the barrier: 1/2.",
		"0",
		"F1128 16:34:08.557961 32366 client.h:80] … most likely another task died",
		"step 1",
	};
	msec times[] = {1, 1, 1, 300000, 300001, 300001, 300001, 300006, 300106};
	struct printed printed = {lines, times, ARRAY_LEN(lines)};

	assert_string_equal(exception_find_own(&printed, arena, NULL), lines[2]);
	lines[7] = "I1128 16:34:08.557961 32366 x.cc:80] ready";
	assert_null(exception_find_own(&printed, arena, NULL));
}

TEST(what_aborts_says_more_than_what_was_caught_before)
{
	FOUND("Fatal Python error: Segmentation fault",
	      "Traceback (most recent call last):", "  File \"train.py\", line 1, in <module>",
	      "OSError: caught", "Fatal Python error: Segmentation fault", "",
	      "Current thread 0x00007f (most recent call first):",
	      "  File \"train.py\", line 3 in fit", "  File \"train.py\", line 9 in <module>", "",
	      "Extension modules: numpy (total: 1)");
	FOUND("ValueError: no",
	      "Traceback (most recent call last):", "  File \"train.py\", line 1, in <module>",
	      "ValueError: no", "terminate called without an active exception",
	      "Fatal Python error: Aborted", "", "<no Python frame>");
	FOUND("Fatal Python error: Aborted", "terminate called without an active exception",
	      "Fatal Python error: Aborted");
	FOUND("", "Thread 0x00007f (most recent call first):", "  File \"train.py\", line 3 in fit",
	      "Extension modules: numpy (total: 1)");
	FOUND("F0000 00:00:1763740931.5 77 tensor.cc:9] Check failed: dtype",
	      "F0000 00:00:1763740931.5 77 tensor.cc:9] Check failed: dtype",
	      "*** Check failure stack trace: ***", "Fatal Python error: Aborted", "",
	      "Current thread 0x00007f (most recent call first):",
	      "  File \"train.py\", line 3 in fit");
	FOUND("2026-11-27 18:34:21.524817: F tensor.cc:9] Check failed: dtype",
	      "2026-11-27 18:34:21.524817: F tensor.cc:9] Check failed: dtype", "Aborted");
	FOUND("", "F1 score 0.5", "2026-11-27 18:34:21.524817: I tensor.cc:9] ready");
	FOUND("out of memory", "terminate called after throwing an instance of 'c10::Error'",
	      "  what():  out of memory");
}

TEST(a_launcher_only_says_that_its_program_failed)
{
	static const char torchrun[] =
		"torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ";
	static const char accelerate[] =
		"subprocess.CalledProcessError: Command '['python3', 'acc.py']' returned non-zero "
		"exit status 1.";

	FOUND("ValueError: no",
	      "[rank1]: Traceback (most recent call last):", "[rank1]:   File \"train.py\", line 3",
	      "[rank1]: ValueError: no",
	      "Traceback (most recent call last):", "  File \"torchrun\", line 4", torchrun,
	      "====", "train.py FAILED");
	FOUND("KeyError: 'x'", "Traceback (most recent call last):", "  File \"acc.py\", line 3",
	      "KeyError: 'x'",
	      "Traceback (most recent call last):", "  File \"accelerate\", line 8", accelerate);
	FOUND(accelerate, "Traceback (most recent call last):", "  File \"train.py\", line 8",
	      accelerate);
}

static const char *last_words_of(const char *last, struct arena *arena)
{
	const char *lines[] = {"cannot read the cache: made anew", "epoch 1", last, " "};
	const struct printed printed = {.lines = lines, .count = ARRAY_LEN(lines)};

	return exception_find_last_words(&printed, arena);
}

/* sys.exit("text") prints the text alone. */
TEST(last_words_count_if_they_sound_like_a_reason)
{
	static const char *const reasons[] = {
		"data folder /x does not exist",
		"Error: Invalid value for '--lr'",
		"the batch size must be a multiple of 8",
	};
	static const char *const others[] = {"step 7", "loss 0.3", "Terminated", "done"};
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();

	for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
		assert_string_equal(last_words_of(reasons[i], arena), reasons[i]);
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		assert_null(last_words_of(others[i], arena));
	assert_string_equal(last_words_of("[rank1]: \x1b[31mno such file\x1b[0m", arena),
			    "no such file");
}
