/* A small tree of processes under a guard: each holds the write end of a pipe, so its end of file
 * says that the last one is gone. */
#include "unit.h"

#include "io/child.h"
#include "io/guard.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 20000

struct scene {
	int alive[2]; /* every process of the tree holds the write end */
	int report[2]; /* the inner's pid, then one byte for each process that is ready */
};

struct tree {
	pid_t outer, inner;
};

static void begin(struct scene *world)
{
	assert_false(pipe2(world->alive, O_CLOEXEC) < 0 || pipe2(world->report, O_CLOEXEC) < 0);
}

static void end(struct scene *world)
{
	close(world->alive[0]);
	close(world->report[0]);
}

FIXTURE(struct scene, begin, end)

static void say(int fd, const void *bytes, size_t len)
{
	if (write(fd, bytes, len) != (ssize_t) len)
		_exit(1);
}

static NORETURN void wait_for_ever(const struct scene *world)
{
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	say(world->report[1], "r", 1);
	for (;;)
		pause();
}

#define TREE_SIZE 4

/* A child; its child in a session of its own; and two orphans, one of a double fork. */
static void grow_tree(const struct scene *world)
{
	if (fork() != 0)
		return;
	if (fork() == 0) {
		setsid();
		if (fork() == 0)
			wait_for_ever(world);
		wait_for_ever(world);
	}
	if (fork() == 0) {
		if (fork() == 0) {
			setsid();
			wait_for_ever(world);
		}
		_exit(0);
	}
	wait_for_ever(world);
}

static NORETURN void end_when_outer_is_gone(int outer_gone_fd)
{
	struct pollfd gone = {.fd = outer_gone_fd, .events = POLLIN};

	while (poll(&gone, 1, -1) != 1)
		;
	child_kill_all(NULL, NULL);
	_exit(0);
}

static NORETURN void live_as_inner(const struct scene *world, const struct guard *guard)
{
	pid_t pid = getpid();

	guard_leave_group();
	say(world->report[1], &pid, sizeof(pid));
	grow_tree(world);
	end_when_outer_is_gone(guard->outer_gone_fd);
}

static void read_report(const struct scene *world, void *buf, size_t len)
{
	struct pollfd readable = {.fd = world->report[0], .events = POLLIN};

	for (size_t have = 0; have < len;) {
		assert_int_equal(poll(&readable, 1, PATIENCE_MS), 1);
		ssize_t got = read(world->report[0], (char *) buf + have, len - have);

		assert_true(got > 0);
		have += (size_t) got;
	}
}

/* The outer process ends with the code that the guard gives, plus one when the inner was lost. */
static struct tree plant(struct scene *world)
{
	struct tree tree = {.outer = fork()};
	char ready[TREE_SIZE];

	if (tree.outer == 0) {
		struct guard guard;

		close(world->alive[0]);
		if (guard_fork(NULL, &guard, NULL) < 0)
			_exit(99);
		if (guard.is_inner)
			live_as_inner(world, &guard);
		_exit(guard.exit_code + guard.was_lost);
	}
	close(world->alive[1]);
	read_report(world, &tree.inner, sizeof(tree.inner));
	read_report(world, ready, sizeof(ready));
	close(world->report[1]);
	return tree;
}

static void assert_all_gone(const struct scene *world)
{
	struct pollfd alive = {.fd = world->alive[0], .events = POLLIN};
	char byte;

	assert_int_equal(poll(&alive, 1, PATIENCE_MS), 1);
	assert_int_equal(read(world->alive[0], &byte, 1), 0);
}

#define WORLD_TEST(name) TEST_IN(fixture_begin, fixture_end, struct scene *world, name)

WORLD_TEST(nothing_outlives_the_inner)
{
	struct tree tree = plant(world);
	int status;

	kill(tree.inner, SIGKILL);
	waitpid(tree.outer, &status, 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 128 + SIGKILL + 1);
	assert_all_gone(world);
}

WORLD_TEST(nothing_outlives_the_outer)
{
	struct tree tree = plant(world);

	kill(tree.outer, SIGKILL);
	waitpid(tree.outer, NULL, 0);
	assert_all_gone(world);
}

/* What goes by a name or by a process group kills one of the two. */
WORLD_TEST(the_two_share_neither_name_nor_group)
{
	struct tree tree = plant(world);
	char path[64], name[32] = "";

	assert_int_equal(getpgid(tree.inner), tree.inner);
	assert_int_not_equal(getpgid(tree.outer), tree.inner);
	snprintf(path, sizeof(path), "/proc/%d/comm", (int) tree.outer);
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	assert_non_null(fgets(name, sizeof(name), file));
	fclose(file);
	assert_string_equal(name, GUARD_NAME "\n");
	kill(tree.outer, SIGKILL);
	waitpid(tree.outer, NULL, 0);
	assert_all_gone(world);
}

WORLD_TEST(a_stopped_inner_still_sees_the_outer_die)
{
	struct tree tree = plant(world);

	kill(tree.inner, SIGSTOP);
	kill(tree.outer, SIGKILL);
	waitpid(tree.outer, NULL, 0);
	assert_all_gone(world);
}

WORLD_TEST(signals_are_handed_on_and_the_exit_code_comes_back)
{
	pid_t outer = fork(), inner;
	int status;

	if (outer == 0) {
		struct guard guard;
		sigset_t awaited;
		int number = 0;

		sigemptyset(&awaited);
		sigaddset(&awaited, SIGTERM);
		sigaddset(&awaited, SIGINT);
		if (guard_fork(NULL, &guard, NULL) < 0)
			_exit(99);
		if (!guard.is_inner)
			_exit(guard.exit_code + guard.was_lost);
		sigprocmask(SIG_BLOCK, &awaited, NULL);
		inner = getpid();
		say(world->report[1], &inner, sizeof(inner));
		sigwait(&awaited, &number);
		say(world->report[1], "r", 1);
		sigwait(&awaited, &number);
		_exit(40 + number);
	}
	char byte;

	read_report(world, &inner, sizeof(inner));
	kill(outer, SIGTERM);
	read_report(world, &byte, 1);
	kill(outer, SIGINT);
	waitpid(outer, &status, 0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 40 + SIGINT);
	close(world->alive[1]);
	close(world->report[1]);
}

WORLD_TEST(a_signal_that_was_ignored_at_the_start_is_not_handed_on)
{
	pid_t outer, inner;
	int status;

	signal(SIGHUP, SIG_IGN);
	outer = fork();
	if (outer == 0) {
		struct guard guard;

		if (guard_fork(NULL, &guard, NULL) < 0)
			_exit(99);
		if (!guard.is_inner)
			_exit(guard.exit_code);
		signal(SIGHUP, SIG_DFL); /* would end it */
		inner = getpid();
		say(world->report[1], &inner, sizeof(inner));
		pause();
	}
	signal(SIGHUP, SIG_DFL);
	read_report(world, &inner, sizeof(inner));
	kill(outer, SIGHUP);
	kill(outer, SIGTERM);
	waitpid(outer, &status, 0);
	assert_int_equal(WEXITSTATUS(status), 128 + SIGTERM);
	close(world->alive[1]);
	close(world->report[1]);
}
