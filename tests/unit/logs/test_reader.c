#include "unit.h"

#include "base/text.h"
#include "log_scene.h"

#include <unistd.h>

static void add(struct log_writer *writer, const char *text, msec now)
{
	assert_int_equal(log_writer_add(writer, text, strlen(text), now, NULL), 0);
}

/* Writes the whole log of one attempt: the text at once. */
static void add_log(struct log_scene *scene, int index, int attempt, const char *text, msec now)
{
	add(log_scene_open(scene, index, attempt, NO_ROTATION), text, now);
	log_scene_close(scene);
}

static void begin_reading(struct log_scene *scene, const struct log_selection *selection)
{
	struct err err = {0};

	if (log_reader_new(scene->folder, selection, &scene->reader, &err) != 0)
		fail_msg("%s", err.text);
}

/* Takes all lines there are: "worker-0.1: text\n" for each, '+' instead of ':' for later pieces. */
static void assert_lines(struct log_scene *scene, const char *expected)
{
	struct text text CLEANUP(text_done) = {0};
	struct log_line line;

	log_reader_poll(scene->reader);
	while (log_reader_next(scene->reader, &line))
		text_addf(&text, "%d.%d%c %.*s\n", line.name->index, line.name->attempt,
			  line.is_continuation ? '+' : ':', (int) line.len, line.bytes);
	assert_string_equal(text_of(&text), expected);
}

static void assert_read(struct log_scene *scene, const struct log_selection *selection,
			const char *expected)
{
	begin_reading(scene, selection);
	assert_lines(scene, expected);
	log_reader_free(TAKE(scene->reader));
}

#define SCENE_TEST(name) TEST_IN(log_scene_begin, log_scene_end, struct log_scene *scene, name)

SCENE_TEST(lines_of_replicas_merge_by_time)
{
	struct log_writer *zero = log_scene_open(scene, 0, 1, NO_ROTATION);
	struct log_writer *one = log_scene_open(scene, 1, 1, NO_ROTATION);

	add(zero, "a\n", NOON);
	add(one, "b\nc\n", NOON + 10);
	add(zero, "d\n", NOON + 20);
	add(one, "e\n", NOON + 30);
	add(zero, "f\n", NOON + 40);
	begin_reading(scene, &LOG_SELECTION_ALL);
	assert_lines(scene, "0.1: a\n1.1: b\n1.1: c\n0.1: d\n1.1: e\n0.1: f\n");
	assert_lines(scene, "");
}

SCENE_TEST(output_that_comes_later_is_followed)
{
	struct log_writer *zero = log_scene_open(scene, 0, 1, NO_ROTATION);

	begin_reading(scene, &LOG_SELECTION_ALL);
	assert_lines(scene, "");
	add(zero, "one\ntw", NOON);
	assert_lines(scene, "0.1: one\n");
	add(zero, "o\nthree", NOON + 10);
	assert_lines(scene, "0.1: two\n");
	log_scene_close(scene);
	assert_lines(scene, "0.1: three\n");
	assert_lines(scene, "");
}

SCENE_TEST(new_replicas_and_attempts_join)
{
	add_log(scene, 1, 1, "one\n", NOON);
	begin_reading(scene, &LOG_SELECTION_ALL);
	assert_lines(scene, "1.1: one\n");
	add_log(scene, 0, 1, "zero\n", NOON + 10);
	add_log(scene, 1, 2, "one again\n", NOON + 20);
	add_log(scene, 1, 5, "and again", NOON + 30);
	assert_lines(scene, "0.1: zero\n1.2: one again\n1.5: and again\n");
}

SCENE_TEST(an_attempt_is_shown_whole_before_the_next_even_when_the_clock_went_back)
{
	add_log(scene, 0, 1, "before\nthe end", NOON);
	add_log(scene, 0, 2, "after\n", NOON - 100000);
	add_log(scene, 1, 1, "other\n", NOON - 50);
	assert_read(scene, &LOG_SELECTION_ALL,
		    "1.1: other\n0.1: before\n0.1: the end\n0.2: after\n");
}

SCENE_TEST(the_last_line_without_an_end_is_a_line_when_the_job_is_over)
{
	add(log_scene_open(scene, 0, 1, NO_ROTATION), "killed in the mid", NOON);
	begin_reading(scene, &LOG_SELECTION_ALL);
	assert_lines(scene, "");
	log_reader_end(scene->reader);
	assert_lines(scene, "0.1: killed in the mid\n");
}

SCENE_TEST(an_open_line_can_be_looked_at)
{
	struct log_replica replica;

	add(log_scene_open(scene, 0, 1, NO_ROTATION), "done\n 10%\r 20%\r", NOON);
	begin_reading(scene, &LOG_SELECTION_ALL);
	assert_lines(scene, "0.1: done\n");
	assert_true(log_reader_replica(scene->reader, 0, &replica));
	assert_true(replica.has_open_line);
	assert_int_equal(replica.open_line.len, 4);
	assert_memory_equal(replica.open_line.bytes, " 20%", 4);
	assert_true(replica.open_line.is_bar);
	assert_int_equal(replica.last_time, NOON);
	assert_false(log_reader_replica(scene->reader, 1, &replica));
}

SCENE_TEST(a_long_line_comes_in_pieces_and_nothing_is_missing)
{
	struct log_selection selection = LOG_SELECTION_ALL;

	selection.line_limit = 8;
	add_log(scene, 0, 1, "short\n0123456789abcdefABC\n12345678\nend\n", NOON);
	assert_read(
		scene, &selection,
		"0.1: short\n0.1: 01234567\n0.1+ 89abcdef\n0.1+ ABC\n0.1: 12345678\n0.1: end\n");
}

SCENE_TEST(a_bar_longer_than_the_limit_is_its_last_state)
{
	struct log_selection selection = LOG_SELECTION_ALL;

	selection.line_limit = 8;
	add_log(scene, 0, 1, "10%\r20%\r30%\r40%\r50%\r60%\r70%\nend\r\n", NOON);
	assert_read(scene, &selection, "0.1: 70%\n0.1: end\n");
}

SCENE_TEST(bytes_that_are_no_text_come_through)
{
	struct log_line line;

	assert_int_equal(log_writer_add(log_scene_open(scene, 0, 1, NO_ROTATION), "a\0\xff\n", 4,
					NOON, NULL),
			 0);
	begin_reading(scene, &LOG_SELECTION_ALL);
	assert_true(log_reader_next(scene->reader, &line));
	assert_int_equal(line.len, 3);
	assert_memory_equal(line.bytes, "a\0\xff", 3);
}

SCENE_TEST(rotation_is_followed)
{
	struct log_writer *zero = log_scene_open(scene, 0, 1, 10);

	begin_reading(scene, &LOG_SELECTION_ALL);
	add(zero, "first ", NOON);
	assert_lines(scene, "");
	add(zero, "line\nsec", NOON + 10);
	add(zero, "ond\n", NOON + 20);
	assert_lines(scene, "0.1: first line\n0.1: second\n");
	add(zero, "third line\n", NOON + 30);
	assert_lines(scene, "0.1: third line\n");
}

SCENE_TEST(a_reader_two_rotations_behind_loses_nothing)
{
	struct log_writer *zero = log_scene_open(scene, 0, 1, 10);

	add(zero, "one\n", NOON);
	begin_reading(scene, &LOG_SELECTION_ALL);
	assert_lines(scene, "0.1: one\n");
	add(zero, "two\n", NOON + 10);
	add(zero, "three\n", NOON + 20); /* rotates */
	add(zero, "four is long\n", NOON + 30); /* rotates */
	assert_lines(scene, "0.1: two\n0.1: three\n0.1: four is long\n");
}

SCENE_TEST(what_was_rotated_away_is_passed_over)
{
	struct log_writer *zero = log_scene_open(scene, 0, 1, 10);

	add(zero, "one\n", NOON);
	begin_reading(scene, &LOG_SELECTION_ALL);
	assert_lines(scene, "0.1: one\n");
	add(zero, "two is long\n", NOON + 10);
	add(zero, "three is long\n", NOON + 20);
	add(zero, "four is long\n", NOON + 30);
	assert_lines(scene, "0.1: three is long\n0.1: four is long\n");
}

SCENE_TEST(a_rotated_log_is_read_from_its_older_part_on)
{
	struct log_writer *zero = log_scene_open(scene, 0, 1, 10);
	struct log_selection selection = LOG_SELECTION_ALL;

	add(zero, "lost line\n", NOON);
	add(zero, "one\ntwo\nth", NOON + 10);
	add(zero, "ree\nfour\n", NOON + 20);
	assert_read(scene, &LOG_SELECTION_ALL, "0.1: one\n0.1: two\n0.1: three\n0.1: four\n");
	selection.tail = 3;
	assert_read(scene, &selection, "0.1: two\n0.1: three\n0.1: four\n");
}

SCENE_TEST(filters_choose_replicas_and_attempts)
{
	struct log_selection selection = LOG_SELECTION_ALL;

	add_log(scene, 0, 1, "a\n", NOON);
	add_log(scene, 0, 2, "b\n", NOON + 10);
	add_log(scene, 1, 1, "c\n", NOON + 20);
	selection.index = 0;
	assert_read(scene, &selection, "0.1: a\n0.2: b\n");
	selection.attempt = 2;
	assert_read(scene, &selection, "0.2: b\n");
	selection = LOG_SELECTION_ALL;
	selection.attempt = 1;
	assert_read(scene, &selection, "0.1: a\n1.1: c\n");
	selection = LOG_SELECTION_ALL;
	selection.role = "ps";
	assert_read(scene, &selection, "");
	selection.role = "worker";
	selection.is_previous = true;
	assert_read(scene, &selection, "0.1: a\n");
}

SCENE_TEST(the_tail_is_counted_for_each_replica_over_its_attempts)
{
	struct log_selection selection = LOG_SELECTION_ALL;

	add_log(scene, 0, 1, "a\nb\nc\n", NOON);
	add_log(scene, 0, 2, "d\ne", NOON + 10);
	add_log(scene, 1, 1, "x\n\nz\n", NOON + 20);
	selection.tail = 3;
	assert_read(scene, &selection, "0.1: c\n0.2: d\n0.2: e\n1.1: x\n1.1: \n1.1: z\n");
	selection.tail = 1;
	assert_read(scene, &selection, "0.2: e\n1.1: z\n");
	selection.tail = 0;
	assert_read(scene, &selection, "");
	selection.tail = 100;
	assert_read(scene, &selection,
		    "0.1: a\n0.1: b\n0.1: c\n0.2: d\n0.2: e\n1.1: x\n1.1: \n1.1: z\n");
}

SCENE_TEST(the_tail_counts_lines_that_match)
{
	struct log_selection selection = LOG_SELECTION_ALL;

	add_log(scene, 0, 1, "loss 3\nstep\nloss 2\n", NOON);
	add_log(scene, 0, 2, "step\n  1%\rloss 1\nstep\n", NOON + 10);
	selection.pattern = "^loss [0-9]+$";
	assert_read(scene, &selection, "0.1: loss 3\n0.1: loss 2\n0.2: loss 1\n");
	selection.tail = 2;
	assert_read(scene, &selection, "0.1: loss 2\n0.2: loss 1\n");
}

SCENE_TEST(a_tail_of_long_lines_and_a_long_log_begins_where_it_should)
{
	struct log_writer *zero = log_scene_open(scene, 0, 1, NO_ROTATION);
	struct log_selection selection = LOG_SELECTION_ALL;
	char *filler CLEANUP(mem_free_text) = mem_new(150001);

	memset(filler, 'x', 150000);
	add(zero, "first\n", NOON);
	add(zero, filler, NOON);
	add(zero, "\nlast but one\nlast\n", NOON);
	selection.tail = 2;
	assert_read(scene, &selection, "0.1: last but one\n0.1: last\n");
	selection.tail = 4;
	begin_reading(scene, &selection);
	struct log_line line;

	assert_true(log_reader_next(scene->reader, &line));
	assert_int_equal(line.len, 5);
}

SCENE_TEST(since_begins_with_the_line_that_was_whole_then)
{
	struct log_writer *zero = log_scene_open(scene, 0, 1, 20);
	struct log_selection selection = LOG_SELECTION_ALL;

	add(zero, "a\nb", NOON);
	add(zero, "bb\nc\n", NOON + 1000);
	add(zero, "a new file from here\n", NOON + 2000);
	add_log(scene, 0, 2, "d\n", NOON + 3000);
	selection.since = NOON + 500;
	assert_read(scene, &selection, "0.1: bbb\n0.1: c\n0.1: a new file from here\n0.2: d\n");
	selection.since = NOON + 1001;
	assert_read(scene, &selection, "0.1: a new file from here\n0.2: d\n");
	selection.since = NOON + 2500;
	assert_read(scene, &selection, "0.2: d\n");
	selection.since = NOON + 5000;
	assert_read(scene, &selection, "");
	selection.since = NOON - 5000;
	selection.tail = 2;
	assert_read(scene, &selection, "0.1: a new file from here\n0.2: d\n");
}

SCENE_TEST(later_output_is_not_cut_by_the_tail)
{
	struct log_selection selection = LOG_SELECTION_ALL;
	struct log_writer *zero = log_scene_open(scene, 0, 1, NO_ROTATION);

	add(zero, "a\nb\n", NOON);
	selection.tail = 1;
	begin_reading(scene, &selection);
	assert_lines(scene, "0.1: b\n");
	add(zero, "c\nd\n", NOON + 10);
	add_log(scene, 1, 1, "x\ny\n", NOON + 20);
	assert_lines(scene, "0.1: c\n0.1: d\n1.1: x\n1.1: y\n");
}

SCENE_TEST(later_lines_are_held_back_until_those_before_them_may_be_there)
{
	struct log_writer *zero = log_scene_open(scene, 0, 1, NO_ROTATION);
	struct log_writer *one = log_scene_open(scene, 1, 1, NO_ROTATION);

	add(zero, "a\n", NOON);
	add(zero, "d\n", NOON + 30);
	begin_reading(scene, &LOG_SELECTION_ALL);
	log_reader_hold(scene->reader, MSEC_UNSET);
	assert_lines(scene, "");
	add(one, "b\n", NOON + 10);
	log_reader_hold(scene->reader, NOON + 10);
	assert_lines(scene, "0.1: a\n1.1: b\n");
	add(one, "c\n", NOON + 20);
	log_reader_hold(scene->reader, MSEC_NEVER);
	assert_lines(scene, "1.1: c\n0.1: d\n");
}

SCENE_TEST(a_pattern_that_is_none_is_explained)
{
	struct log_selection selection = LOG_SELECTION_ALL;
	struct err err = {0};

	selection.pattern = "a(b";
	assert_int_equal(log_reader_new(scene->folder, &selection, &scene->reader, &err),
			 ERR_INVALID);
	assert_non_null(strstr(err.text, "'a(b' is not a regular expression"));
}

SCENE_TEST(two_streams_merge_and_an_attempt_begins_once)
{
	struct text text CLEANUP(text_done) = {0};
	struct log_line line;

	for (int attempt = 1; attempt <= 2; attempt++) {
		struct log_writer *out = log_scene_open(scene, 0, attempt, NO_ROTATION);
		struct log_writer *error = log_scene_open_stderr(scene, 0, attempt);

		msec now = NOON + 100 * attempt;

		add(out, "a\nopen ", now);
		add(error, "b\n", now + 10);
		add(out, "line\n", now + 20);
		add(error, "c\n", now + 30);
		log_scene_close(scene);
		log_scene_close(scene);
	}
	begin_reading(scene, &LOG_SELECTION_ALL);
	while (log_reader_next(scene->reader, &line))
		text_addf(&text, "%s%s%.*s", line.is_first ? "(first) " : "",
			  line.name->is_stderr ? "error:" : "", (int) line.len, line.bytes);
	assert_string_equal(text_of(&text),
			    "aerror:bopen lineerror:c(first) aerror:bopen lineerror:c");
}
