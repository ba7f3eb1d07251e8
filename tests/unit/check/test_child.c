#include "unit.h"

#include "base/text.h"
#include "check/child.h"
#include "io/child.h"
#include "spec/limits.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* A child that is a shell, and the lines that came of it. */
struct scene {
	struct loop *loop;
	struct check_child *child;
	struct text lines; /* each with a '|' behind it */
	size_t longest;
	int n_lines;
};

static void begin(struct scene *world)
{
	assert_int_equal(loop_new(&world->loop, NULL), 0);
}

static void end(struct scene *world)
{
	check_child_finish(world->child);
	text_done(&world->lines);
	loop_free(world->loop);
}

FIXTURE(struct scene, begin, end)

static void note_line(const char *line, size_t len, void *data)
{
	struct scene *world = data;

	world->n_lines++;
	if (len > world->longest)
		world->longest = len;
	text_add_bytes(&world->lines, line, len < 20 ? len : 20);
	text_add_char(&world->lines, '|');
	loop_stop(world->loop);
}

static void start(struct scene *world, const char *script)
{
	char *arguments[] = {"/bin/sh", "-c", (char *) script, NULL};
	char *environment[] = {"PATH=/usr/bin:/bin", NULL};
	const struct check_child_settings settings = {
		.loop = world->loop,
		.arguments = arguments,
		.environment = environment,
		.patience = 10 * MSEC_PER_SECOND,
		.on_line = note_line,
		.data = world,
	};

	assert_int_equal(check_child_start(&settings, &world->child, NULL), 0);
}

/* Waits for the end, and takes what is left. */
static int reap(struct scene *world)
{
	int status;

	assert_true(waitpid(check_child_pid(world->child), &status, 0) > 0);
	check_child_finish(TAKE(world->child));
	return status;
}

#define WORLD_TEST(name) TEST_IN(fixture_begin, fixture_end, struct scene *world, name)

WORLD_TEST(lines_are_told_one_by_one_and_the_last_without_a_line_feed_too)
{
	start(world, "echo one; echo; echo two >&2; printf three");
	assert_int_equal(reap(world), 0);
	assert_string_equal(text_of(&world->lines), "one|two|three|");
}

WORLD_TEST(a_line_that_is_too_long_is_cut)
{
	start(world, "head -c 300000 /dev/zero | tr '\\0' x; echo; echo end");
	while (world->n_lines < 2)
		loop_run(world->loop);
	reap(world);
	assert_string_equal(text_of(&world->lines), "xxxxxxxxxxxxxxxxxxxx|end|");
	assert_true(world->longest >= LIMIT_LOG_LINE && world->longest < 2 * LIMIT_LOG_LINE);
}

WORLD_TEST(one_that_does_not_end_is_killed_when_its_time_is_over)
{
	start(world, "trap '' TERM; echo ready; sleep 1000; sleep 1000");
	while (world->n_lines < 1)
		loop_run(world->loop);
	assert_true(instant_is_never(check_child_escalate_signal(world->child, moment(1000))));
	check_child_terminate(world->child, moment(1000));
	msec kill_at = check_child_escalate_signal(world->child, moment(1000)).since_boot;

	assert_true(kill_at > 1000 && kill_at < MSEC_NEVER);
	assert_true(check_child_escalate_signal(world->child, moment(kill_at - 1)).since_boot ==
		    kill_at);
	assert_true(instant_is_never(check_child_escalate_signal(world->child, moment(kill_at))));
	int status = reap(world);

	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

WORLD_TEST(a_program_that_is_not_there_is_an_error)
{
	char *arguments[] = {"/no/such/program", NULL};
	char *environment[] = {NULL};
	const struct check_child_settings settings = {
		.loop = world->loop, .arguments = arguments, .environment = environment};
	struct err err = {0};

	assert_int_equal(check_child_start(&settings, &world->child, &err), ERR_NOT_FOUND);
	assert_non_null(strstr(err.text, "/no/such/program"));
}
