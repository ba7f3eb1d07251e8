#include "unit.h"

#include "archive/unpacker.h"

#include "archive/library.h"
#include "base/mem.h"
#include "base/text.h"
#include "io/file.h"
#include "io/folder.h"
#include "own_folder.h"

#include <signal.h>

#define MUCH ((size_t) 8 * 1024 * 1024)

/* What goes from `out` through a stream into `in`. */
struct scene {
	char folder[OWN_FOLDER_SIZE];
	char *out, *in;
	struct loop *loop;
	struct unpacker *unpacker;
	struct archive_pack *pack;
	size_t limit; /* of the stream, which is cut there */
	bool has_ended;
	struct archive_left_out left_out;
	struct err err;
};

static void set_up(struct scene *scene)
{
	own_folder_make(scene->folder);
	scene->out = mem_format("%s/out", scene->folder);
	scene->in = mem_format("%s/in", scene->folder);
	scene->limit = SIZE_MAX;
	assert_int_equal(mkdir(scene->out, 0755), 0);
	assert_int_equal(mkdir(scene->in, 0755), 0);
	assert_int_equal(loop_new(&scene->loop, NULL), 0);
}

static void tear_down(struct scene *scene)
{
	archive_pack_free(scene->pack);
	loop_free(scene->loop);
	own_folder_remove(scene->folder);
	free(scene->out);
	free(scene->in);
}

FIXTURE(struct scene, set_up, tear_down)

static void send_while_there_is_room(void *data)
{
	struct scene *scene = data;
	const char *bytes;
	size_t len = 1;

	while (scene->limit && len && unpacker_has_room(scene->unpacker)) {
		assert_int_equal(archive_pack_next(scene->pack, &bytes, &len, NULL), 0);
		if (len > scene->limit)
			len = scene->limit;
		scene->limit -= len;
		unpacker_take(scene->unpacker, bytes, len);
	}
	if (!len || !scene->limit)
		unpacker_end_input(scene->unpacker);
}

static void take_end(const struct archive_left_out *left_out, const struct err *err, void *data)
{
	struct scene *scene = data;

	scene->has_ended = true;
	scene->left_out = *left_out;
	if (err)
		scene->err = *err;
	loop_stop(scene->loop);
}

static void begin(struct scene *scene, struct archive_limits limits)
{
	const struct unpacker_settings settings = {
		.loop = scene->loop,
		.folder = scene->in,
		.limits = limits,
		.on_room = send_while_there_is_room,
		.on_end = take_end,
		.data = scene,
	};
	const struct archive_packing packing = {
		.path = scene->out,
		.name = ".",
		.format = ARCHIVE_PAX,
		.limits = {UINT64_MAX, UINT64_MAX},
	};

	assert_int_equal(unpacker_new(&settings, &scene->unpacker, NULL), 0);
	assert_int_equal(archive_pack_new(&packing, &scene->pack, NULL), 0);
}

static void run(struct scene *scene)
{
	send_while_there_is_room(scene);
	loop_run(scene->loop);
	assert_true(scene->has_ended);
}

static char *write_much(const struct scene *scene)
{
	char *bytes = mem_new(MUCH);
	char *path CLEANUP(mem_free_text) = mem_format("%s/much", scene->out);

	for (size_t i = 0; i < MUCH; i++)
		bytes[i] = (char) (i * 31 / 7);
	assert_int_equal(file_replace(path, bytes, MUCH, NULL), 0);
	return bytes;
}

#define SCENE_TEST(name) TEST_IN(fixture_begin, fixture_end, struct scene *scene, name)

SCENE_TEST(much_more_than_there_is_room_for_comes_through)
{
	char *sent CLEANUP(mem_free_text) = write_much(scene);
	char *got CLEANUP(mem_free_text) = NULL;
	char *path CLEANUP(mem_free_text) = mem_format("%s/much", scene->in);
	size_t len;

	begin(scene, (struct archive_limits){UINT64_MAX, UINT64_MAX});
	run(scene);
	assert_int_equal(scene->err.code, 0);
	assert_int_equal(file_read_whole(path, MUCH, &got, &len, NULL), 0);
	assert_int_equal(len, MUCH);
	assert_memory_equal(got, sent, MUCH);
}

SCENE_TEST(what_cannot_be_unpacked_is_told)
{
	char *sent CLEANUP(mem_free_text) = write_much(scene);

	begin(scene, (struct archive_limits){UINT64_MAX, 1000});
	run(scene);
	assert_int_equal(scene->err.code, ERR_LIMIT);
	assert_non_null(strstr(scene->err.text, "too large"));
}

SCENE_TEST(what_is_left_out_is_told)
{
	char *link CLEANUP(mem_free_text) = mem_format("%s/link", scene->out);

	assert_int_equal(symlink("/etc/passwd", link), 0);
	begin(scene, (struct archive_limits){UINT64_MAX, UINT64_MAX});
	run(scene);
	assert_int_equal(scene->err.code, 0);
	assert_string_equal(scene->left_out.text,
			    "'link' (a link to '/etc/passwd', which is outside the directory)");
}

SCENE_TEST(half_a_stream_is_an_error)
{
	char *sent CLEANUP(mem_free_text) = write_much(scene);

	scene->limit = MUCH / 2;
	begin(scene, (struct archive_limits){UINT64_MAX, UINT64_MAX});
	run(scene);
	assert_int_equal(scene->err.code, ERR_INVALID);
}

SCENE_TEST(it_can_be_ended_where_it_stands)
{
	char *sent CLEANUP(mem_free_text) = write_much(scene);

	begin(scene, (struct archive_limits){UINT64_MAX, UINT64_MAX});
	send_while_there_is_room(scene);
	unpacker_cancel(scene->unpacker);
	unpacker_cancel(NULL);
	loop_run_ready(scene->loop);
	assert_false(scene->has_ended);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	return unit_run();
}
