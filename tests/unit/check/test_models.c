#include "unit.h"

#include "base/mem.h"
#include "check/jobs.h"
#include "io/file.h"
#include "own_folder.h"

#include <stdio.h>

static int set_up(void **state)
{
	static char folder[OWN_FOLDER_SIZE];

	own_folder_make(folder);
	*state = folder;
	return 0;
}

static int tear_down(void **state)
{
	own_folder_remove(*state);
	return 0;
}

static char *install(const char *folder)
{
	struct err err = {0};
	char *path = NULL;

	if (check_models_install(folder, &path, &err))
		fail_msg("%s", err.text);
	return path;
}

static void assert_is_whole(const char *path)
{
	char *bytes CLEANUP(mem_free_text) = NULL;
	size_t len = 0;

	assert_int_equal(file_read_whole(path, check_models_size, &bytes, &len, NULL), 0);
	assert_int_equal(len, check_models_size);
	assert_memory_equal(bytes, check_models_bytes, len);
}

static void spoil(const char *path, int flags, const char *text)
{
	int fd CLEANUP(file_close) = open(path, O_WRONLY | flags, 0600);

	assert_true(fd >= 0);
	assert_int_equal(file_write_all(fd, text, strlen(text), NULL), 0);
}

TEST_WITH(set_up, tear_down, the_zip_is_written_whole_under_a_name_with_its_hash)
{
	char *path CLEANUP(mem_free_text) = install(*state);
	char *expected CLEANUP(mem_free_text) =
		mem_format("%s/programs/check-%s.pyz", (char *) *state, check_models_hash);

	assert_string_equal(path, expected);
	assert_is_whole(path);
}

TEST_WITH(set_up, tear_down, a_file_that_is_right_stays)
{
	struct stat before;
	struct stat after;
	char *path CLEANUP(mem_free_text) = install(*state);

	assert_int_equal(stat(path, &before), 0);
	char *again CLEANUP(mem_free_text) = install(*state);

	assert_int_equal(stat(again, &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
}

TEST_WITH(set_up, tear_down, a_damaged_file_is_written_again)
{
	char *path CLEANUP(mem_free_text) = install(*state);

	spoil(path, 0, "other bytes");
	char *changed CLEANUP(mem_free_text) = install(*state);

	assert_is_whole(changed);
	spoil(path, O_TRUNC, "short");
	char *cut CLEANUP(mem_free_text) = install(*state);

	assert_is_whole(cut);
	spoil(path, O_APPEND, "more");
	char *longer CLEANUP(mem_free_text) = install(*state);

	assert_is_whole(longer);
}

TEST_WITH(set_up, tear_down, a_folder_that_cannot_be_written_gets_a_sentence)
{
	char *in_the_way CLEANUP(mem_free_text) = mem_format("%s/programs", (char *) *state);
	struct err err = {0};
	char *path = NULL;

	spoil(in_the_way, O_CREAT, "a file");
	assert_int_equal(check_models_install(*state, &path, &err), ERR_IO);
	assert_non_null(strstr(err.text, "/programs"));
	assert_null(path);
}
