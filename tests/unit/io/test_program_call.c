/* Programs that are asked: what they print, how they end, and that none is left. */
#include "unit.h"

#include "base/mem.h"
#include "io/program_call.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE (60 * MSEC_PER_SECOND)

struct scene {
	struct loop *loop;
	struct program_call *call;
	int n_answers;
	char *bytes;
	size_t len;
	int exit_code, signal;
	struct err err;
};

static void begin(struct scene *scene)
{
	assert_int_equal(loop_new(&scene->loop, NULL), 0);
}

static void end(struct scene *scene)
{
	/* Nothing that was started is left unreaped. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	free(scene->bytes);
	loop_free(scene->loop);
}

FIXTURE(struct scene, begin, end)

static void on_done(const struct program_answer *answer, const struct err *err, void *data)
{
	struct scene *scene = data;

	scene->n_answers++;
	if (answer) {
		scene->bytes = mem_copy_bytes(answer->bytes, answer->len);
		scene->len = answer->len;
		scene->exit_code = answer->exit_code;
		scene->signal = answer->signal;
	} else {
		scene->err = *err;
	}
	loop_stop(scene->loop);
}

static int ask(struct scene *scene, const char *script, size_t limit, msec time_limit)
{
	const char *const arguments[] = {"sh", "-c", script, NULL};
	static char *environment[] = {"PATH=/usr/bin:/bin", "COLOUR=blue", NULL};
	const struct program_question question = {
		.program = arguments[0],
		.arguments = (char *const *) arguments,
		.environment = environment,
		.limit = limit,
		.time_limit = time_limit,
		.done = on_done,
		.data = scene,
	};

	return program_call_new(scene->loop, &question, &scene->call, &scene->err);
}

#define SCENE_TEST(name) TEST_IN(fixture_begin, fixture_end, struct scene *scene, name)

SCENE_TEST(what_a_program_prints_is_its_answer)
{
	assert_int_equal(ask(scene, "cat; echo $COLOUR; exit 3", 100, PATIENCE), 0);
	loop_run(scene->loop);
	assert_string_equal(scene->bytes, "blue\n");
	assert_int_equal(scene->exit_code, 3);
	assert_int_equal(scene->signal, 0);
	assert_int_equal(scene->n_answers, 1);
}

SCENE_TEST(more_than_a_pipe_holds_arrives_whole)
{
	assert_int_equal(ask(scene, "head -c 300000 /dev/zero", 300000, PATIENCE), 0);
	loop_run(scene->loop);
	assert_int_equal(scene->len, 300000);
}

SCENE_TEST(more_than_the_limit_is_refused)
{
	assert_int_equal(ask(scene, "cat /dev/zero", 1000, PATIENCE), 0);
	loop_run(scene->loop);
	assert_int_equal(scene->err.code, ERR_LIMIT);
	assert_null(scene->bytes);
}

SCENE_TEST(a_program_that_does_not_answer_is_ended)
{
	assert_int_equal(ask(scene, "sleep 1000", 1000, 1), 0);
	loop_run(scene->loop);
	assert_int_equal(scene->err.code, ERR_UNREACHABLE);
}

SCENE_TEST(what_a_program_leaves_behind_holds_nobody_up)
{
	assert_int_equal(ask(scene, "sleep 1000 & echo left", 1000, PATIENCE), 0);
	loop_run(scene->loop);
	assert_string_equal(scene->bytes, "left\n");
}

SCENE_TEST(a_signal_is_told)
{
	assert_int_equal(ask(scene, "kill -9 $$", 1000, PATIENCE), 0);
	loop_run(scene->loop);
	assert_int_equal(scene->signal, SIGKILL);
	assert_int_equal(scene->exit_code, -1);
}

SCENE_TEST(a_cancelled_call_ends_in_silence)
{
	assert_int_equal(ask(scene, "sleep 1000", 1000, PATIENCE), 0);
	program_call_cancel(scene->call);
	loop_run_ready(scene->loop);
	assert_int_equal(scene->n_answers, 0);
	program_call_cancel(NULL);
}

SCENE_TEST(a_program_that_is_not_there_is_told_at_once)
{
	const char *const arguments[] = {"no-such-program-here", NULL};
	static char *environment[] = {"PATH=/usr/bin:/bin", NULL};
	const struct program_question question = {
		.program = arguments[0],
		.arguments = (char *const *) arguments,
		.environment = environment,
		.limit = 1,
		.done = on_done,
		.data = scene,
	};

	assert_int_equal(program_call_new(scene->loop, &question, &scene->call, &scene->err),
			 ERR_NOT_FOUND);
	assert_int_equal(scene->n_answers, 0);
}
