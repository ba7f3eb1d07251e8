#include "unit.h"

#include "tensorflow/network_ask.h"

TEST(a_long_name_is_cut_and_known_again)
{
	struct network_frame frame;
	char name[200];

	memset(name, 'w', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	network_frame_init(&frame, name, 0);
	assert_int_equal(strlen(frame.name), sizeof(frame.name) - 1);
	assert_true(network_frame_is_ours(&frame));
	assert_true(network_frame_has_name(&frame, name));
	assert_false(network_frame_has_name(&frame, "w"));
}

TEST(bytes_of_others_are_no_frame)
{
	struct network_frame frame;

	network_frame_init(&frame, "worker-0", NETWORK_LENGTH_LIMIT);
	assert_true(network_frame_is_ours(&frame));
	frame.magic[0] ^= 1;
	assert_false(network_frame_is_ours(&frame));
	network_frame_init(&frame, "worker-0", NETWORK_LENGTH_LIMIT + 1);
	assert_false(network_frame_is_ours(&frame));
	network_frame_init(&frame, "worker-0", 0);
	memset(frame.name, 'x', sizeof(frame.name)); /* a name without an end */
	assert_false(network_frame_is_ours(&frame));
	frame.name[8] = '\0';
	assert_true(network_frame_is_ours(&frame));
	frame.name[7] = '\x1b'; /* and one that moves the cursor */
	assert_false(network_frame_is_ours(&frame));
}

TEST(a_name_of_other_characters_is_the_same_on_both_sides)
{
	struct network_frame frame;

	network_frame_init(&frame, "m\u00fcster-0\n", 0);
	assert_string_equal(frame.name, "m??ster-0?");
	assert_true(network_frame_has_name(&frame, "m\u00fcster-0\n"));
}
