#include "unit.h"

#include "base/mem.h"
#include "io/file.h"
#include "io/folder.h"
#include "local/replica_output.h"

#include <stdio.h>

struct scene {
	char folder[64];
	struct loop *loop;
	struct output_reader *reader;
	struct replica_output *output;
	int write_fd;
	char *path;
	int n_told; /* times that something was added */
};

static void count_output(void *data)
{
	struct scene *world = data;

	world->n_told++;
}

static void fail_with(const char *sentence, void *data)
{
	(void) data;
	fail_msg("%s", sentence);
}

static int begin(void **state)
{
	struct scene *world = *state = calloc(1, sizeof(*world));
	const struct output_listener listener = {count_output, fail_with, world};
	struct log_writer *log;
	int fds[2];

	strcpy(world->folder, "/tmp/muster-test-output-XXXXXX");
	if (!mkdtemp(world->folder) || loop_new(&world->loop, NULL) < 0 ||
	    pipe2(fds, O_CLOEXEC) < 0 ||
	    log_writer_open(world->folder, &(struct log_name){.role = "worker"}, INT64_MAX, &log,
			    NULL) < 0)
		return -1;
	world->path = mem_copy_text(log_writer_path(log));
	world->write_fd = fds[1];
	world->reader = output_reader_new(world->loop, &listener);
	world->output = replica_output_new(world->reader, fds[0], log);
	return 0;
}

static int end(void **state)
{
	struct scene *world = *state;
	int parent CLEANUP(file_close) = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);

	replica_output_free(world->output);
	output_reader_free(world->reader);
	loop_free(world->loop);
	file_close(&world->write_fd);
	int rc = folder_remove(parent, world->folder + strlen("/tmp/"), NULL);

	free(world->path);
	free(world);
	return rc;
}

static void print(struct scene *world, const char *text)
{
	assert_int_equal(write(world->write_fd, text, strlen(text)), strlen(text));
}

static void assert_kept(struct scene *world, const char *expected)
{
	char *bytes CLEANUP(mem_free_text) = NULL;
	size_t len;

	assert_int_equal(file_read_whole(world->path, 1 << 20, &bytes, &len, NULL), 0);
	assert_string_equal(bytes, expected);
}

#define WORLD_TEST(name) TEST_IN(begin, end, struct scene *world, name)

WORLD_TEST(the_first_words_are_kept_at_once)
{
	print(world, "hello\n");
	loop_run_ready(world->loop);
	assert_kept(world, "hello\n");
	assert_int_equal(world->n_told, 1);
}

/* Words that follow each other closely rest in the pipe for some milliseconds; they are not lost,
 * and they come without anything else happening. */
WORLD_TEST(words_that_follow_closely_come_too)
{
	for (int i = 0; i < 50; i++) {
		print(world, "word ");
		loop_run_ready(world->loop);
	}
	print(world, "end\n");
	for (off_t size = 0; size < 50 * 5 + 4;) {
		int fd CLEANUP(file_close) = open(world->path, O_RDONLY | O_CLOEXEC);

		loop_run_ready(world->loop);
		size = lseek(fd, 0, SEEK_END);
	}
	assert_true(world->n_told < 52);
}

WORLD_TEST(what_is_left_in_the_pipe_is_taken_though_somebody_holds_it_open)
{
	print(world, "one\n");
	loop_run_ready(world->loop);
	print(world, "two\n");
	loop_run_ready(world->loop);
	print(world, "three");
	replica_output_finish(TAKE(world->output));
	assert_kept(world, "one\ntwo\nthree");
}

/* One read of a terminal gives a part of it only. */
WORLD_TEST(what_is_left_in_a_terminal_is_taken_too)
{
	static char many[32 * 1024 + 1];
	int ours, its;
	struct log_writer *log;

	memset(many, 'x', sizeof(many) - 1);
	replica_output_finish(TAKE(world->output));
	file_close(&world->write_fd);
	assert_int_equal(log_writer_open(world->folder, &(struct log_name){.role = "worker"},
					 INT64_MAX, &log, NULL),
			 0);
	assert_int_equal(terminal_new_pair((struct terminal_size){24, 80}, &ours, &its, NULL), 0);
	world->output = replica_output_new(world->reader, ours, log);
	world->write_fd = its;
	/* As much as the kernel keeps. */
	fcntl(its, F_SETFL, fcntl(its, F_GETFL) | O_NONBLOCK);
	ssize_t len = write(its, many, sizeof(many) - 1);

	assert_true(len > 4096);
	many[len] = '\0';
	file_close(&world->write_fd);
	replica_output_finish(TAKE(world->output));
	assert_kept(world, many);
}

WORLD_TEST(a_pipe_that_ends_wakes_nobody_any_more)
{
	print(world, "last\n");
	file_close(&world->write_fd);
	for (int i = 0; i < 5; i++)
		loop_run_ready(world->loop);
	assert_int_equal(world->n_told, 1);
	replica_output_finish(TAKE(world->output));
	assert_kept(world, "last\n");
}

/* What a pipe of this user holds that asks for `size`; 0: it may not. */
static int size_of_pipe(int size)
{
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	int got = fcntl(fds[0], F_SETPIPE_SZ, size);
	close(fds[0]);
	close(fds[1]);
	return got > 0 ? got : 0;
}

/* A program that prints without a pause fills 64 KiB in a tenth of the time that its pipe rests. */
WORLD_TEST(few_pipes_are_large_and_many_are_as_ever)
{
	int fds[2];

	if (size_of_pipe(1 << 20) < 1 << 20)
		skip();
	assert_true(fcntl(world->write_fd, F_GETPIPE_SZ) > 1 << 16);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	output_reader_expect(world->reader, 100000);
	struct replica_output *output = replica_output_new(world->reader, fds[0], NULL);

	assert_true(fcntl(fds[1], F_GETPIPE_SZ) <= 1 << 16);
	replica_output_free(output);
	close(fds[1]);
}
