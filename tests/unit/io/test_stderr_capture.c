#include "unit.h"

#include "io/file.h"
#include "io/stderr_capture.h"

#include <stdio.h>

/* A pipe in the place of standard error, whose reading end is given. */
static int catch_error(int *ret_before)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	*ret_before = dup(STDERR_FILENO);
	assert_int_equal(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
	close(ends[1]);
	return ends[0];
}

static void say(const char *words)
{
	assert_int_equal(file_write_all(STDERR_FILENO, words, strlen(words), NULL), 0);
}

static void assert_heard(int fd, int before, const char *wanted)
{
	char heard[20000] = "";
	size_t len = 0;

	dup2(before, STDERR_FILENO);
	close(before);
	for (ssize_t n; (n = read(fd, heard + len, sizeof(heard) - len)) > 0;)
		len += (size_t) n;
	close(fd);
	assert_int_equal(len, strlen(wanted));
	assert_memory_equal(heard, wanted, len);
}

TEST(what_is_set_aside_is_not_heard_until_it_is_shown)
{
	struct stderr_capture capture;
	int before, fd = catch_error(&before);

	assert_int_equal(stderr_capture_open(&capture, NULL), 0);
	say("a");
	stderr_capture_begin(&capture);
	say("b");
	stderr_capture_end(&capture);
	say("c");
	stderr_capture_show(&capture);
	file_close(&capture.memory_fd);
	assert_heard(fd, before, "acb");
}

TEST(a_long_tale_is_shown_to_its_end)
{
	struct stderr_capture capture;
	int before, fd = catch_error(&before);
	char tale[10001];

	memset(tale, 'x', sizeof(tale) - 1);
	tale[sizeof(tale) - 1] = '\0';
	assert_int_equal(stderr_capture_open(&capture, NULL), 0);
	stderr_capture_begin(&capture);
	say(tale);
	stderr_capture_end(&capture);
	stderr_capture_show(&capture);
	file_close(&capture.memory_fd);
	assert_heard(fd, before, tale);
}
