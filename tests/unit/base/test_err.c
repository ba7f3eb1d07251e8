#include "unit.h"

#include "base/err.h"

#include <errno.h>

TEST(a_sentence_goes_with_its_code)
{
	struct err err = {0};

	assert_int_equal(err_set(&err, ERR_NOT_FOUND, "job '%s' not found", "x"), ERR_NOT_FOUND);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	assert_string_equal(err.text, "job 'x' not found");
	assert_int_equal(err_prefix(&err, "job %d", 7), ERR_NOT_FOUND);
	assert_string_equal(err.text, "job 7: job 'x' not found");
	assert_int_equal(err_set(NULL, ERR_LIMIT, "nobody reads this"), ERR_LIMIT);
}

TEST(errno_is_told_and_a_full_disk_has_its_own_code)
{
	struct err err = {0};

	assert_int_equal(err_set_errno(&err, ENOENT, "cannot open %s", "f"), ERR_IO);
	assert_string_equal(err.text, "cannot open f: No such file or directory");
	assert_int_equal(err_set_errno(&err, ENOSPC, "cannot write"), ERR_SPACE);
	assert_int_equal(err_set_errno(NULL, EDQUOT, "cannot write"), ERR_SPACE);
	assert_int_equal(err_set_errno(NULL, EFBIG, "cannot write"), ERR_SPACE);
}

TEST(long_texts_are_cut)
{
	struct err err = {0};

	err_set(&err, ERR_INVALID, "%0600d", 1);
	assert_int_equal(strlen(err.text), ERR_TEXT_SIZE - 1);
	err_set_errno(&err, ENOENT, "%0600d", 1);
	assert_int_equal(strlen(err.text), ERR_TEXT_SIZE - 1);
	err_prefix(&err, "%0600d", 2);
	assert_true(strlen(err.text) < ERR_TEXT_SIZE);
}

TEST(names_from_files_cannot_steer_a_terminal)
{
	struct err err = {0};

	err_set(&err, ERR_INVALID, "'%s'", "\x1b[2J\r\x7f\xc3\xa9\n");
	assert_string_equal(err.text, "'?[2J??\xc3\xa9\n'");
}

TEST(an_error_is_handed_on_and_no_error_changes_nothing)
{
	const struct err none = {0};
	struct err from, err = {0};

	err_set(&from, ERR_REFUSED, "100 %% of it");
	assert_int_equal(err_copy(&err, &from), ERR_REFUSED);
	assert_int_equal(err_copy(&err, &none), 0);
	assert_int_equal(err.code, ERR_REFUSED);
	assert_string_equal(err.text, "100 % of it");
	assert_int_equal(err_copy(NULL, &from), ERR_REFUSED);
}
