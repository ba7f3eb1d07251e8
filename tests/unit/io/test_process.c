#include "unit.h"

#include "base/mem.h"
#include "io/process.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* A process that waits until it is killed, with one entry as its environment. It may still have the
 * memory of this one when this returns: the kernel wakes the parent before it changes that. */
static pid_t spawn_sleeper(const char *entry)
{
	char *arguments[] = {"sleep", "1000", NULL};
	char *environment[] = {(char *) entry, NULL};
	pid_t pid;

	assert_int_equal(posix_spawn(&pid, "/bin/sleep", NULL, NULL, arguments, environment), 0);
	return pid;
}

static pid_t start_sleeper(const char *entry)
{
	pid_t pid = spawn_sleeper(entry);

	while (!process_has_mark(pid, entry))
		poll(NULL, 0, 1);
	return pid;
}

static void kill_without_reaping(pid_t pid)
{
	siginfo_t ended;

	kill(pid, SIGKILL);
	waitid(P_PID, (id_t) pid, &ended, WEXITED | WNOWAIT);
}

struct found {
	pid_t wanted;
	int times;
	int others;
};

static void note_pid(pid_t pid, void *data)
{
	struct found *found = data;

	if (pid == found->wanted)
		found->times++;
	else
		found->others++;
}

TEST(a_process_is_known_again_until_it_ends)
{
	struct process_identity identity;
	pid_t pid = start_sleeper("A=b");

	assert_int_equal(process_identify(pid, &identity, NULL), 0);
	assert_true(process_find(&identity));
	kill_without_reaping(pid);
	assert_false(process_find(&identity));
	waitpid(pid, NULL, 0);
	assert_false(process_find(&identity));
}

TEST(the_same_pid_of_another_start_or_boot_is_another_process)
{
	struct process_identity identity, other;

	assert_int_equal(process_identify(getpid(), &identity, NULL), 0);
	other = identity;
	other.start_time++;
	assert_false(process_find(&other));
	other = identity;
	other.boot_id[0] ^= 1;
	assert_false(process_find(&other));
	other = identity;
	other.pid_space++;
	assert_false(process_find(&other));
}

TEST(a_process_that_does_not_exist_is_told)
{
	struct process_identity identity;
	struct err err;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	assert_int_equal(process_identify(pid, &identity, &err), ERR_NOT_FOUND);
	assert_non_null(strstr(err.text, "does not exist"));
}

TEST(children_are_found_and_strangers_are_not)
{
	pid_t pid = start_sleeper("A=b");
	struct found found = {.wanted = pid};

	process_each_child(getpid(), note_pid, &found);
	assert_int_equal(found.times, 1);
	assert_int_equal(found.others, 0);
	kill_without_reaping(pid);
	waitpid(pid, NULL, 0);
}

TEST(a_mark_is_found_only_as_a_whole_entry)
{
	char mark[64], longer[80], shorter[64];

	snprintf(mark, sizeof(mark), "MUSTER_TEST_MARK=%d", (int) getpid());
	snprintf(longer, sizeof(longer), "%s0", mark);
	snprintf(shorter, sizeof(shorter), "%.*s", (int) strlen(mark) - 1, mark);
	pid_t pid = start_sleeper(mark), stranger = start_sleeper(longer);
	struct found found = {.wanted = pid};

	process_each_marked(mark, note_pid, &found);
	assert_int_equal(found.times, 1);
	assert_int_equal(found.others, 0);
	assert_true(process_has_mark(pid, mark));
	assert_false(process_has_mark(pid, shorter));
	assert_false(process_has_mark(pid, mark + 1));
	assert_false(process_has_mark(stranger, mark));
	char *value CLEANUP(mem_free_text) = NULL, *absent = NULL;

	assert_true(process_read_variable(pid, "MUSTER_TEST_MARK", &value));
	assert_string_equal(value, strchr(mark, '=') + 1);
	assert_true(process_read_variable(pid, "MUSTER_TEST", &absent));
	assert_null(absent);
	kill_without_reaping(pid);
	kill_without_reaping(stranger);
	waitpid(pid, NULL, 0);
	waitpid(stranger, NULL, 0);
}

/* While its program begins, the kernel shows the environment of the one before, none, then its own.
 */
TEST(a_process_that_has_just_begun_has_an_environment)
{
	struct text own CLEANUP(text_done) = {0};
	char mark[64];

	snprintf(mark, sizeof(mark), "MUSTER_TEST_NEW=%d", (int) getpid());
	assert_int_equal(process_add_environment(getpid(), &own, NULL), 0);
	for (int i = 0; i < 2000; i++) {
		pid_t pid = spawn_sleeper(mark);
		struct text seen CLEANUP(text_done) = {0};

		assert_int_equal(process_add_environment(pid, &seen, NULL), 0);
		assert_true(text_equals(text_of(&seen), mark) || seen.len == own.len);
		kill_without_reaping(pid);
		waitpid(pid, NULL, 0);
	}
}

/* Anybody may write the mark of a job of root's into the environment of a setuid program. */
TEST(a_mark_of_what_another_user_started_as_root_does_not_count)
{
	char mark[64], *arguments[] = {"sleep", "1000", NULL}, *environment[] = {mark, NULL};
	int is_begun[2];
	char byte;

	snprintf(mark, sizeof(mark), "MUSTER_TEST_STRANGER=%d", (int) getpid());
	if (geteuid() != 0)
		skip();
	assert_int_equal(pipe2(is_begun, O_CLOEXEC), 0);
	pid_t pid = fork();

	if (pid == 0) {
		if (setresuid(65534, 0, 0) == 0)
			execve("/bin/sleep", arguments, environment);
		_exit(1);
	}
	close(is_begun[1]);
	assert_int_equal(read(is_begun[0], &byte, 1), 0);
	close(is_begun[0]);
	assert_true(process_has_mark(pid, mark));
	struct found found = {.wanted = pid};

	process_each_marked(mark, note_pid, &found);
	assert_int_equal(found.times + found.others, 0);
	kill_without_reaping(pid);
	waitpid(pid, NULL, 0);
}

/* This program started anew, to become a process whose main thread has ended and whose other one
 * waits until it is killed. */
#define WITHOUT_MAIN_THREAD "without-main-thread"

static void *wait_for_ever(void *data)
{
	while (pause())
		;
	return data;
}

static void leave_main_thread(void)
{
	pthread_t thread;

	/* With the test, should that fail. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (pthread_create(&thread, NULL, wait_for_ever, NULL))
		_exit(1);
	pthread_exit(NULL);
}

static void wait_for_state(pid_t pid, char state)
{
	char path[64], line[256];
	char seen = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int) pid);
	while (seen != state) {
		FILE *file = fopen(path, "r");

		assert_non_null(file);
		assert_non_null(fgets(line, sizeof(line), file));
		fclose(file);
		seen = strrchr(line, ')')[2];
		sched_yield();
	}
}

TEST(a_process_without_its_main_thread_lives_and_keeps_its_mark)
{
	char *arguments[] = {"test_process", WITHOUT_MAIN_THREAD, NULL};
	char *environment[] = {"MUSTER_TEST_MARK=threads", NULL};
	struct process_identity identity;
	pid_t pid;

	assert_int_equal(posix_spawn(&pid, "/proc/self/exe", NULL, NULL, arguments, environment),
			 0);
	assert_int_equal(process_identify(pid, &identity, NULL), 0);
	wait_for_state(pid, 'Z');
	assert_true(process_find(&identity));
	assert_true(process_has_mark(pid, "MUSTER_TEST_MARK=threads"));
	kill_without_reaping(pid);
	assert_false(process_find(&identity));
	assert_false(process_has_mark(pid, "MUSTER_TEST_MARK=threads"));
	waitpid(pid, NULL, 0);
}

TEST(a_process_is_stopped_when_one_of_its_descendants_is)
{
	pid_t pid = start_sleeper("A=b");
	siginfo_t stopped;

	assert_false(process_is_stopped(getpid()));
	kill(pid, SIGSTOP);
	assert_int_equal(waitid(P_PID, (id_t) pid, &stopped, WSTOPPED), 0);
	assert_true(process_is_stopped(pid));
	assert_true(process_is_stopped(getpid()));
	kill_without_reaping(pid);
	assert_false(process_is_stopped(pid));
	waitpid(pid, NULL, 0);
	assert_false(process_is_stopped(pid));
}

static void ignore_signal(int number)
{
	(void) number;
}

TEST(what_a_process_catches_and_has_loaded_is_seen)
{
	assert_false(process_catches(getpid(), SIGUSR2));
	signal(SIGUSR2, ignore_signal);
	assert_true(process_catches(getpid(), SIGUSR2));
	signal(SIGUSR2, SIG_IGN);
	assert_false(process_catches(getpid(), SIGUSR2));
	signal(SIGUSR2, SIG_DFL);
	assert_true(process_has_loaded(getpid(), "libcmocka"));
	assert_false(process_has_loaded(getpid(), "libtensorflow"));
	assert_false(process_has_loaded(0, "lib"));
}

/* The line of groups, before that of signals, is then longer than a page. */
TEST(a_process_of_a_user_with_many_groups_is_seen)
{
	gid_t before[64], many[2000];
	int n_before = getgroups(ARRAY_LEN(before), before);

	for (size_t i = 0; i < ARRAY_LEN(many); i++)
		many[i] = (gid_t) (1000000 + i);
	if (n_before < 0 || setgroups(ARRAY_LEN(many), many) < 0)
		skip();
	signal(SIGUSR2, ignore_signal);
	assert_true(process_catches(getpid(), SIGUSR2));
	signal(SIGUSR2, SIG_DFL);
	assert_int_equal(setgroups((size_t) n_before, before), 0);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], WITHOUT_MAIN_THREAD))
		leave_main_thread();
	return unit_run();
}
