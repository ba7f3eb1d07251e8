#include "unit.h"

#include "base/mem.h"
#include "pods/append_sync_frames.h"

static int note_piece(const char *path, uint64_t offset, uint64_t len, void *data, struct err *err)
{
	(void) err;
	text_addf(data, "[%s %d+%d]", path, (int) offset, (int) len);
	return 0;
}

static int note_bytes(const char *bytes, size_t len, void *data, struct err *err)
{
	if (len && *bytes == '!')
		return err_set(err, ERR_SPACE, "the disk is full");
	text_add_bytes(data, bytes, len);
	return 0;
}

static void note_round(bool is_there, void *data)
{
	text_add(data, is_there ? "(round)" : "(missing)");
}

static int take(const char *bytes, size_t len, size_t piece, struct text *seen, struct err *err)
{
	const struct append_sync_reader reader = {note_piece, note_bytes, note_round, seen};
	struct append_sync_frames frames = {0};
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < len; i += piece)
		rc = append_sync_frames_read(&frames, bytes + i, len - i < piece ? len - i : piece,
					     &reader, err);
	append_sync_frames_done(&frames);
	return rc;
}

TEST(pieces_come_whole_however_they_are_cut)
{
	const char *bytes =
		"0 3 ./a b/tfevents\nx\ny12 0 ./empty\n.\nmissing\n7 1 ./c\nz.\n7 9 ./cut";

	for (size_t piece = 1; piece < 80; piece++) {
		struct text seen CLEANUP(text_done) = {0};
		struct err err = {0};

		assert_int_equal(take(bytes, strlen(bytes), piece, &seen, &err), 0);
		assert_string_equal(text_of(&seen), "[a b/tfevents 0+3]x\ny[empty 12+0]"
						    "(round)(missing)[c 7+1]z(round)");
	}
}

static void assert_ends(const char *bytes, int rc)
{
	struct text seen CLEANUP(text_done) = {0};
	struct err err = {0};

	assert_int_equal(take(bytes, strlen(bytes), 5, &seen, &err), rc);
	assert_int_equal(err.code, rc);
	assert_string_equal(text_of(&seen), "");
}

TEST(a_path_that_leads_outside_is_refused)
{
	assert_ends("0 1 ./../a\nx", ERR_REFUSED);
	assert_ends("0 1 ./a/../../b\nx", ERR_REFUSED);
	assert_ends("0 1 ./\nx", ERR_REFUSED);
	assert_ends("0 1 ./.\nx", ERR_REFUSED);
	assert_ends("0 1 /etc/passwd\nx", ERR_INVALID);
	assert_ends("0 1 a\nx", ERR_INVALID);
}

TEST(what_is_no_piece_is_an_error)
{
	static const char *const wrong[] = {
		"\n",         "0\n",       "0 1\n",       "-1 1 ./a\n",
		"0 -1 ./a\n", "x 1 ./a\n", "0 1  ./a\n",  "0x1 1 ./a\n",
		"..\n",       "Missing\n", "0 1.5 ./a\n", "0 99999999999999999999 ./a\n"};

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		assert_ends(wrong[i], ERR_INVALID);
}

TEST(a_line_without_an_end_or_with_a_nul_is_an_error)
{
	struct text seen CLEANUP(text_done) = {0}, endless CLEANUP(text_done) = {0};

	while (endless.len < (size_t) 100 * 1024)
		text_add(&endless, "0 1 ./a");
	assert_int_equal(take(endless.bytes, endless.len, 1000, &seen, NULL), ERR_INVALID);
	assert_int_equal(take("0 1 ./a\0b\n", 10, 10, &seen, NULL), ERR_INVALID);
	assert_string_equal(text_of(&seen), "");
}

TEST(what_the_reader_says_ends_it)
{
	struct text seen CLEANUP(text_done) = {0};
	struct err err = {0};

	assert_int_equal(take("0 1 ./a\n!.\n", 11, 11, &seen, &err), ERR_SPACE);
	assert_string_equal(text_of(&seen), "[a 0+1]");
}
