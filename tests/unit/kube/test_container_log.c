/* The log of a container as a server sends it, broken off anywhere and taken up again. */
#include "unit.h"

#include "base/mem.h"
#include "kube/container_log.h"

#define MOST_LINES 40

/* A container's log on its node, as its kubelet reads it. */
struct kubelet_log {
	struct kubelet_line {
		int64_t stamp; /* nanoseconds */
		const char *text;
	} lines[MOST_LINES];
	size_t count;
	size_t first; /* older ones were rotated away */
};

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

/* Many equal stamps, some that go back a little, and texts that are alike. */
static void fill(struct kubelet_log *log, uint64_t seed)
{
	static const char *const texts[] = {"", "a", "b", "epoch 1", "epoch 2: loss 0.25"};
	int64_t stamp = INT64_C(1700000000) * 1000000000;
	uint64_t state = seed;

	*log = (struct kubelet_log){.count = 1 + next_random(&state) % MOST_LINES};
	for (size_t i = 0; i < log->count; i++) {
		const int64_t steps[] = {0, 0, 1, 700, -300, 400000000, 2100000000};

		stamp += steps[next_random(&state) % ARRAY_LEN(steps)];
		log->lines[i].stamp = stamp;
		log->lines[i].text = texts[next_random(&state) % ARRAY_LEN(texts)];
	}
}

static void add_line(struct text *bytes, const struct kubelet_line *line)
{
	struct text second CLEANUP(text_done) = {0};

	text_add_time(&second, line->stamp / 1000000000 * MSEC_PER_SECOND);
	text_addf(bytes, "%.19s.%09dZ %s\n", text_of(&second), (int) (line->stamp % 1000000000),
		  line->text);
}

/* What a kubelet sends: lines whose stamps are not before `since`. */
static void add_answer(struct text *bytes, const struct kubelet_log *log, const char *since)
{
	msec from = 0;

	if (*since)
		assert_int_equal(text_read_time(since, &from, NULL), 0);
	for (size_t i = log->first; i < log->count; i++)
		if (log->lines[i].stamp >= from * 1000000)
			add_line(bytes, &log->lines[i]);
}

static void add_texts(struct text *text, const struct kubelet_log *log)
{
	for (size_t i = 0; i < log->count; i++)
		text_addf(text, "%s\n", log->lines[i].text);
}

static void add_text(const char *bytes, size_t len, msec time, void *data)
{
	(void) time;
	text_add_bytes(data, bytes, len);
}

/* Begins a stream, and takes its first `most` bytes; how many it would have had. */
static size_t stream(struct log_lines *lines, const struct kubelet_log *log, size_t most,
		     struct text *text)
{
	struct text since CLEANUP(text_done) = {0}, bytes CLEANUP(text_done) = {0};

	log_lines_add_since(lines, &since);
	add_answer(&bytes, log, text_of(&since));
	log_lines_begin(lines, false);
	for (size_t at = 0; at < bytes.len && at < most; at += 9) {
		size_t rest = (most < bytes.len ? most : bytes.len) - at;

		log_lines_take(lines, bytes.bytes + at, rest < 9 ? rest : 9, add_text, text);
	}
	return bytes.len;
}

TEST(each_byte_comes_once_wherever_a_stream_breaks_off)
{
	for (uint64_t seed = 0; seed < 60; seed++) {
		struct kubelet_log log;
		struct text wanted CLEANUP(text_done) = {0};
		size_t len = 0;

		fill(&log, seed);
		add_texts(&wanted, &log);
		for (size_t end = 0; end <= len; end++) {
			struct text text CLEANUP(text_done) = {0};
			struct log_lines lines = {0};
			uint64_t random = seed * 1000 + end;
			msec from, to;

			len = stream(&lines, &log, end, &text);
			for (int i = 0; i < 3; i++)
				stream(&lines, &log, next_random(&random) % (len + 1), &text);
			stream(&lines, &log, SIZE_MAX, &text);
			assert_string_equal(text_of(&text), text_of(&wanted));
			assert_false(lines.is_catching_up);
			assert_false(log_lines_take_gap(&lines, &from, &to));
		}
	}
}

static void take(struct log_lines *lines, const char *bytes, struct text *text)
{
	log_lines_take(lines, bytes, strlen(bytes), add_text, text);
}

#define STAMP "2026-01-02T03:04:05.0000000"

TEST(a_line_has_its_time_and_loses_its_stamp)
{
	struct text text CLEANUP(text_done) = {0};
	struct log_lines lines = {0};

	log_lines_begin(&lines, false);
	take(&lines, "2026-01-02T03:04:05.678901234+01:00 one two\n", &text);
	assert_string_equal(text_of(&text), "one two\n");
	assert_int_equal(lines.seen.runs[lines.seen.last].stamp, INT64_C(1767319445678901234));
}

TEST(an_open_line_goes_on_where_it_broke_off)
{
	struct text text CLEANUP(text_done) = {0};
	struct log_lines lines = {0};

	log_lines_begin(&lines, false);
	take(&lines, STAMP "01Z one\n" STAMP "02Z half", &text);
	assert_string_equal(text_of(&text), "one\nhalf");
	log_lines_begin(&lines, false);
	take(&lines, STAMP "01Z one\n" STAMP "02Z half and", &text);
	log_lines_begin(&lines, false);
	take(&lines, STAMP "01Z one\n" STAMP "02Z half and half\n" STAMP "03Z end\n", &text);
	assert_string_equal(text_of(&text), "one\nhalf and half\nend\n");
}

/* A kubelet gives only what is behind the second of `sinceTime` of a line that came in parts. */
TEST(the_rest_of_an_older_line_is_passed_over)
{
	struct text text CLEANUP(text_done) = {0};
	struct log_lines lines = {0};

	log_lines_begin(&lines, false);
	take(&lines, STAMP "01Z long line\n" STAMP "02Z two\n", &text);
	log_lines_begin(&lines, false);
	take(&lines, " line\n" STAMP "02Z two\n" STAMP "03Z three\n", &text);
	assert_string_equal(text_of(&text), "long line\ntwo\nthree\n");
}

TEST(what_was_rotated_away_is_a_gap)
{
	struct text text CLEANUP(text_done) = {0};
	struct log_lines lines = {0};
	msec from, to;

	log_lines_begin(&lines, false);
	take(&lines, STAMP "01Z one\n" STAMP "02Z tw", &text);
	log_lines_begin(&lines, false);
	assert_true(lines.is_catching_up);
	take(&lines, "2026-01-02T03:04:09Z nine\n", &text);
	assert_string_equal(text_of(&text), "one\ntw\nnine\n");
	assert_true(log_lines_take_gap(&lines, &from, &to));
	assert_int_equal(to - from, 4000);
	assert_false(log_lines_take_gap(&lines, &from, &to));
}

TEST(lines_of_a_container_that_took_the_place_of_another_are_no_gap)
{
	struct text text CLEANUP(text_done) = {0};
	struct log_lines lines = {0};
	msec from, to;

	log_lines_begin(&lines, false);
	take(&lines, STAMP "01Z one\n", &text);
	log_lines_begin(&lines, true);
	take(&lines, "2026-01-02T03:04:09Z one\n", &text);
	assert_string_equal(text_of(&text), "one\none\n");
	assert_false(log_lines_take_gap(&lines, &from, &to));
}

TEST(a_server_that_knows_no_stamps_gives_each_line_once)
{
	struct text text CLEANUP(text_done) = {0}, since CLEANUP(text_done) = {0};
	struct log_lines lines = {0};

	log_lines_begin(&lines, false);
	take(&lines, "one\ntwo\nthr", &text);
	assert_false(log_lines_add_since(&lines, &since));
	log_lines_begin(&lines, false);
	take(&lines, "one\ntwo\nthree, a long line of more bytes than a stamp has\nfour\n", &text);
	assert_string_equal(text_of(&text),
			    "one\ntwo\nthree, a long line of more bytes than a stamp has\nfour\n");
}

/* The text and the kubelet's words of one stream, which comes in pieces of any size. */
static void check_words(const char *bytes, const char *expected_text, const char *expected_words)
{
	for (size_t size = 1; size < strlen(bytes) + 2; size++) {
		struct text text CLEANUP(text_done) = {0}, words CLEANUP(text_done) = {0};
		struct log_lines lines = {0};

		log_lines_begin(&lines, false);
		for (size_t at = 0; at < strlen(bytes); at += size)
			log_lines_take(&lines, bytes + at, strnlen(bytes + at, size), add_text,
				       &text);
		log_lines_take_words(&lines, &words);
		log_lines_end(&lines, add_text, &text);
		assert_string_equal(text_of(&text), expected_text);
		assert_string_equal(text_of(&words), expected_words);
	}
}

TEST(what_has_no_stamp_at_the_end_of_a_log_with_stamps_is_the_kubelets)
{
	check_words(STAMP "01Z one\nfailed to", "one\n", "failed to");
	check_words(STAMP "01Z one\nfailed to watch file \"/var/log/pods/0.log\": no such file",
		    "one\n", "failed to watch file \"/var/log/pods/0.log\": no such file");
	check_words(STAMP "01Z one\nfailed to watch, a line\n", "one\n", "failed to watch, a line");
	check_words("unable to retrieve container logs for containerd://1", "",
		    "unable to retrieve container logs for containerd://1");
}

TEST(no_line_of_the_program_is_taken_for_the_kubelets)
{
	check_words("rest of a line\n" STAMP "01Z one\n", "rest of a line\none\n", "");
	check_words(STAMP "01Z one\nrest\n" STAMP "02Z two", "one\nrest\ntwo", "");
	check_words(STAMP "01Z failed to watch file", "failed to watch file", "");
	check_words("failed to watch file", "failed to watch file", "");
	check_words("one\n\nlast", "one\n\nlast", "");
	check_words("rest", "rest", "");
	check_words(STAMP "01Z one\n2026-01-02T03", "one\n", "");
	check_words("unable to retrieve container logs for a friend\n",
		    "unable to retrieve container logs for a friend\n", "");
}

TEST(what_is_longer_than_any_sentence_is_text)
{
	char *bytes CLEANUP(mem_free_text) =
		mem_format(STAMP "01Z one\n%*s\n", LOG_WORDS_SIZE, "x");
	char *expected CLEANUP(mem_free_text) = mem_format("one\n%*s\n", LOG_WORDS_SIZE, "x");

	check_words(bytes, expected, "");
}

/* It is told again in the place of what is to come, and is none of the lines that are known. */
TEST(words_of_the_kubelet_are_no_part_of_what_is_known)
{
	struct text text CLEANUP(text_done) = {0}, words CLEANUP(text_done) = {0};
	struct log_lines lines = {0};

	log_lines_begin(&lines, false);
	take(&lines, STAMP "01Z one\nfailed to watch", &text);
	log_lines_take_words(&lines, &words);
	log_lines_begin(&lines, false);
	take(&lines, "unable to retrieve", &text);
	log_lines_take_words(&lines, &words);
	log_lines_begin(&lines, false);
	take(&lines, STAMP "01Z one\n" STAMP "02Z two\n", &text);
	assert_string_equal(text_of(&text), "one\ntwo\n");
	assert_string_equal(text_of(&words), "failed to watchunable to retrieve");
}

TEST(only_stamps_are_read)
{
	static const char *const others[] = {
		"",
		"2026-01-02",
		"2026-01-02T03:04:05",
		"2026-01-02T03:04:05.Z",
		"2026-01-02T03:04:05.1234567890Z",
		"2026-01-02T03:04:05.1.2Z",
		"2026-02-30T03:04:05Z",
		"1969-01-02T03:04:05Z",
		"2300-01-02T03:04:05Z",
		"2026-01-02T03:04:05.123456789+01:00Z",
	};

	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		assert_int_equal(log_stamp_read(others[i], strlen(others[i])), LOG_STAMP_NONE);
	assert_int_equal(log_stamp_read("1970-01-01T00:00:01.000000001Z", 30), 1000000001);
	assert_int_equal(log_stamp_read("1970-01-01T01:00:01.5+01:00", 27), 1500000000);
}

#define NO_JITTER 0.0

/* A stream from its beginning to its end, in which something new came or did not. */
static struct log_next pass(struct log_follow *follow, bool has_news, enum log_end end)
{
	log_follow_begin(follow);
	follow->has_news = has_news;
	return log_follow_ended(follow, end, false, NO_JITTER);
}

TEST(a_proper_end_while_the_container_runs_is_none)
{
	struct log_follow follow = {0};
	struct log_next next = pass(&follow, true, LOG_END_PROPER);

	assert_int_equal(next.step, LOG_STEP_STREAM);
	assert_int_equal(next.wait, 250);
}

TEST(it_is_complete_when_a_stream_behind_the_end_brings_nothing_new)
{
	struct log_follow follow = {0};

	log_follow_begin(&follow);
	follow.has_news = true;
	follow.container.has_ended = true;
	struct log_next next = log_follow_ended(&follow, LOG_END_PROPER, false, NO_JITTER);

	assert_int_equal(next.step, LOG_STEP_STREAM);
	assert_int_equal(next.wait, 0);
	assert_int_equal(pass(&follow, true, LOG_END_PROPER).step, LOG_STEP_STREAM);
	assert_int_equal(pass(&follow, false, LOG_END_PROPER).step, LOG_STEP_DONE);
}

TEST(what_is_still_catching_up_is_not_complete)
{
	struct log_follow follow = {.container.has_ended = true};

	log_follow_begin(&follow);
	assert_int_equal(log_follow_ended(&follow, LOG_END_PROPER, true, NO_JITTER).step,
			 LOG_STEP_STREAM);
}

TEST(pauses_grow_while_nothing_new_comes)
{
	struct log_follow follow = {0};
	msec waits[8];

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

TEST(the_log_of_a_container_that_ended_is_given_up_some_time)
{
	struct log_follow follow = {.container.has_ended = true};
	int n_streams = 1;

	while (pass(&follow, false, LOG_END_LOST).step == LOG_STEP_STREAM)
		n_streams++;
	assert_int_equal(n_streams, LOG_FOLLOW_TRIES);
	follow = (struct log_follow){.container.has_ended = true};
	for (n_streams = 1; pass(&follow, false, LOG_END_FAILED).step == LOG_STEP_STREAM;)
		n_streams++;
	assert_int_equal(n_streams, LOG_FOLLOW_FAILURES);
}

TEST(what_is_refused_is_asked_again_only_while_it_runs)
{
	struct log_follow running = {0}, ended = {.container.has_ended = true};

	assert_int_equal(pass(&running, false, LOG_END_REFUSED).step, LOG_STEP_STREAM);
	assert_int_equal(pass(&ended, false, LOG_END_REFUSED).step, LOG_STEP_GIVE_UP);
}

TEST(a_pod_that_is_gone_has_no_more_to_say)
{
	struct log_follow follow = {0}, broken = {0};

	pass(&follow, true, LOG_END_PROPER);
	follow.container.has_ended = true;
	assert_int_equal(pass(&follow, false, LOG_END_ABSENT).step, LOG_STEP_DONE);
	pass(&broken, true, LOG_END_LOST);
	broken.container.has_ended = true;
	assert_int_equal(pass(&broken, false, LOG_END_ABSENT).step, LOG_STEP_GIVE_UP);
}

/* kubelet was started again, under a container that went on. */
TEST(a_log_that_nobody_knows_is_asked_for_again_while_its_container_runs)
{
	struct log_follow follow = {0};

	pass(&follow, true, LOG_END_PROPER);
	assert_int_equal(pass(&follow, false, LOG_END_ABSENT).step, LOG_STEP_STREAM);
	assert_int_equal(pass(&follow, true, LOG_END_PROPER).step, LOG_STEP_STREAM);
}

TEST(a_container_that_was_started_again_is_read_behind_the_one_before_it)
{
	struct log_follow follow = {0};

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

TEST(who_comes_late_reads_the_container_before_the_last_as_well)
{
	struct log_follow follow = {.container.n_restarts = 3};

	log_follow_begin(&follow);
	assert_true(follow.reads_previous);
	/* It is no longer there. */
	assert_int_equal(log_follow_ended(&follow, LOG_END_REFUSED, false, NO_JITTER).step,
			 LOG_STEP_STREAM);
	log_follow_begin(&follow);
	assert_false(follow.reads_previous);
}
