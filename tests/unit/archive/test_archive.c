#include "unit.h"

#include "archive/library.h"
#include "base/mem.h"
#include "base/text.h"
#include "io/file.h"
#include "own_folder.h"

#include <stdio.h>

#define UNLIMITED ((struct archive_limits){UINT64_MAX, UINT64_MAX})
#define BLOCK 512

/* A folder with a folder `in` to unpack into and a file `outside` that nobody may touch; streams
 * are made of headers as tar writes them (POSIX.1-1988, "ustar"). */
struct scene {
	char folder[OWN_FOLDER_SIZE];
	char *in, *outside;
	struct text stream;
	size_t taken, piece;
	struct archive_left_out left_out;
	struct err err;
};

static void write_file(const char *path, const char *bytes, size_t len, mode_t mode)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, len, file), len);
	fclose(file);
	assert_int_equal(chmod(path, mode), 0);
}

static int set_up(void **state)
{
	struct scene *scene = mem_new(sizeof(*scene));

	own_folder_make(scene->folder);
	scene->in = mem_format("%s/in", scene->folder);
	scene->outside = mem_format("%s/outside", scene->folder);
	scene->piece = 700;
	assert_int_equal(mkdir(scene->in, 0755), 0);
	write_file(scene->outside, "untouched", 9, 0600);
	*state = scene;
	return 0;
}

static int tear_down(void **state)
{
	struct scene *scene = *state;

	own_folder_remove(scene->folder);
	text_done(&scene->stream);
	free(scene->in);
	free(scene->outside);
	free(scene);
	return 0;
}

static char *path_in(const struct scene *scene, const char *name)
{
	return mem_format("%s/%s", scene->in, name);
}

/* A header, and the bytes it speaks of. */
static void add_entry(struct scene *scene, char type, const char *name, const char *link,
		      const char *bytes, unsigned mode)
{
	char header[BLOCK] = {0}, padding[BLOCK] = {0};
	size_t len = bytes ? strlen(bytes) : 0;
	unsigned sum = 0;

	snprintf(header, 100, "%s", name);
	snprintf(header + 100, 8, "%07o", mode);
	snprintf(header + 108, 8, "%07o", 0U);
	snprintf(header + 116, 8, "%07o", 0U);
	snprintf(header + 124, 12, "%011o", (unsigned) len);
	snprintf(header + 136, 12, "%011o", 1000000000U);
	memset(header + 148, ' ', 8);
	header[156] = type;
	snprintf(header + 157, 100, "%s", link ? link : "");
	memcpy(header + 257, "ustar\00000", 8);
	for (size_t i = 0; i < BLOCK; i++)
		sum += (unsigned char) header[i];
	snprintf(header + 148, 8, "%06o", sum);
	text_add_bytes(&scene->stream, header, BLOCK);
	text_add_bytes(&scene->stream, bytes ? bytes : "", len);
	text_add_bytes(&scene->stream, padding, (BLOCK - len % BLOCK) % BLOCK);
}

static int give_piece(const char **ret_bytes, size_t *ret_len, void *data, struct err *err)
{
	struct scene *scene = data;
	size_t left = scene->stream.len - scene->taken;

	(void) err;
	*ret_bytes = text_of(&scene->stream) + scene->taken;
	*ret_len = left < scene->piece ? left : scene->piece;
	scene->taken += *ret_len;
	return 0;
}

static int unpack_within(struct scene *scene, struct archive_limits limits)
{
	const char end[2 * BLOCK] = {0};

	text_add_bytes(&scene->stream, end, sizeof(end));
	return archive_unpack(give_piece, scene, scene->in, &limits, &scene->left_out, &scene->err);
}

static int unpack(struct scene *scene)
{
	return unpack_within(scene, UNLIMITED);
}

static int pack_within(struct scene *scene, const char *path, struct archive_limits limits)
{
	struct archive_pack *pack;
	const char *bytes;
	size_t len = 1;
	const struct archive_packing packing = {path, "packed", ARCHIVE_PAX, limits,
						NULL, NULL,     NULL};
	int rc = archive_pack_new(&packing, &pack, &scene->err);

	if (rc < 0)
		return rc;
	while (!rc && len) {
		rc = archive_pack_next(pack, &bytes, &len, &scene->err);
		if (!rc)
			text_add_bytes(&scene->stream, bytes, len);
	}
	scene->left_out = *archive_pack_left_out(pack);
	archive_pack_free(pack);
	return rc;
}

static void assert_outside_is_untouched(const struct scene *scene)
{
	char *bytes CLEANUP(mem_free_text) = NULL;
	struct stat status;
	size_t len;

	assert_int_equal(file_read_whole(scene->outside, 100, &bytes, &len, NULL), 0);
	assert_string_equal(bytes, "untouched");
	assert_int_equal(lstat(scene->outside, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	assert_int_equal(status.st_nlink, 1);
}

static void assert_holds(const struct scene *scene, const char *name, const char *expected)
{
	char *path CLEANUP(mem_free_text) = path_in(scene, name);
	char *bytes CLEANUP(mem_free_text) = NULL;
	size_t len;

	assert_int_equal(file_read_whole(path, 1000000, &bytes, &len, NULL), 0);
	assert_int_equal(len, strlen(expected));
	assert_string_equal(bytes, expected);
}

static struct stat status_of(const char *folder, const char *name)
{
	char *path CLEANUP(mem_free_text) = mem_format("%s/%s", folder, name);
	struct stat status;

	assert_int_equal(lstat(path, &status), 0);
	return status;
}

/* A folder of all that can be packed, and a pipe, which cannot. */
static char *make_tree(const struct scene *scene)
{
	char *tree = mem_format("%s/tree", scene->folder);
	char *deep CLEANUP(mem_free_text) = mem_format("%s/deep", tree);
	char *link CLEANUP(mem_free_text) = mem_format("%s/latest", deep);
	char *script CLEANUP(mem_free_text) = mem_format("%s/übung.sh", tree);
	char *large CLEANUP(mem_free_text) = mem_format("%s/%0150d", deep, 7);
	char *pipe CLEANUP(mem_free_text) = mem_format("%s/pipe", tree);
	char *bytes CLEANUP(mem_free_text) = mem_new(200001);
	const struct timespec times[] = {{1, 0}, {1234567890, 123456789}};

	memset(bytes, 'x', 200000);
	assert_int_equal(mkdir(tree, 0755), 0);
	assert_int_equal(mkdir(deep, 0755), 0);
	assert_int_equal(mkfifo(pipe, 0600), 0);
	write_file(script, "#!/bin/sh\n", 10, 0750);
	write_file(large, bytes, 200000, 0444);
	assert_int_equal(symlink("../übung.sh", link), 0);
	assert_int_equal(utimensat(AT_FDCWD, script, times, 0), 0);
	assert_int_equal(utimensat(AT_FDCWD, link, times, AT_SYMLINK_NOFOLLOW), 0);
	assert_int_equal(utimensat(AT_FDCWD, deep, times, 0), 0);
	assert_int_equal(chmod(deep, 0711), 0);
	return tree;
}

static void assert_same(const char *tree, const char *unpacked, const char *name)
{
	struct stat a = status_of(tree, name), b = status_of(unpacked, name);

	assert_int_equal(a.st_mode, b.st_mode);
	assert_int_equal(a.st_mtim.tv_sec, b.st_mtim.tv_sec);
	assert_int_equal(a.st_mtim.tv_nsec, b.st_mtim.tv_nsec);
	if (S_ISREG(a.st_mode))
		assert_int_equal(a.st_size, b.st_size);
}

#define SCENE_TEST(name) TEST_IN(set_up, tear_down, struct scene *scene, name)

SCENE_TEST(a_folder_comes_out_as_it_went_in)
{
	char *tree CLEANUP(mem_free_text) = make_tree(scene);
	char *unpacked CLEANUP(mem_free_text) = path_in(scene, "packed");
	char *large CLEANUP(mem_free_text) = mem_format("deep/%0150d", 7);
	char *with_slash CLEANUP(mem_free_text) = mem_format("%s/", tree);

	assert_int_equal(pack_within(scene, with_slash, UNLIMITED), 0);
	assert_string_equal(scene->left_out.text, "'pipe' (not a file, directory or link)");
	assert_int_equal(unpack(scene), 0);
	assert_same(tree, unpacked, ".");
	assert_same(tree, unpacked, "deep");
	assert_same(tree, unpacked, "deep/latest");
	assert_same(tree, unpacked, "übung.sh");
	assert_same(tree, unpacked, large);
	assert_holds(scene, "packed/übung.sh", "#!/bin/sh\n");
	assert_holds(scene, "packed/deep/latest", "#!/bin/sh\n");
	char *pipe CLEANUP(mem_free_text) = path_in(scene, "packed/pipe");

	assert_int_equal(access(pipe, F_OK), -1);
}

SCENE_TEST(a_file_alone_is_packed_under_its_name)
{
	assert_int_equal(pack_within(scene, scene->outside, UNLIMITED), 0);
	assert_int_equal(unpack(scene), 0);
	assert_holds(scene, "packed", "untouched");
}

SCENE_TEST(the_folder_itself_gets_mode_and_time_when_all_is_in_it)
{
	struct stat status;

	add_entry(scene, '5', "./", NULL, NULL, 0750);
	add_entry(scene, '0', "./a", NULL, "12345", 0644);
	assert_int_equal(unpack(scene), 0);
	assert_int_equal(stat(scene->in, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0750);
	assert_int_equal(status.st_mtime, 1000000000);
}

/* What somebody in a Pod lets everybody write to, others here may not. */
SCENE_TEST(the_umask_counts_for_files_and_folders)
{
	mode_t before = umask(027);
	struct stat status;

	add_entry(scene, '5', "./", NULL, NULL, 0777);
	add_entry(scene, '5', "./folder", NULL, NULL, 0777);
	add_entry(scene, '0', "./folder/file", NULL, "12345", 06777);
	add_entry(scene, '0', "./closed", NULL, "12345", 0600);
	assert_int_equal(unpack(scene), 0);
	assert_int_equal(umask(before), 027);
	assert_int_equal(stat(scene->in, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0750);
	assert_int_equal(status_of(scene->in, "folder").st_mode & 07777, 0750);
	assert_int_equal(status_of(scene->in, "folder/file").st_mode & 07777, 0750);
	assert_int_equal(status_of(scene->in, "closed").st_mode & 07777, 0600);
}

SCENE_TEST(a_stream_can_say_that_it_is_whole)
{
	const struct archive_packing packing = {
		.path = scene->outside,
		.name = "packed",
		.format = ARCHIVE_GNU,
		.limits = UNLIMITED,
		.last_name = "whole",
	};
	struct archive_pack *pack;
	const char *bytes;
	size_t len = 1;

	assert_int_equal(archive_pack_new(&packing, &pack, NULL), 0);
	while (len) {
		assert_int_equal(archive_pack_next(pack, &bytes, &len, NULL), 0);
		text_add_bytes(&scene->stream, bytes, len);
	}
	archive_pack_free(pack);
	assert_int_equal(unpack(scene), 0);
	assert_holds(scene, "packed", "untouched");
	assert_holds(scene, "whole", "");
}

static bool wants_no_more_than_deep(const char *path, void *data)
{
	(void) data;
	return text_equals(path, "deep") || text_equals(path, "deep/wanted");
}

static void pack_some(struct scene *scene)
{
	const struct archive_packing packing = {
		.path = scene->folder,
		.name = ".",
		.format = ARCHIVE_GNU_GZIP,
		.limits = UNLIMITED,
		.wants = wants_no_more_than_deep,
	};
	struct archive_pack *pack;
	const char *bytes;
	size_t len = 1;

	text_clear(&scene->stream);
	assert_int_equal(archive_pack_new(&packing, &pack, NULL), 0);
	while (len) {
		assert_int_equal(archive_pack_next(pack, &bytes, &len, NULL), 0);
		text_add_bytes(&scene->stream, bytes, len);
	}
	archive_pack_free(pack);
}

SCENE_TEST(only_what_is_wanted_is_packed_and_the_same_bytes_each_time)
{
	char *deep CLEANUP(mem_free_text) = mem_format("%s/deep", scene->folder);
	char *wanted CLEANUP(mem_free_text) = mem_format("%s/deep/wanted", scene->folder);
	char *other CLEANUP(mem_free_text) = mem_format("%s/deep/other", scene->folder);
	char *call CLEANUP(mem_free_text) =
		mem_format("tar -tz > %s/list && printf './deep/wanted\n./deep/\n' | cmp - %s/list",
			   scene->folder, scene->folder);

	assert_int_equal(mkdir(deep, 0755), 0);
	write_file(wanted, "w", 1, 0644);
	write_file(other, "o", 1, 0644);
	pack_some(scene);
	size_t len = scene->stream.len;
	char *first CLEANUP(mem_free_text) = mem_copy_bytes(scene->stream.bytes, len);

	pack_some(scene);
	assert_int_equal(scene->stream.len, len);
	assert_memory_equal(scene->stream.bytes, first, len);
	FILE *tar = popen(call, "w");

	assert_non_null(tar);
	assert_int_equal(fwrite(first, 1, len, tar), len);
	assert_int_equal(pclose(tar), 0);
}

SCENE_TEST(what_is_not_there_is_not_packed)
{
	assert_int_equal(pack_within(scene, "/nowhere/at/all", UNLIMITED), ERR_NOT_FOUND);
	assert_string_equal(scene->err.text, "'/nowhere/at/all' not found");
}

SCENE_TEST(packing_ends_at_its_limits)
{
	char *tree CLEANUP(mem_free_text) = make_tree(scene);

	assert_int_equal(pack_within(scene, tree, (struct archive_limits){4, UINT64_MAX}),
			 ERR_LIMIT);
	assert_int_equal(pack_within(scene, tree, (struct archive_limits){5, 200009}), ERR_LIMIT);
	assert_int_equal(pack_within(scene, tree, (struct archive_limits){5, 200010}), 0);
}

SCENE_TEST(a_file_that_becomes_shorter_is_no_whole_file)
{
	const struct archive_packing packing = {
		.path = scene->outside,
		.name = "packed",
		.format = ARCHIVE_PAX,
		.limits = UNLIMITED,
	};
	struct archive_pack *pack;
	const char *bytes;
	size_t len;

	assert_int_equal(archive_pack_new(&packing, &pack, NULL), 0);
	assert_int_equal(archive_pack_next(pack, &bytes, &len, NULL), 0);
	assert_int_equal(truncate(scene->outside, 3), 0);
	int rc;

	while ((rc = archive_pack_next(pack, &bytes, &len, NULL)) == 0 && len)
		continue;
	assert_int_equal(rc, ERR_CONFLICT);
	archive_pack_free(pack);
}

TEST_WITH(NULL, tear_down, hostile_names_and_links_are_refused)
{
	static const struct {
		char type;
		const char *name, *link;
	} entries[] = {
		{'0', "/tmp/muster-test-absolute", NULL},
		{'0', "../outside", NULL},
		{'0', "a/../../outside", NULL},
		{'5', "../made", NULL},
		{'1', "link", "../outside"},
		{'1', "link", "/etc/passwd"},
		{'2', ".", "elsewhere"},
		{'0', ".", NULL},
		{'1', ".", "a"},
	};

	for (size_t i = 0; i < ARRAY_LEN(entries); i++) {
		assert_int_equal(set_up(state), 0);
		struct scene *scene = *state;

		add_entry(scene, entries[i].type, entries[i].name, entries[i].link, NULL, 0644);
		assert_int_equal(unpack(scene), ERR_REFUSED);
		assert_outside_is_untouched(scene);
		assert_int_equal(rmdir(scene->in), 0); /* nothing was made in it */
		tear_down(state);
	}
	assert_int_equal(set_up(state), 0);
}

TEST_WITH(NULL, tear_down, what_could_reach_outside_is_left_out_and_told_and_the_rest_comes)
{
	static const struct {
		char type;
		const char *name, *link, *said;
	} entries[] = {
		{'2', "./name", "/etc/passwd",
		 "'name' (a link to '/etc/passwd', which is outside the directory)"},
		{'2', "name", "../outside",
		 "'name' (a link to '../outside', which is outside the directory)"},
		{'2', "name", "x/../../outside",
		 "'name' (a link to 'x/../../outside', which is outside the directory)"},
		{'2', "name", "", "'name' (a link to '', which is outside the directory)"},
		{'1', "name", "none", "'name' (another name of something that is not a file)"},
		{'3', "name", NULL, "'name' (not a file, directory or link)"},
		{'4', "name", NULL, "'name' (not a file, directory or link)"},
		{'6', "name", NULL, "'name' (not a file, directory or link)"},
	};

	for (size_t i = 0; i < ARRAY_LEN(entries); i++) {
		assert_int_equal(set_up(state), 0);
		struct scene *scene = *state;

		add_entry(scene, '0', "before", NULL, "b", 0644);
		add_entry(scene, entries[i].type, entries[i].name, entries[i].link, NULL, 0644);
		add_entry(scene, '0', "name/below", NULL, "not through the link", 0644);
		assert_int_equal(unpack(scene), 0);
		assert_holds(scene, "before", "b");
		assert_holds(scene, "name/below", "not through the link");
		assert_int_equal(scene->left_out.count, 1);
		assert_string_equal(scene->left_out.text, entries[i].said);
		assert_outside_is_untouched(scene);
		tear_down(state);
	}
	assert_int_equal(set_up(state), 0);
}

SCENE_TEST(of_many_that_are_left_out_the_first_are_told)
{
	char name[90];

	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "%080d", i);
		add_entry(scene, '6', name, NULL, NULL, 0644);
	}
	assert_int_equal(unpack(scene), 0);
	assert_int_equal(scene->left_out.count, 1000);
	assert_non_null(strstr(scene->left_out.text, "0006' (not a file"));
	assert_true(text_ends_with(scene->left_out.text, " and 992 more"));
}

SCENE_TEST(nothing_is_written_through_a_link)
{
	char *link CLEANUP(mem_free_text) = path_in(scene, "link");

	assert_int_equal(symlink("..", link), 0); /* somebody's own, from before */
	add_entry(scene, '0', "link/outside", NULL, "hostile", 0644);
	assert_true(unpack(scene) < 0);
	assert_outside_is_untouched(scene);
}

SCENE_TEST(nothing_is_linked_through_a_link)
{
	char *link CLEANUP(mem_free_text) = path_in(scene, "link");

	assert_int_equal(symlink("..", link), 0);
	add_entry(scene, '1', "name", "link/outside", NULL, 0644);
	assert_true(unpack(scene) < 0);
	assert_outside_is_untouched(scene);
}

SCENE_TEST(a_link_of_the_stream_is_not_moved_to_another_depth)
{
	add_entry(scene, '2', "a/link", "../outside", NULL, 0777);
	add_entry(scene, '1', "link", "a/link", NULL, 0777);
	assert_int_equal(unpack(scene), 0);
	assert_string_equal(scene->left_out.text,
			    "'link' (another name of something that is not a file)");
	char *link CLEANUP(mem_free_text) = path_in(scene, "link");

	assert_int_equal(access(link, F_OK), -1);
}

SCENE_TEST(a_file_takes_the_place_of_a_link_and_of_a_shared_file)
{
	char *link_path CLEANUP(mem_free_text) = path_in(scene, "link");
	char *shared CLEANUP(mem_free_text) = path_in(scene, "shared");

	assert_int_equal(symlink("../outside", link_path), 0);
	assert_int_equal(link(scene->outside, shared), 0);
	add_entry(scene, '0', "link", NULL, "new", 0644);
	add_entry(scene, '0', "shared", NULL, "new", 0644);
	assert_int_equal(unpack(scene), 0);
	assert_holds(scene, "link", "new");
	assert_holds(scene, "shared", "new");
	assert_outside_is_untouched(scene);
}

SCENE_TEST(another_name_of_a_file_is_the_same_file)
{
	add_entry(scene, '0', "a", NULL, "bytes", 0644);
	add_entry(scene, '1', "b", "a", NULL, 0644);
	assert_int_equal(unpack(scene), 0);
	assert_holds(scene, "b", "bytes");
	assert_int_equal(status_of(scene->in, "b").st_nlink, 2);
}

SCENE_TEST(nobody_gets_the_rights_of_another_user)
{
	add_entry(scene, '0', "program", NULL, "bytes", 06755);
	assert_int_equal(unpack(scene), 0);
	assert_int_equal(status_of(scene->in, "program").st_mode & 07777, 0755);
}

SCENE_TEST(unpacking_ends_at_its_limits)
{
	add_entry(scene, '0', "a", NULL, "12345", 0644);
	add_entry(scene, '0', "b", NULL, "12345", 0644);
	assert_int_equal(unpack_within(scene, (struct archive_limits){1, 10}), ERR_LIMIT);
	scene->taken = 0;
	assert_int_equal(unpack_within(scene, (struct archive_limits){2, 9}), ERR_LIMIT);
	scene->taken = 0;
	assert_int_equal(unpack_within(scene, (struct archive_limits){2, 10}), 0);
}

SCENE_TEST(a_stream_without_an_end_is_not_read_for_ever)
{
	char *zeros CLEANUP(mem_free_text) = mem_new(2000000);

	add_entry(scene, '0', "a", NULL, "12345", 0644);
	text_add_bytes(&scene->stream, zeros, 2000000);
	assert_int_equal(unpack_within(scene, (struct archive_limits){1, 5}), ERR_LIMIT);
	assert_string_equal(scene->err.text, "the tar stream is too large");
}

SCENE_TEST(the_rest_behind_the_end_is_read)
{
	char zeros[8192] = {0};

	add_entry(scene, '0', "a", NULL, "12345", 0644);
	text_add_bytes(&scene->stream, zeros, sizeof(zeros));
	assert_int_equal(unpack(scene), 0);
	assert_int_equal(scene->taken, scene->stream.len);
}

SCENE_TEST(what_is_no_tar_stream_or_half_of_one_is_refused)
{
	struct archive_limits limits = UNLIMITED;

	assert_int_equal(archive_unpack(give_piece, scene, scene->in, &limits, &scene->left_out,
					&scene->err),
			 ERR_INVALID);
	text_add(&scene->stream, "sh: tar: not found\n");
	assert_int_equal(archive_unpack(give_piece, scene, scene->in, &limits, &scene->left_out,
					&scene->err),
			 ERR_INVALID);
	text_clear(&scene->stream);
	scene->taken = 0;
	add_entry(scene, '0', "a", NULL, "12345", 0644);
	scene->stream.len = BLOCK + 3;
	assert_int_equal(archive_unpack(give_piece, scene, scene->in, &limits, &scene->left_out,
					&scene->err),
			 ERR_INVALID);
}

static int give_error(const char **ret_bytes, size_t *ret_len, void *data, struct err *err)
{
	struct scene *scene = data;

	if (scene->taken == scene->stream.len)
		return err_set(err, ERR_UNREACHABLE, "the connection was lost");
	return give_piece(ret_bytes, ret_len, data, err);
}

SCENE_TEST(the_error_of_the_source_is_told)
{
	struct archive_limits limits = UNLIMITED;

	add_entry(scene, '0', "a", NULL, "12345", 0644);
	assert_int_equal(archive_unpack(give_error, scene, scene->in, &limits, &scene->left_out,
					&scene->err),
			 ERR_UNREACHABLE);
	assert_string_equal(scene->err.text, "the connection was lost");
	assert_holds(scene, "a", "12345");
}

SCENE_TEST(a_folder_that_is_not_there_is_named)
{
	struct archive_limits limits = UNLIMITED;

	assert_int_equal(archive_unpack(give_piece, scene, "/nowhere/at/all", &limits,
					&scene->left_out, &scene->err),
			 ERR_IO);
	assert_non_null(strstr(scene->err.text, "cannot unpack into '/nowhere/at/all'"));
}
