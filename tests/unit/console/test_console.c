#include "unit.h"

#include "base/mem.h"
#include "console/console.h"
#include "io/file.h"
#include "io/folder.h"
#include "logs/writer.h"
#include "reconcile/output_idle.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <stdio.h>
#include <termios.h>
#include <unistd.h>

#define NO_ROTATION ((int64_t) 1 << 40)
#define LIMIT_MSEC 60000 /* a test that hangs ends; nothing is judged by it */

static struct role worker_role = {.kind = ROLE_WORKER, .name = "worker", .replicas = 12};
static const struct job job = {.name = "train", .roles = &worker_role, .n_roles = 1};

/* A console whose two outputs are files or terminals of ours. */
struct fixture {
	char folder[64];
	struct loop *loop;
	struct console *console;
	struct log_writer *writers[2];
	int lines_fd;
	int chatter_fd;
	int master_fd; /* of the terminal; -1 without */
	struct text shown; /* on the terminal */
	bool is_drained;
	msec bars_every;
};

static int set_up(void **state)
{
	struct fixture *fixture = mem_new(sizeof(*fixture));

	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	snprintf(fixture->folder, sizeof(fixture->folder), "/tmp/muster-test-XXXXXX");
	assert_non_null(mkdtemp(fixture->folder));
	assert_int_equal(loop_new(&fixture->loop, NULL), 0);
	fixture->lines_fd = fixture->chatter_fd = fixture->master_fd = -1;
	for (int i = 0; i < 2; i++) {
		const struct log_name name = {.role = "worker", .index = i};

		assert_int_equal(log_writer_open(fixture->folder, &name, NO_ROTATION,
						 &fixture->writers[i], NULL),
				 0);
	}
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	console_free(fixture->console);
	for (int i = 0; i < 2; i++)
		log_writer_close(fixture->writers[i]);
	file_close(&fixture->lines_fd);
	file_close(&fixture->chatter_fd);
	file_close(&fixture->master_fd);
	loop_free(fixture->loop);
	assert_int_equal(folder_remove(AT_FDCWD, fixture->folder, NULL), 0);
	text_done(&fixture->shown);
	mem_free_any(&fixture);
	return 0;
}

static void begin(struct fixture *fixture)
{
	const struct console_settings settings = {
		.loop = fixture->loop,
		.log_folder = fixture->folder,
		.lines_fd = fixture->lines_fd,
		.chatter_fd = fixture->chatter_fd,
		.style = {.color = "auto"},
		.bars_every = fixture->bars_every,
	};

	assert_int_equal(console_new(&settings, &job, &fixture->console, NULL), 0);
}

static int open_output(const struct fixture *fixture, const char *name)
{
	char *path CLEANUP(mem_free_text) = mem_format("%s/%s", fixture->folder, name);

	return open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
}

static void begin_on_files(struct fixture *fixture)
{
	fixture->lines_fd = open_output(fixture, "lines");
	fixture->chatter_fd = open_output(fixture, "chatter");
	begin(fixture);
}

static void begin_on_terminal(struct fixture *fixture)
{
	struct winsize size = {.ws_row = 24, .ws_col = 80};
	struct termios raw = {0};

	cfmakeraw(&raw);
	assert_int_equal(openpty(&fixture->master_fd, &fixture->lines_fd, NULL, &raw, &size), 0);
	fixture->chatter_fd = dup(fixture->lines_fd);
	begin(fixture);
}

static void print(struct fixture *fixture, int index, const char *text)
{
	assert_int_equal(
		log_writer_add(fixture->writers[index], text, strlen(text), loop_now(), NULL), 0);
	console_on_output(fixture->console);
}

static void on_drained(void *data)
{
	struct fixture *fixture = data;

	fixture->is_drained = true;
	loop_stop(fixture->loop);
}

static struct condition succeeded = {.type = CONDITION_SUCCEEDED, .is_true = true};

static void finish(struct fixture *fixture)
{
	const struct status status = {
		.conditions = &succeeded,
		.n_conditions = 1,
		.start_time = 1000,
		.completion_time = 9000,
	};

	console_finish(fixture->console, &status, on_drained, fixture);
	loop_run(fixture->loop);
	assert_true(fixture->is_drained);
}

static void assert_file(const struct fixture *fixture, const char *name, const char *expected)
{
	char *path CLEANUP(mem_free_text) = mem_format("%s/%s", fixture->folder, name);
	char *bytes CLEANUP(mem_free_text) = NULL;
	size_t len;

	assert_int_equal(file_read_whole(path, 1 << 20, &bytes, &len, NULL), 0);
	assert_string_equal(bytes, expected);
}

static void take_shown(struct fixture *fixture, int wait)
{
	struct pollfd ready = {.fd = fixture->master_fd, .events = POLLIN};
	char bytes[4096];

	while (poll(&ready, 1, wait) > 0 && (ready.revents & POLLIN)) {
		ssize_t len = read(fixture->master_fd, bytes, sizeof(bytes));

		if (len <= 0)
			return;
		text_add_bytes(&fixture->shown, bytes, (size_t) len);
		wait = 0;
	}
}

/* Turns the loop until the terminal has shown this; what was shown before is forgotten. */
static void wait_for(struct fixture *fixture, const char *expected)
{
	instant until = loop_instant_after(LIMIT_MSEC);

	while (!strstr(text_of(&fixture->shown), expected)) {
		if (loop_has_come(until))
			fail_msg("shown: %s", text_of(&fixture->shown));
		loop_run_ready(fixture->loop);
		take_shown(fixture, 1);
	}
	text_clear(&fixture->shown);
}

#define FIXTURE_TEST(name) TEST_IN(set_up, tear_down, struct fixture *fixture, name)

FIXTURE_TEST(lines_have_names_and_the_summary_comes_last)
{
	begin_on_files(fixture);
	print(fixture, 0, "hello\nno end");
	print(fixture, 1, "\x1b[31mraw\x1b[0m \xff\r\n10%\r100%\r\n");
	finish(fixture);
	assert_file(fixture, "lines",
		    "worker-0  | hello\nworker-0  | no end\n"
		    "worker-1  | \x1b[31mraw\x1b[0m \xff\nworker-1  | 100%\n");
	assert_file(fixture, "chatter", "muster: job train succeeded: 12 workers in 8s\n");
}

/* The bar moves again and again. */
static void wait_for_line(struct fixture *fixture, const char *bar, const char *expected)
{
	char *path CLEANUP(mem_free_text) = mem_format("%s/lines", fixture->folder);
	instant until = loop_instant_after(LIMIT_MSEC);

	for (bool is_there = false; !is_there;) {
		char *bytes CLEANUP(mem_free_text) = file_read_text(path);

		is_there = bytes && strstr(bytes, expected);
		if (loop_has_come(until))
			fail_msg("lines: %s", bytes);
		print(fixture, 0, bar);
		loop_run_ready(fixture->loop);
	}
}

/* Who reads a file sees that the job works, and not each of a thousand steps. */
FIXTURE_TEST(a_bar_in_a_file_is_a_line_from_time_to_time)
{
	fixture->bars_every = 1;
	begin_on_files(fixture);
	print(fixture, 0, "9%");
	print(fixture, 1, "Password: ");
	wait_for_line(fixture, "\r10%", "worker-0  | 10%\n");
	wait_for_line(fixture, "\r20%", "worker-0  | 20%\n");
	print(fixture, 0, "\r100%\n");
	finish(fixture);
	char *path CLEANUP(mem_free_text) = mem_format("%s/lines", fixture->folder);
	char *lines CLEANUP(mem_free_text) = file_read_text(path);

	assert_string_equal(strstr(lines, "worker-1"),
			    "worker-1  | Password: \nworker-0  | 100%\n");
}

FIXTURE_TEST(chatter_to_the_same_file_keeps_its_place)
{
	fixture->lines_fd = open_output(fixture, "lines");
	fixture->chatter_fd = dup(fixture->lines_fd);
	begin(fixture);
	console_print(fixture->console, "before");
	print(fixture, 0, "hello\n");
	finish(fixture);
	assert_file(fixture, "lines",
		    "muster: before\nworker-0  | hello\n"
		    "muster: job train succeeded: 12 workers in 8s\n");
}

FIXTURE_TEST(only_notes_that_help_are_said)
{
	const struct note created = {NOTE_NORMAL, "TFJobCreated", "created"};
	const struct note restarting = {NOTE_WARNING, "TFJobRestarting", "restarting"};
	const struct note replica = {NOTE_WARNING, "ReplicaRestarting", "worker-1 exited"};

	begin_on_files(fixture);
	console_on_note(fixture->console, &created);
	console_on_note(fixture->console, &replica);
	console_on_note(fixture->console, &restarting);
	assert_file(fixture, "chatter", "muster: worker-1 exited\n");
}

/* What two replicas printed half a minute ago, of which one has failed since. */
FIXTURE_TEST(a_silent_replica_with_an_exception_is_told)
{
	msec start = loop_now() - 2 * OUTPUT_IDLE_FIRST;
	struct replica_status replicas[2];
	const struct status status = {.replicas = replicas, .n_replicas = 2};

	for (int i = 0; i < 2; i++) {
		static const char *const said[] = {
			"step 1\n", "Traceback (most recent call last):\n  File \"x.py\", line 1\n"
				    "ValueError: no\n"};

		replicas[i] = (struct replica_status){.role = "worker",
						      .index = i,
						      .state = REPLICA_RUNNING,
						      .start_time = start};
		assert_int_equal(
			log_writer_add(fixture->writers[i], said[i], strlen(said[i]), start, NULL),
			0);
	}
	begin_on_files(fixture);
	console_on_output(fixture->console);
	console_on_status(fixture->console, &status);
	loop_run_ready(fixture->loop);
	finish(fixture);
	assert_file(
		fixture, "chatter",
		"muster: worker-0 and worker-1 have printed nothing for 30s; to see the stacks: "
		"muster stacks train\n"
		"muster: worker-1 still runs after an error: ValueError: no\n"
		"muster: job train succeeded: 12 workers in 8s\n");
}

FIXTURE_TEST(a_reader_that_is_gone_ends_the_showing_and_nothing_else)
{
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	close(fds[0]);
	fixture->lines_fd = fds[1];
	fixture->chatter_fd = open_output(fixture, "chatter");
	begin(fixture);
	print(fixture, 0, "for nobody\n");
	finish(fixture);
	assert_file(fixture, "chatter",
		    "muster: the output has no reader any more, and the job continues; to follow "
		    "it: muster logs -f train; to stop it: muster stop train\n"
		    "muster: job train succeeded: 12 workers in 8s\n");
}

FIXTURE_TEST(bars_stay_at_the_bottom_of_a_terminal)
{
	begin_on_terminal(fixture);
	print(fixture, 0, "epoch 1\n 10%\r 20%\r");
	wait_for(fixture, "worker-0  |\x1b[0m epoch 1\n\x1b[36mworker-0  |\x1b[0m  20%");
	print(fixture, 0, " 30%\r");
	wait_for(fixture, "\r\x1b[J\x1b[36mworker-0  |\x1b[0m  30%");
	print(fixture, 1, "\x1b[2Jother\n");
	wait_for(fixture, "\r\x1b[J\x1b[33mworker-1  |\x1b[0m other\n"
			  "\x1b[36mworker-0  |\x1b[0m  30%");
	finish(fixture);
	wait_for(fixture, "worker-0  |\x1b[0m  30%\nmuster: job train succeeded");
}

FIXTURE_TEST(the_start_is_followed_in_a_row)
{
	struct replica_status replicas[] = {
		{.role = "worker", .index = 0, .state = REPLICA_RUNNING},
		{.role = "worker", .index = 1, .state = REPLICA_STARTING},
	};
	const struct status status = {.replicas = replicas, .n_replicas = 2};

	begin_on_terminal(fixture);
	console_on_status(fixture->console, &status);
	wait_for(fixture, "muster: 1 of 2 running, waiting for worker-1");
	replicas[1].state = REPLICA_RUNNING;
	console_on_status(fixture->console, &status);
	wait_for(fixture, "\r\x1b[J");
}

FIXTURE_TEST(that_nothing_is_printed_yet_stands_in_the_row_until_something_is)
{
	struct replica_status replicas[] = {
		{.role = "worker", .index = 0, .state = REPLICA_RUNNING},
		{.role = "worker", .index = 1, .state = REPLICA_RUNNING},
	};
	const struct status status = {.replicas = replicas, .n_replicas = 2};

	replicas[0].start_time = replicas[1].start_time = loop_now() - 9 * MSEC_PER_SECOND;
	begin_on_terminal(fixture);
	console_on_status(fixture->console, &status);
	wait_for(fixture, "muster: 2 of 2 running, nothing printed yet (");
	wait_for(fixture, "\r\x1b[Jmuster: 2 of 2 running, nothing printed yet (");
	print(fixture, 1, "first\n");
	wait_for(fixture, "\r\x1b[J\x1b[33mworker-1  |\x1b[0m first\n");
}

FIXTURE_TEST(elsewhere_than_on_a_terminal_nothing_is_said_of_it)
{
	struct replica_status replica = {.role = "worker", .state = REPLICA_RUNNING};
	const struct status status = {.replicas = &replica, .n_replicas = 1};

	replica.start_time = loop_now() - 9 * MSEC_PER_SECOND;
	begin_on_files(fixture);
	console_on_status(fixture->console, &status);
	loop_run_ready(fixture->loop);
	finish(fixture);
	assert_file(fixture, "lines", "");
	assert_file(fixture, "chatter", "muster: job train succeeded: 12 workers in 8s\n");
}

FIXTURE_TEST(a_line_without_an_end_shows_after_a_moment)
{
	begin_on_terminal(fixture);
	print(fixture, 0, "continue? [y/n] ");
	wait_for(fixture, "continue? [y/n] ");
}
