#include "unit.h"

#include "base/mem.h"
#include "io/file.h"
#include "io/sink.h"

#include <stdio.h>
#include <sys/socket.h>

#define MUCH ((size_t) 1 << 20)

struct fixture {
	struct loop *loop;
	int fds[2]; /* a reader's end, a writer's end */
	struct sink *sink;
	int n_changes;
};

static void count_change(void *data)
{
	((struct fixture *) data)->n_changes++;
}

static int set_up(void **state)
{
	struct fixture *fixture = mem_new(sizeof(*fixture));

	assert_int_equal(loop_new(&fixture->loop, NULL), 0);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	sink_free(fixture->sink);
	file_close(&fixture->fds[0]);
	file_close(&fixture->fds[1]);
	loop_free(fixture->loop);
	mem_free_any(&fixture);
	return 0;
}

static void open_pipe(struct fixture *fixture)
{
	assert_int_equal(pipe2(fixture->fds, O_CLOEXEC), 0);
	fixture->sink = sink_new(fixture->loop, fixture->fds[1], count_change, fixture);
}

static void write_much(struct fixture *fixture)
{
	struct text *text = sink_text(fixture->sink);

	for (size_t i = 0; i < MUCH; i++)
		text_add_char(text, (char) ('a' + i % 26));
	sink_flush(fixture->sink);
}

/* Reads all there will be, turning the loop meanwhile; every byte must be the one expected. */
static void read_much(struct fixture *fixture)
{
	size_t got = 0;

	while (got < MUCH) {
		char bytes[65536];
		ssize_t len = read(fixture->fds[0], bytes, sizeof(bytes));

		assert_true(len > 0);
		for (ssize_t i = 0; i < len; i++)
			assert_int_equal(bytes[i], 'a' + (got + (size_t) i) % 26);
		got += (size_t) len;
		loop_run_ready(fixture->loop);
	}
}

static void assert_a_slow_reader_is_waited_for(struct fixture *fixture)
{
	write_much(fixture);
	assert_true(sink_is_waiting(fixture->sink));
	assert_int_equal(fixture->n_changes, 0);
	read_much(fixture);
	loop_run_ready(fixture->loop);
	assert_false(sink_is_waiting(fixture->sink));
	assert_int_equal(sink_text(fixture->sink)->len, 0);
	assert_int_equal(fixture->n_changes, 1);
}

#define FIXTURE_TEST(name) TEST_IN(set_up, tear_down, struct fixture *fixture, name)

FIXTURE_TEST(a_slow_reader_is_waited_for_without_blocking)
{
	open_pipe(fixture);
	assert_a_slow_reader_is_waited_for(fixture);
}

FIXTURE_TEST(the_flags_that_others_share_stay_as_they_were)
{
	open_pipe(fixture);
	assert_int_equal(fcntl(fixture->fds[1], F_GETFL) & O_NONBLOCK, 0);
}

FIXTURE_TEST(a_reader_that_leaves_is_noticed_at_once)
{
	open_pipe(fixture);
	file_close(&fixture->fds[0]);
	loop_run_ready(fixture->loop);
	assert_int_equal(fixture->n_changes, 1);
	assert_int_equal(sink_failure(fixture->sink), EPIPE);
	text_add(sink_text(fixture->sink), "for nobody");
	sink_flush(fixture->sink);
	assert_false(sink_is_waiting(fixture->sink));
}

FIXTURE_TEST(a_reader_that_leaves_while_much_waits_ends_the_waiting)
{
	open_pipe(fixture);
	write_much(fixture);
	file_close(&fixture->fds[0]);
	loop_run_ready(fixture->loop);
	assert_true(sink_is_gone(fixture->sink));
	assert_false(sink_is_waiting(fixture->sink));
}

FIXTURE_TEST(a_pipe_that_never_had_a_reader_is_found_out_by_the_first_write)
{
	assert_int_equal(pipe2(fixture->fds, O_CLOEXEC), 0);
	file_close(&fixture->fds[0]);
	fixture->sink = sink_new(fixture->loop, fixture->fds[1], count_change, fixture);
	text_add(sink_text(fixture->sink), "for nobody");
	sink_flush(fixture->sink);
	assert_true(sink_is_gone(fixture->sink));
	assert_false(sink_is_waiting(fixture->sink));
}

/* As after su or sudo: the pipe is somebody else's. */
static void open_pipe_of_another_user(struct fixture *fixture)
{
	const uid_t root = 0, nobody = 65534;

	assert_int_equal(pipe2(fixture->fds, O_CLOEXEC), 0);
	assert_int_equal(fchmod(fixture->fds[1], 0), 0);
	bool is_root = geteuid() == root;

	assert_int_equal(is_root ? seteuid(nobody) : 0, 0);
	fixture->sink = sink_new(fixture->loop, fixture->fds[1], count_change, fixture);
	assert_int_equal(is_root ? seteuid(root) : 0, 0);
}

FIXTURE_TEST(what_cannot_be_opened_again_is_written_to_at_once_too)
{
	char bytes[10];

	open_pipe_of_another_user(fixture);
	text_add(sink_text(fixture->sink), "text");
	sink_flush(fixture->sink);
	assert_false(sink_is_waiting(fixture->sink));
	assert_int_equal(sink_text(fixture->sink)->len, 0);
	assert_int_equal(read(fixture->fds[0], bytes, sizeof(bytes)), 4);
}

FIXTURE_TEST(what_cannot_be_opened_again_is_waited_for_without_blocking)
{
	open_pipe_of_another_user(fixture);
	assert_a_slow_reader_is_waited_for(fixture);
}

FIXTURE_TEST(a_socket_is_written_to_without_blocking)
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fixture->fds), 0);
	fixture->sink = sink_new(fixture->loop, fixture->fds[1], count_change, fixture);
	assert_a_slow_reader_is_waited_for(fixture);
}

FIXTURE_TEST(a_file_is_written_behind_what_its_descriptor_wrote_before)
{
	char path[] = "/tmp/muster-test-XXXXXX";
	char *bytes CLEANUP(mem_free_text) = NULL;
	size_t len;

	fixture->fds[0] = -1;
	fixture->fds[1] = mkstemp(path);
	assert_int_equal(write(fixture->fds[1], "before ", 7), 7);
	fixture->sink = sink_new(fixture->loop, fixture->fds[1], count_change, fixture);
	text_add(sink_text(fixture->sink), "after");
	sink_flush(fixture->sink);
	assert_int_equal(file_read_whole(path, 100, &bytes, &len, NULL), 0);
	assert_string_equal(bytes, "before after");
	unlink(path);
}

FIXTURE_TEST(a_full_disk_is_told_by_its_number)
{
	fixture->fds[0] = -1;
	fixture->fds[1] = open("/dev/full", O_WRONLY | O_CLOEXEC);
	fixture->sink = sink_new(fixture->loop, fixture->fds[1], count_change, fixture);
	text_add(sink_text(fixture->sink), "text");
	sink_flush(fixture->sink);
	assert_int_equal(sink_failure(fixture->sink), ENOSPC);
}

FIXTURE_TEST(descriptors_of_one_file_are_the_same)
{
	open_pipe(fixture);
	int copy CLEANUP(file_close) = fcntl(fixture->fds[1], F_DUPFD_CLOEXEC, 0);
	int other CLEANUP(file_close) = open("/dev/null", O_WRONLY | O_CLOEXEC);

	assert_true(sink_is_same(fixture->fds[1], copy));
	assert_false(sink_is_same(fixture->fds[1], other));
}
