/* Plays a transcript and compares what happened with what stands in the file.
 *
 *     transcript FILE            plays it; prints the first difference
 *     transcript --crash FILE    plays it again with the reconciler lost after each single effect,
 *                                and once with the reconciler lost after every one: the end is the
 *                                same
 *     transcript --small FILE    the same, and the store keeps statuses small, as a cluster does
 *
 * With MUSTER_WRITE_GOLDEN in the environment the first one writes what happened into the file.
 *
 * A line that begins with a tab is what happened; every other line is a comment, a blank, or a
 * command of tests/scenario/script.h. */
#include "base/mem.h"
#include "scenario/script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BEGINNING "\t0.000 "
#define MOST_BYTES (1024 * 1024)

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "r");
	char *bytes = mem_new(MOST_BYTES);

	if (!file) {
		perror(path);
		exit(2);
	}
	bytes[fread(bytes, 1, MOST_BYTES - 1, file)] = '\0';
	fclose(file);
	return bytes;
}

static void write_file(const char *path, const char *bytes)
{
	FILE *file = fopen(path, "w");

	if (!file || fputs(bytes, file) < 0 || fclose(file) != 0) {
		perror(path);
		exit(2);
	}
}

static bool is_command(const char *line)
{
	return *line && *line != '#' && *line != '\t';
}

static bool skip_line(const char **at, const char *line)
{
	if (!text_starts_with(*at, line))
		return false;
	*at += strlen(line);
	*at += strcspn(*at, "\n") + 1;
	return true;
}

/* Adds what happened. The usual beginning, in which all replicas get their addresses, start and run
 * at once, is one line: "begins: ps-0 worker-0". */
static void add_lines(struct text *happened, const char *lines)
{
	struct text names CLEANUP(text_done) = {0}, starts CLEANUP(text_done) = {0};
	struct text runs CLEANUP(text_done) = {0};
	const char *at = lines;

	if (skip_line(&at, BEGINNING "Created=True "))
		while (text_starts_with(at, BEGINNING "publish ")) {
			int len = (int) strcspn(at, "\n") - (int) strlen(BEGINNING "publish ");
			const char *name = at + strlen(BEGINNING "publish ");

			text_addf(&names, " %.*s", len, name);
			text_addf(&starts, BEGINNING "start %.*s.0\n", len, name);
			text_addf(&runs, BEGINNING "%.*s.0 Running\n", len, name);
			at = name + len + 1;
		}
	if (names.len && text_starts_with(at, text_of(&starts)) &&
	    text_starts_with(at + starts.len, text_of(&runs))) {
		at += starts.len + runs.len;
		if (skip_line(&at, BEGINNING "Running=True ")) {
			text_addf(happened, BEGINNING "begins:%s\n", text_of(&names));
			lines = at;
		}
	}
	text_add(happened, lines);
}

/* Plays one line and adds it, with what it led to, to `happened`. */
static void play_line(struct stage **stage, const char *line, struct text *happened)
{
	if (*line == '\t')
		return;
	text_addf(happened, "%s\n", line);
	if (!is_command(line))
		return;
	char *fault CLEANUP(mem_free_text) = script_run_line(stage, line);

	if (*stage) {
		add_lines(happened, text_of(&(*stage)->transcript));
		text_clear(&(*stage)->transcript);
	}
	if (fault)
		text_addf(happened, "\tWRONG: %s\n", fault);
	if (*stage && (*stage)->broken.len) {
		text_addf(happened, "\tBROKEN: %s\n", text_of(&(*stage)->broken));
		text_clear(&(*stage)->broken);
	}
}

static void play(const char *script, struct stage **stage, struct text *happened)
{
	char *copy CLEANUP(mem_free_text) = mem_copy_text(script);
	char *rest = copy;

	for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n"))
		if (rest || *line)
			play_line(stage, line, happened);
}

static size_t length_of_line(const char *text)
{
	return strcspn(text, "\n");
}

static int compare(const char *path, const char *expected, const char *happened)
{
	int n_line = 1;

	while (*expected && *happened) {
		size_t len = length_of_line(expected);

		if (len != length_of_line(happened) || strncmp(expected, happened, len) != 0)
			break;
		expected += len + (expected[len] == '\n');
		happened += len + (happened[len] == '\n');
		n_line++;
	}
	if (!*expected && !*happened)
		return 0;
	fprintf(stderr, "%s:%d:\n- %.*s\n+ %.*s\n", path, n_line, (int) length_of_line(expected),
		expected, (int) length_of_line(happened), happened);
	return 1;
}

static int check(const char *path, const char *script, const char *happened)
{
	int rc = compare(path, script, happened);

	if (strstr(happened, "\tWRONG:") || strstr(happened, "\tBROKEN:")) {
		fprintf(stderr, "%s: something does not hold\n%s", path, happened);
		return 1;
	}
	if (rc)
		fprintf(stderr, "what happened:\n%s", happened);
	return rc;
}

/* How a script is played. */
struct playing {
	bool is_small; /* as stage_keep_statuses_small */
	bool crashes_always;
	long crash_after;
};

/* Plays the script so; the end is added to `end`. */
static long play_with_crashes(const char *script, struct playing playing, struct text *end,
			      struct text *happened)
{
	struct stage *stage CLEANUP(stage_cleanup) = NULL;
	char *copy CLEANUP(mem_free_text) = mem_copy_text(script);
	char *rest = copy;

	for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
		play_line(&stage, line, happened);
		if (!stage)
			continue;
		stage->crash_after = playing.crash_after;
		stage->crashes_always = playing.crashes_always;
		if (playing.is_small)
			stage_keep_statuses_small(stage);
	}
	script_describe_end(stage, end);
	return stage->n_effects;
}

static int compare_end(const char *path, const char *script, const char *expected,
		       struct playing playing)
{
	struct text end CLEANUP(text_done) = {0};
	struct text happened CLEANUP(text_done) = {0};

	play_with_crashes(script, playing, &end, &happened);
	if (text_equals(text_of(&end), expected) && !strstr(text_of(&happened), "\tBROKEN:"))
		return 0;
	fprintf(stderr, "%s: crash after effect %ld%s:\n%s\nexpected end:\n%sreal end:\n%s", path,
		playing.crash_after, playing.crashes_always ? " (after every one)" : "",
		text_of(&happened), expected, text_of(&end));
	return 1;
}

static int crash_everywhere(const char *path, const char *script, bool is_small)
{
	struct playing playing = {.is_small = is_small};
	struct text expected CLEANUP(text_done) = {0};
	struct text end CLEANUP(text_done) = {0};
	struct text happened CLEANUP(text_done) = {0};
	int n_wrong = 0;

	play_with_crashes(script, (struct playing){0}, &expected, &happened);
	long n_effects = play_with_crashes(script, playing, &end, &happened);

	for (; playing.crash_after <= n_effects && !n_wrong; playing.crash_after++)
		n_wrong += compare_end(path, script, text_of(&expected), playing);
	playing = (struct playing){.is_small = is_small, .crashes_always = true};
	n_wrong += compare_end(path, script, text_of(&expected), playing);
	printf("%s: %ld crash points\n", path, n_effects);
	return n_wrong > 0;
}

int main(int argc, char **argv)
{
	const char *path = argv[argc - 1];
	const char *mode = argc > 2 ? argv[1] : "";

	if (argc < 2)
		return 2;
	char *script CLEANUP(mem_free_text) = read_file(path);

	if (text_equals(mode, "--crash") || text_equals(mode, "--small"))
		return crash_everywhere(path, script, text_equals(mode, "--small"));
	struct stage *stage CLEANUP(stage_cleanup) = NULL;
	struct text happened CLEANUP(text_done) = {0};

	play(script, &stage, &happened);
	if (!getenv("MUSTER_WRITE_GOLDEN"))
		return check(path, script, text_of(&happened));
	write_file(path, text_of(&happened));
	return 0;
}
