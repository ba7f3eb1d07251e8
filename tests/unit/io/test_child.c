#include "unit.h"

#include "base/mem.h"
#include "base/text.h"
#include "io/child.h"
#include "io/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_MS 20000

static char *default_environment[] = {"PATH=/usr/bin:/bin", "GREETING=hello", NULL};

struct scene {
	int output[2];
	char folder[64];
	struct err err;
};

static void begin(struct scene *world)
{
	strcpy(world->folder, "/tmp/muster-test-child-XXXXXX");
	assert_false(pipe2(world->output, O_CLOEXEC) < 0 || !mkdtemp(world->folder));
}

static void end(struct scene *world)
{
	char file[128];

	snprintf(file, sizeof(file), "%s/program", world->folder);
	unlink(file);
	rmdir(world->folder);
	close(world->output[0]);
	close(world->output[1]);
}

FIXTURE(struct scene, begin, end)

static int start(struct scene *world, const char *const *arguments, const char *working_dir,
		 pid_t *ret_pid)
{
	const struct child_start how = {
		.program = arguments[0],
		.arguments = (char *const *) arguments,
		.environment = default_environment,
		.working_dir = working_dir,
		.output_fd = world->output[1],
	};

	return child_start(&how, ret_pid, &world->err);
}

static int start_shell(struct scene *world, const char *script, pid_t *ret_pid)
{
	const char *arguments[] = {"sh", "-c", script, NULL};

	return start(world, arguments, NULL, ret_pid);
}

static struct child_exit wait_for_end(pid_t pid)
{
	struct child_exit ended;
	bool has_children;
	siginfo_t seen;

	waitid(P_PID, (id_t) pid, &seen, WEXITED | WNOWAIT);
	while (child_reap(&ended, &has_children, NULL, NULL))
		if (ended.pid == pid)
			return ended;
	fail_msg("process %d was not reaped", (int) pid);
	return ended;
}

/* Reads one line; fails when none comes. */
static char *read_line(struct scene *world)
{
	struct text line = {0};
	struct pollfd readable = {.fd = world->output[0], .events = POLLIN};
	char byte;

	while (poll(&readable, 1, PATIENCE_MS) == 1 && read(world->output[0], &byte, 1) == 1) {
		if (byte == '\n')
			return text_take(&line);
		text_add_char(&line, byte);
	}
	fail_msg("no line came, only '%s'", text_of(&line));
	return NULL;
}

static void write_program(struct scene *world, const char *contents, mode_t mode, char path[128])
{
	snprintf(path, 128, "%s/program", world->folder);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	assert_int_equal(write(fd, contents, strlen(contents)), strlen(contents));
	close(fd);
}

#define WORLD_TEST(name) TEST_IN(fixture_begin, fixture_end, struct scene *world, name)

WORLD_TEST(a_child_begins_with_what_it_was_given_and_nothing_else)
{
	pid_t pid;
	int inherited = fcntl(STDERR_FILENO, F_DUPFD, 77); /* not close-on-exec */
	const char *arguments[] = {
		"sh", "-c",
		"echo $GREETING $(pwd) $(readlink /proc/$$/fd/0); ls /proc/$$/fd | tail -1", NULL};
	char *expected CLEANUP(mem_free_text) = mem_format("hello %s /dev/null", world->folder);

	assert_int_equal(inherited, 77);
	assert_int_equal(start(world, arguments, world->folder, &pid), 0);
	char *line CLEANUP(mem_free_text) = read_line(world);
	char *last_fd CLEANUP(mem_free_text) = read_line(world);

	assert_string_equal(line, expected);
	assert_true(atoi(last_fd) < 77);
	assert_int_equal(wait_for_end(pid).exit_code, 0);
	close(inherited);
}

WORLD_TEST(a_child_has_the_limit_on_open_files_that_it_is_given)
{
	pid_t pid;
	const char *arguments[] = {"sh", "-c", "ulimit -Sn", NULL};
	const struct child_start how = {
		.program = arguments[0],
		.arguments = (char *const *) arguments,
		.environment = default_environment,
		.output_fd = world->output[1],
		.descriptor_limit = 61,
	};
	struct rlimit before, after;

	getrlimit(RLIMIT_NOFILE, &before);
	assert_int_equal(child_start(&how, &pid, &world->err), 0);
	char *line CLEANUP(mem_free_text) = read_line(world);

	assert_string_equal(line, "61");
	getrlimit(RLIMIT_NOFILE, &after);
	assert_true(before.rlim_cur == after.rlim_cur);
	assert_int_equal(wait_for_end(pid).exit_code, 0);
}

WORLD_TEST(a_child_ignores_and_blocks_no_signal)
{
	pid_t pid;
	sigset_t blocked;
	const char *arguments[] = {"grep", "-E", "^Sig(Ign|Blk)", "/proc/self/status", NULL};

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(start(world, arguments, NULL, &pid), 0);
	sigprocmask(SIG_UNBLOCK, &blocked, NULL);
	signal(SIGPIPE, SIG_DFL);
	for (int i = 0; i < 2; i++) {
		char *line CLEANUP(mem_free_text) = read_line(world);

		assert_non_null(strstr(line, ":\t0000000000000000"));
	}
	wait_for_end(pid);
}

WORLD_TEST(the_way_a_child_ended_is_told)
{
	struct child_exit ended;
	pid_t pid;

	assert_int_equal(start_shell(world, "exit 7", &pid), 0);
	ended = wait_for_end(pid);
	assert_int_equal(ended.exit_code, 7);
	assert_int_equal(ended.signal, 0);

	assert_int_equal(start_shell(world, "kill -USR1 $$", &pid), 0);
	ended = wait_for_end(pid);
	assert_int_equal(ended.exit_code, -1);
	assert_int_equal(ended.signal, SIGUSR1);
}

WORLD_TEST(reaping_says_whether_children_are_left)
{
	struct child_exit ended;
	bool has_children = true;
	pid_t pid;

	assert_false(child_reap(&ended, &has_children, NULL, NULL));
	assert_false(has_children);
	assert_int_equal(start_shell(world, "exec sleep 1000", &pid), 0);
	assert_false(child_reap(&ended, &has_children, NULL, NULL));
	assert_true(has_children);
	child_signal_group(pid, SIGTERM);
	assert_int_equal(wait_for_end(pid).signal, SIGTERM);
}

WORLD_TEST(the_rest_of_the_group_ends_with_its_leader)
{
	struct child_exit ended;
	pid_t leader, orphan;

	assert_int_equal(start_shell(world, "sleep 1000 & echo $!; exit 0", &leader), 0);
	char *line CLEANUP(mem_free_text) = read_line(world);

	orphan = atoi(line);
	assert_int_equal(wait_for_end(leader).exit_code, 0);
	ended = wait_for_end(orphan); /* it fell to us: this test is a subreaper */
	assert_int_equal(ended.signal, SIGKILL);
}

WORLD_TEST(a_daemon_goes_on_when_its_own_middle_process_ends)
{
	struct child_exit ended;
	bool has_children;
	pid_t leader;

	/* The worker's child begins a session, starts the daemon, and ends when we say so, after
	 * its parent is gone ("left"): both fall to us one after the other. */
	char *go CLEANUP(mem_free_text) = mem_format("%s/go", world->folder);
	const char *arguments[] = {
		"sh", "-c",
		"(setsid sh -c 'sleep 1000 & echo $$ $!; read go < \"$0\"' \"$0\" & ); "
		"echo left; exec sleep 1000",
		go, NULL};

	assert_int_equal(mkfifo(go, 0600), 0);
	assert_int_equal(start(world, arguments, NULL, &leader), 0);
	char *one CLEANUP(mem_free_text) = read_line(world);
	char *other CLEANUP(mem_free_text) = read_line(world);
	const char *line = strcmp(one, "left") ? one : other;
	pid_t middle = atoi(line), daemon = atoi(strchr(line, ' ') + 1);
	struct process_identity identity;

	close(open(go, O_WRONLY | O_CLOEXEC));
	wait_for_end(middle);
	assert_int_equal(process_identify(daemon, &identity, NULL), 0);
	assert_true(process_find(&identity));
	kill(daemon, SIGKILL);
	kill(leader, SIGKILL);
	while (child_reap(&ended, &has_children, NULL, NULL) || has_children)
		;
}

WORLD_TEST(a_program_that_is_not_there_is_told_by_name)
{
	const char *in_path[] = {"no-such-program", NULL}, *by_path[] = {"./no-such", NULL};
	pid_t pid;

	assert_int_equal(start(world, in_path, NULL, &pid), ERR_NOT_FOUND);
	assert_string_equal(world->err.text, "program 'no-such-program' not found in PATH");
	assert_int_equal(start(world, by_path, NULL, &pid), ERR_NOT_FOUND);
	assert_string_equal(world->err.text, "program './no-such' not found");
}

/* Whoever made the current folder does not choose the programs that run in it. */
TEST_WITH(fixture_begin, fixture_end, an_empty_element_of_path_is_not_the_current_folder)
{
	static const char *const paths[] = {"PATH=", "PATH=:/usr/bin",
					    "PATH=/usr/bin:", "PATH=/usr/bin::/bin"};
	struct scene *world = *state;
	char path[128], *arguments[] = {"program", NULL};

	write_program(world, "#!/bin/sh\n", 0755, path);
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		char *environment[] = {(char *) paths[i], NULL};
		const struct child_start how = {
			.program = "program",
			.arguments = arguments,
			.environment = environment,
			.working_dir = world->folder,
			.output_fd = world->output[1],
		};
		pid_t pid;

		assert_int_equal(child_check_program(&how, &world->err), ERR_NOT_FOUND);
		assert_int_equal(child_start(&how, &pid, &world->err), ERR_NOT_FOUND);
		assert_non_null(
			strstr(world->err.text,
			       "an empty PATH element does not mean the current directory"));
	}
	char *written_out[] = {"PATH=/usr/bin:.", NULL};
	const struct child_start how = {.program = "program",
					.arguments = arguments,
					.environment = written_out,
					.working_dir = world->folder};

	assert_int_equal(child_check_program(&how, &world->err), 0);
}

WORLD_TEST(a_missing_folder_is_told_by_name)
{
	const char *arguments[] = {"true", NULL};
	pid_t pid;

	assert_int_equal(start(world, arguments, "/no/such/folder", &pid), ERR_NOT_FOUND);
	assert_string_equal(world->err.text, "working directory '/no/such/folder' does not exist");
}

WORLD_TEST(a_file_that_is_no_program_is_told)
{
	char path[128];
	const char *arguments[] = {path, NULL};
	pid_t pid;

	write_program(world, "#!/bin/sh\n", 0644, path);
	assert_int_equal(start(world, arguments, NULL, &pid), ERR_REFUSED);
	assert_non_null(strstr(world->err.text, "chmod +x"));
	chmod(path, 0755);
	write_program(world, "echo hello\n", 0755, path);
	assert_int_equal(start(world, arguments, NULL, &pid), ERR_REFUSED);
	assert_non_null(strstr(world->err.text, "#!/bin/sh"));
	write_program(world, "#!/no/such/python\n", 0755, path);
	assert_int_equal(start(world, arguments, NULL, &pid), ERR_NOT_FOUND);
	assert_non_null(strstr(world->err.text, "interpreter"));
}

WORLD_TEST(a_check_finds_what_a_start_would)
{
	char path[128], *arguments[] = {"program", NULL};
	struct child_start how = {
		.program = "program", .arguments = arguments, .environment = default_environment};

	assert_int_equal(child_check_program(&how, &world->err), ERR_NOT_FOUND);
	write_program(world, "#!/bin/sh\n", 0644, path);
	how.program = "./program";
	how.working_dir = world->folder;
	assert_int_equal(child_check_program(&how, &world->err), ERR_REFUSED);
	chmod(path, 0755);
	assert_int_equal(child_check_program(&how, &world->err), 0);
	how.program = "sh";
	assert_int_equal(child_check_program(&how, &world->err), 0);
	assert_int_equal(child_check_folder(&how, &world->err), 0);
	how.working_dir = "/no/such/folder";
	assert_int_equal(child_check_folder(&how, &world->err), ERR_NOT_FOUND);
}

WORLD_TEST(a_child_dies_with_its_parent)
{
	struct child_exit ended;
	pid_t parent = fork(), pid;

	if (parent == 0) {
		if (start_shell(world, "echo $$; exec sleep 1000", &pid) < 0)
			_exit(1);
		pause();
	}
	char *line CLEANUP(mem_free_text) = read_line(world);

	pid = atoi(line);
	kill(parent, SIGKILL);
	waitpid(parent, NULL, 0);
	ended = wait_for_end(pid);
	assert_int_equal(ended.signal, SIGKILL);
}

static void count_exit(const struct child_exit *ended, void *data)
{
	(void) ended;
	*(int *) data += 1;
}

WORLD_TEST(killing_all_reaches_sessions_of_their_own)
{
	bool has_children = true;
	struct child_exit ended;
	int exits = 0;
	pid_t pid;

	assert_int_equal(start_shell(world,
				     "trap '' TERM; setsid sh -c 'trap \"\" TERM HUP; setsid sleep "
				     "1000 & sleep 1000 & echo ready; wait' & sleep 1000",
				     &pid),
			 0);
	free(read_line(world));
	child_kill_all(count_exit, &exits);
	assert_true(exits >= 4);
	assert_false(child_reap(&ended, &has_children, NULL, NULL));
	assert_false(has_children);
}

WORLD_TEST(a_program_may_keep_our_input_and_group_and_write_errors_elsewhere)
{
	const char *const arguments[] = {
		"sh", "-c",
		"read line; echo \"$line $(cut -d' ' -f5 /proc/$$/stat)\"; echo wrong >&2", NULL};
	int input[2], errors[2], kept = dup(STDIN_FILENO);
	char *wanted CLEANUP(mem_free_text) = NULL;
	char printed[64] = "", told[64] = "";
	pid_t pid;

	assert_int_equal(pipe2(input, O_CLOEXEC) | pipe2(errors, O_CLOEXEC), 0);
	assert_int_equal(write(input[1], "hello\n", 6), 6);
	assert_int_equal(dup2(input[0], STDIN_FILENO), STDIN_FILENO);
	const struct child_start how = {
		.program = arguments[0],
		.arguments = (char *const *) arguments,
		.environment = default_environment,
		.output_fd = world->output[1],
		.error_fd = errors[1],
		.uses_terminal = true,
	};

	assert_int_equal(child_start(&how, &pid, &world->err), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	dup2(kept, STDIN_FILENO);
	assert_true(read(world->output[0], printed, sizeof(printed) - 1) > 0);
	assert_true(read(errors[0], told, sizeof(told) - 1) > 0);
	wanted = mem_format("hello %d\n", (int) getpgrp());
	assert_string_equal(printed, wanted);
	assert_string_equal(told, "wrong\n");
	for (size_t i = 0; i < 2; i++) {
		close(input[i]);
		close(errors[i]);
	}
	close(kept);
}

static int wait_for_stop(pid_t pid, int what)
{
	siginfo_t seen;
	pid_t stopped;
	int signal_number = -1;

	waitid(P_PID, (id_t) pid, &seen, what | WNOWAIT);
	assert_true(child_next_stop(&stopped, &signal_number));
	assert_int_equal(stopped, pid);
	assert_false(child_next_stop(&stopped, &signal_number));
	return signal_number;
}

WORLD_TEST(a_child_that_is_stopped_is_news_and_so_is_that_it_goes_on)
{
	pid_t pid;

	assert_int_equal(start_shell(world, "exec sleep 1000", &pid), 0);
	child_signal_group(pid, SIGSTOP);
	assert_int_equal(wait_for_stop(pid, WSTOPPED), SIGSTOP);
	child_signal_group(pid, SIGCONT);
	assert_int_equal(wait_for_stop(pid, WCONTINUED), 0);
	child_signal_group(pid, SIGKILL);
	assert_int_equal(wait_for_end(pid).signal, SIGKILL);
}

int main(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	return unit_run();
}
