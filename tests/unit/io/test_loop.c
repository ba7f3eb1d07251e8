#include "unit.h"

#include "io/loop.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

struct scene {
	struct loop *loop;
	struct loop_watch *watch;
	int calls;
	int last_signal;
};

static void begin(struct scene *world)
{
	assert_int_equal(loop_new(&world->loop, NULL), 0);
}

static void end(struct scene *world)
{
	loop_watch_free(world->watch);
	loop_free(world->loop);
}

FIXTURE(struct scene, begin, end)

static void count_and_stop(void *data)
{
	struct scene *world = data;

	world->calls++;
	loop_stop(world->loop);
}

static void free_own_watch(void *data)
{
	struct scene *world = data;

	loop_watch_free(TAKE(world->watch));
	count_and_stop(world);
}

static void note_signal(int signal_number, void *data)
{
	struct scene *world = data;

	world->last_signal = signal_number;
	world->calls++;
	loop_stop(world->loop);
}

#define WORLD_TEST(name) TEST_IN(fixture_begin, fixture_end, struct scene *world, name)

WORLD_TEST(a_readable_pipe_is_called_until_it_is_read)
{
	int fds[2];
	char byte;

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	world->watch = loop_watch_readable(world->loop, fds[0], count_and_stop, world);
	loop_run_ready(world->loop);
	assert_int_equal(world->calls, 0);
	assert_int_equal(write(fds[1], "x", 1), 1);
	loop_run(world->loop);
	loop_run(world->loop);
	assert_int_equal(world->calls, 2);
	assert_int_equal(read(fds[0], &byte, 1), 1);
	loop_run_ready(world->loop);
	assert_int_equal(world->calls, 2);
	close(fds[0]);
	close(fds[1]);
}

WORLD_TEST(a_watch_that_is_not_enabled_is_not_called)
{
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(write(fds[1], "x", 1), 1);
	world->watch = loop_watch_readable(world->loop, fds[0], count_and_stop, world);
	loop_watch_enable(world->watch, false);
	loop_run_ready(world->loop);
	assert_int_equal(world->calls, 0);
	loop_watch_enable(world->watch, true);
	loop_run_ready(world->loop);
	assert_int_equal(world->calls, 1);
	close(fds[0]);
	close(fds[1]);
}

WORLD_TEST(a_regular_file_is_always_ready)
{
	FILE *file = tmpfile();

	world->watch = loop_watch_writable(world->loop, fileno(file), count_and_stop, world);
	loop_run(world->loop);
	loop_run(world->loop);
	assert_int_equal(world->calls, 2);
	loop_watch_enable(world->watch, false);
	loop_run_ready(world->loop);
	assert_int_equal(world->calls, 2);
	fclose(file);
}

WORLD_TEST(a_callback_may_free_its_own_watch)
{
	world->watch = loop_new_timer(world->loop, free_own_watch, world);
	loop_timer_arm_after(world->watch, 0);
	loop_run(world->loop);
	assert_null(world->watch);
}

WORLD_TEST(a_timer_never_fires_before_its_moment)
{
	world->watch = loop_new_timer(world->loop, count_and_stop, world);
	for (msec delay = 0; delay < 12; delay++) {
		msec at = loop_now() + delay;

		loop_timer_arm_wall(world->watch, at);
		loop_run(world->loop);
		assert_true(loop_now() >= at);
	}
	assert_int_equal(world->calls, 12);
}

WORLD_TEST(a_disarmed_timer_does_not_fire)
{
	world->watch = loop_new_timer(world->loop, count_and_stop, world);
	loop_timer_arm_after(world->watch, 0);
	loop_timer_arm(world->watch, INSTANT_NEVER);
	loop_run_ready(world->loop);
	loop_run_ready(world->loop);
	assert_int_equal(world->calls, 0);
}

WORLD_TEST(a_signal_is_told_by_its_number)
{
	world->watch = loop_watch_signal(world->loop, SIGUSR2, note_signal, world);
	raise(SIGUSR2);
	loop_run(world->loop);
	assert_int_equal(world->last_signal, SIGUSR2);
}

static int calls_of_two(struct scene *world, int signal_number)
{
	world->calls = 0;
	world->watch = loop_watch_signal(world->loop, signal_number, note_signal, world);
	raise(signal_number);
	raise(signal_number);
	loop_run_ready(world->loop);
	loop_run_ready(world->loop);
	loop_watch_free(TAKE(world->watch));
	return world->calls;
}

/* Two interrupts in a row mean more than one; the exits of children are asked for all at once. */
WORLD_TEST(a_second_signal_counts_while_the_first_waits)
{
	assert_int_equal(calls_of_two(world, SIGINT), 2);
	assert_int_equal(calls_of_two(world, SIGUSR1), 2);
	assert_int_equal(calls_of_two(world, SIGCHLD), 1);
}

WORLD_TEST(each_loop_gets_the_signals_that_it_watches)
{
	struct scene other = {0};

	assert_int_equal(loop_new(&other.loop, NULL), 0);
	world->watch = loop_watch_signal(world->loop, SIGUSR1, note_signal, world);
	other.watch = loop_watch_signal(other.loop, SIGUSR2, note_signal, &other);
	loop_watch_free(other.watch);
	loop_free(other.loop);
	raise(SIGUSR1);
	loop_run_ready(world->loop);
	assert_int_equal(world->calls, 1);
	assert_int_equal(other.calls, 0);
}

static void defer_again(void *data)
{
	struct scene *world = data;

	if (++world->calls < 3)
		loop_defer(world->loop, defer_again, world);
}

WORLD_TEST(what_is_deferred_in_one_turn_runs_in_the_next)
{
	loop_defer(world->loop, defer_again, world);
	assert_int_equal(world->calls, 0);
	for (int turn = 1; turn <= 3; turn++) {
		loop_run_ready(world->loop);
		assert_int_equal(world->calls, turn);
	}
	loop_run_ready(world->loop);
	assert_int_equal(world->calls, 3);
}

WORLD_TEST(what_was_deferred_and_never_ran_is_forgotten)
{
	loop_defer(world->loop, count_and_stop, world);
	assert_int_equal(world->calls, 0);
}
