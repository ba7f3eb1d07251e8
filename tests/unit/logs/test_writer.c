#include "unit.h"

#include "io/file.h"
#include "log_scene.h"
#include "logs/folder.h"
#include "logs/index.h"

#include <malloc.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct log_name first_attempt = {.role = "worker", .attempt = 1};

static struct log_writer *writer_of(const struct log_scene *scene)
{
	return scene->writers[0];
}

static void open_writer(struct log_scene *scene, int64_t rotate_at)
{
	log_scene_open(scene, 0, 1, rotate_at);
}

static int add(struct log_scene *scene, const char *text, msec now)
{
	return log_writer_add(writer_of(scene), text, strlen(text), now, NULL);
}

static void assert_file(const struct log_scene *scene, const char *name, const char *expected)
{
	char *path CLEANUP(mem_free_text) = mem_format("%s/%s", scene->folder, name);
	char *bytes CLEANUP(mem_free_text) = NULL;
	size_t len;

	assert_int_equal(file_read_whole(path, 1 << 20, &bytes, &len, NULL), 0);
	assert_string_equal(bytes, expected);
	assert_int_equal(len, strlen(expected));
}

static void assert_index(const struct log_scene *scene, const char *name,
			 const struct log_record *expected, size_t count)
{
	char *path CLEANUP(mem_free_text) = mem_format("%s/%s", scene->folder, name);
	int fd CLEANUP(file_close) = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(log_index_count(fd), count);
	for (size_t i = 0; i < count; i++) {
		struct log_record record;

		assert_true(log_index_read(fd, (int64_t) i, &record));
		assert_int_equal(record.offset, expected[i].offset);
		assert_int_equal(record.time, expected[i].time);
	}
}

#define SCENE_TEST(name) TEST_IN(log_scene_begin, log_scene_end, struct log_scene *scene, name)

SCENE_TEST(every_byte_is_kept_as_it_came)
{
	static const char noise[] = "a\0b\r\n\x1b[31m\xff";

	open_writer(scene, NO_ROTATION);
	assert_int_equal(log_writer_add(writer_of(scene), noise, sizeof(noise) - 1, NOON, NULL), 0);
	char *bytes CLEANUP(mem_free_text) = NULL;
	size_t len;

	assert_int_equal(
		file_read_whole(log_writer_path(writer_of(scene)), 100, &bytes, &len, NULL), 0);
	assert_int_equal(len, sizeof(noise) - 1);
	assert_memory_equal(bytes, noise, len);
}

SCENE_TEST(the_index_knows_when_bytes_came_and_that_the_log_is_complete)
{
	open_writer(scene, NO_ROTATION);
	add(scene, "one\n", NOON);
	add(scene, "two\n", NOON + 1); /* too near to be worth a record */
	add(scene, "three\n", NOON + 1000);
	add(scene, "four\n", NOON - 5000); /* the clock was set back */
	log_scene_close(scene);
	assert_file(scene, "worker-0.1.log", "one\ntwo\nthree\nfour\n");
	const struct log_record expected[] = {
		{0, NOON},
		{8, NOON + 1000},
		{19, LOG_TIME_CLOSED},
	};

	assert_index(scene, "worker-0.1.index", expected, ARRAY_LEN(expected));
}

SCENE_TEST(a_full_file_is_renamed_and_offsets_go_on)
{
	open_writer(scene, 10);
	add(scene, "first\n", NOON);
	add(scene, "second\n", NOON + 10);
	add(scene, "third\n", NOON + 20);
	log_scene_close(scene);
	assert_file(scene, "worker-0.1.log.1", "second\n");
	assert_file(scene, "worker-0.1.log", "third\n");
	const struct log_record old[] = {{6, NOON + 10}};
	const struct log_record current[] = {{13, NOON + 20}, {19, LOG_TIME_CLOSED}};

	assert_index(scene, "worker-0.1.index.1", old, ARRAY_LEN(old));
	assert_index(scene, "worker-0.1.index", current, ARRAY_LEN(current));
}

SCENE_TEST(a_log_that_is_there_is_continued)
{
	open_writer(scene, NO_ROTATION);
	add(scene, "before\n", NOON);
	log_scene_close(scene);
	open_writer(scene, NO_ROTATION);
	add(scene, "after\n", NOON + 50);
	assert_file(scene, "worker-0.1.log", "before\nafter\n");
}

/* Lets files of this process grow to `size` bytes only: what a full disk looks like from here. */
static void limit_file_size(rlim_t size)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = size;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

SCENE_TEST(a_full_disk_costs_bytes_and_says_how_many)
{
	struct err err = {0};

	open_writer(scene, NO_ROTATION);
	add(scene, "kept, and a line long enough for the index\n", NOON);
	limit_file_size(46);
	int rc = log_writer_add(writer_of(scene), "cut here\n", 9, NOON + 100, &err);
	int rc_while_full = add(scene, "lost\n", NOON + 200);
	int rc_after_second_try = add(scene, "lost too\n", NOON + 1200);

	limit_file_size(RLIM_INFINITY);
	assert_int_equal(rc, ERR_SPACE);
	assert_non_null(strstr(err.text, "cannot save the output of"));
	assert_int_equal(rc_while_full, 0);
	assert_int_equal(rc_after_second_try, 0);
	assert_int_equal(add(scene, "lost as well, it is too early\n", NOON + 1300), 0);
	assert_int_equal(add(scene, "kept again\n", NOON + 2300), 0);
	assert_file(scene, "worker-0.1.log",
		    "kept, and a line long enough for the index\ncut\n"
		    "muster: 50 bytes of output were not saved (file too large)\nkept again\n");
}

SCENE_TEST(a_loss_at_the_end_is_told_too)
{
	open_writer(scene, NO_ROTATION);
	add(scene, "kept, and a line long enough for the index\n", NOON);
	limit_file_size(46);
	add(scene, "cut here\n", NOON + 100);
	limit_file_size(RLIM_INFINITY);
	log_scene_close(scene);
	assert_file(scene, "worker-0.1.log",
		    "kept, and a line long enough for the index\ncut\n"
		    "muster: 6 bytes of output were not saved (file too large)\n");
}

SCENE_TEST(folders_are_made_and_a_file_in_the_way_is_named)
{
	char *file CLEANUP(mem_free_text) = mem_format("%s/worker-0.1.log", scene->folder);
	struct log_writer *writer = NULL;
	struct err err = {0};
	int fd CLEANUP(file_close) = open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	assert_int_equal(log_writer_open(file, &first_attempt, NO_ROTATION, &writer, &err), ERR_IO);
	assert_non_null(strstr(err.text, file));
}

/* It may have been put there by whoever can write the folder. */
SCENE_TEST(a_link_in_the_place_of_a_log_is_not_followed)
{
	char *target CLEANUP(mem_free_text) = mem_format("%s/precious", scene->folder);
	char *link CLEANUP(mem_free_text) = mem_format("%s/worker-0.1.log", scene->folder);
	struct log_writer *writer = NULL;

	assert_int_equal(symlink(target, link), 0);
	assert_int_equal(log_writer_open(scene->folder, &first_attempt, NO_ROTATION, &writer, NULL),
			 ERR_IO);
	assert_int_equal(access(target, F_OK), -1);
}

TEST(names_are_read_back_as_they_were_written)
{
	const struct log_name name = {.role = "parameter-server", .index = 12, .attempt = 345};
	char *path CLEANUP(mem_free_text) = log_name_path("", &name, LOG_FILE_TEXT);
	struct log_name read;

	assert_string_equal(path, "/parameter-server-12.345.log");
	assert_true(log_name_read(path + 1, &read));
	assert_int_equal(log_name_compare(&name, &read), 0);
	assert_true(log_name_read("worker-0.0.log.1", &read));
	assert_true(log_name_read("worker-0.0.stderr.log", &read) && read.is_stderr);
	char *beside CLEANUP(mem_free_text) = log_name_stderr_path("/a.b/worker-0.0.log");

	assert_string_equal(beside, "/a.b/worker-0.0.stderr.log");
	assert_false(log_name_read("worker-0.0.stderr.index", &read));
}

TEST(other_files_are_no_logs)
{
	static const char *const others[] = {
		"",
		"muster.log",
		"socket",
		"worker-0.log",
		"worker.0.log",
		"-0.0.log",
		"worker-0.0.index",
		"worker-0.0.log.2",
		"worker-0.0.logs",
		"worker-x.0.log",
		"worker-0.1234567890.log",
		"worker-0..log",
	};
	struct log_name name;

	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		assert_false(log_name_read(others[i], &name));
}

/* Of all that passes through, 50 MB, no more than a part is ever held. */
TEST(what_is_shown_while_nothing_is_kept_takes_little_memory)
{
	struct unsaved_output *unsaved_output = unsaved_output_new();
	const struct log_name name = {.role = "worker"};
	struct unsaved_attempt_output *output = unsaved_output_create(unsaved_output, &name);
	char piece[1000], taken[1000];

	unsaved_output_set_shown(unsaved_output, true);
	unsaved_output_add(output, "behind", 6); /* so it is never empty */
	struct mallinfo2 before = mallinfo2();

	for (int i = 0; i < 50000; i++) {
		memset(piece, i % 251, sizeof(piece));
		unsaved_output_add(output, piece, sizeof(piece));
		assert_int_equal(unsaved_output_take(output, taken, sizeof(taken)), sizeof(taken));
		assert_int_equal((unsigned char) taken[sizeof(taken) - 1], i % 251);
	}
	struct mallinfo2 after = mallinfo2();

	assert_true(after.uordblks + after.hblkhd < before.uordblks + before.hblkhd + (1 << 20));
	unsaved_output_free(unsaved_output);
}
