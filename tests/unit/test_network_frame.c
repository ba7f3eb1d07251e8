#include "unit.h"

#include "io/file.h"
#include "io/loop.h"
#include "io/network_frame.h"

#include <errno.h>
#include <sys/socket.h>

static void a_frame_is_read_as_it_was_written(void **state)
{
	(void) state;
	struct network_frame frame = {.length = 4096, .received = 5, .sent = INT64_MAX}, read;
	uint8_t bytes[NETWORK_FRAME_SIZE];

	network_frame_set_name(&frame, "worker-0");
	network_frame_write(&frame, bytes);
	assert_true(network_frame_read(bytes, &read));
	assert_string_equal(read.name, "worker-0");
	assert_int_equal(read.length, 4096);
	assert_int_equal(read.received, 5);
	assert_int_equal(read.sent, INT64_MAX);
}

static void a_long_name_is_cut_and_known_again(void **state)
{
	(void) state;
	struct network_frame frame = {0};
	char name[200];

	memset(name, 'w', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	network_frame_set_name(&frame, name);
	assert_int_equal(strlen(frame.name), NETWORK_NAME_SIZE - 1);
	assert_true(network_frame_has_name(&frame, name));
	assert_false(network_frame_has_name(&frame, "w"));
}

static void bytes_of_others_are_no_frame(void **state)
{
	(void) state;
	struct network_frame frame = {.length = 1}, read = {.length = 7};
	uint8_t bytes[NETWORK_FRAME_SIZE];

	network_frame_write(&frame, bytes);
	bytes[0] ^= 1; /* the magic */
	assert_false(network_frame_read(bytes, &read));
	bytes[0] ^= 1;
	bytes[8] = 0xff; /* a length beyond the limit */
	assert_false(network_frame_read(bytes, &read));
	bytes[8] = 0;
	bytes[16] = 0x80; /* a time before 1970 */
	assert_false(network_frame_read(bytes, &read));
	bytes[16] = 0;
	memset(bytes + NETWORK_FRAME_SIZE - NETWORK_NAME_SIZE, 'x', NETWORK_NAME_SIZE);
	assert_false(network_frame_read(bytes, &read)); /* a name without an end */
	bytes[NETWORK_FRAME_SIZE - 1] = '\0';
	bytes[NETWORK_FRAME_SIZE - 2] = '\x1b'; /* and one that moves the cursor */
	assert_false(network_frame_read(bytes, &read));
	bytes[NETWORK_FRAME_SIZE - 2] = 'x';
	assert_int_equal(read.length, 7);
	assert_true(network_frame_read(bytes, &read));
}

static void a_name_of_other_characters_is_the_same_on_both_sides(void **state)
{
	(void) state;
	struct network_frame frame = {0};

	network_frame_set_name(&frame, "m\u00fcster-0\n");
	assert_string_equal(frame.name, "m??ster-0?");
	assert_true(network_frame_has_name(&frame, "m\u00fcster-0\n"));
}

static void sending_and_receiving_end_with_their_time(void **state)
{
	(void) state;
	static char many[16 * 1024 * 1024];
	int pair[2];
	char buf[8];
	size_t len;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair),
			 0);
	msec until = loop_monotonic_now() + 20;

	assert_int_equal(network_send(pair[0], many, sizeof(many), until), ETIMEDOUT);
	assert_int_equal(network_receive(pair[0], buf, sizeof(buf), until, &len), ETIMEDOUT);
	assert_int_equal(len, 0);
	file_close(&pair[0]);
	file_close(&pair[1]);
}

static void a_side_that_closes_in_the_middle_is_told_from_one_that_is_slow(void **state)
{
	(void) state;
	int pair[2];
	char buf[8];
	size_t len;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair),
			 0);
	assert_int_equal(network_send(pair[0], "abc", 3, MSEC_NEVER), 0);
	file_close(&pair[0]);
	assert_int_equal(network_receive(pair[1], buf, sizeof(buf), MSEC_NEVER, &len), ENODATA);
	assert_int_equal(len, 3);
	assert_memory_equal(buf, "abc", 3);
	file_close(&pair[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frame_is_read_as_it_was_written),
		cmocka_unit_test(a_long_name_is_cut_and_known_again),
		cmocka_unit_test(bytes_of_others_are_no_frame),
		cmocka_unit_test(a_name_of_other_characters_is_the_same_on_both_sides),
		cmocka_unit_test(sending_and_receiving_end_with_their_time),
		cmocka_unit_test(a_side_that_closes_in_the_middle_is_told_from_one_that_is_slow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
