#include "unit.h"

#include "cli/replica_name.h"

TEST(ports_are_written_as_for_kubectl)
{
	static const char *const words[] = {"6006", "8080:80", ":8888", ":1", "65535:65535", NULL};
	static const struct port_pair wanted[] = {
		{6006, 6006}, {8080, 80}, {0, 8888}, {0, 1}, {65535, 65535}};
	struct port_arguments arguments CLEANUP(port_arguments_done) = {0};

	assert_int_equal(port_arguments_read(words, &arguments, NULL), 0);
	assert_string_equal(arguments.replica.role, "");
	assert_int_equal(arguments.n_pairs, ARRAY_LEN(wanted));
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
		assert_int_equal(arguments.pairs[i].local, wanted[i].local);
		assert_int_equal(arguments.pairs[i].remote, wanted[i].remote);
	}
}

TEST(a_replica_may_stand_before_them)
{
	static const char *const words[] = {"worker-12", "6006", NULL};
	struct port_arguments arguments CLEANUP(port_arguments_done) = {0};

	assert_int_equal(port_arguments_read(words, &arguments, NULL), 0);
	assert_string_equal(arguments.replica.role, "worker");
	assert_int_equal(arguments.replica.index, 12);
	assert_int_equal(arguments.n_pairs, 1);
}

TEST(what_is_wrong_is_named)
{
	static const struct {
		const char *words[3], *said; /* the last word is NULL */
	} wrong[] = {
		{{"worker-0"}, "missing port"},
		{{"worker", "6006"}, "'worker' is not a port"},
		{{"worker-x", "6006"}, "'worker-x' is not a replica"},
		{{"worker-0:6006"}, "'worker-0:6006' is not a replica"},
		{{"-", "6006"}, "'-' is not a replica"},
		{{"6006", "worker-0"}, "'worker-0' is not a port"},
		{{"0"}, "'0' is not a port"},
		{{"65536"}, "'65536' is not a port"},
		{{"80:"}, "'80:' is not a port"},
		{{":"}, "':' is not a port"},
		{{""}, "'' is not a port"},
		{{"0:80"}, "'0:80' is not a port"},
		{{"1:2:3"}, "'1:2:3' is not a port"},
		{{"http"}, "'http' is not a port"},
		{{"8080:80", "8080:81"}, "local port 8080 is named twice"},
	};

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		struct port_arguments arguments CLEANUP(port_arguments_done) = {0};
		struct err err = {0};

		assert_int_equal(port_arguments_read(wrong[i].words, &arguments, &err),
				 ERR_INVALID);
		assert_non_null(strstr(err.text, wrong[i].said));
	}
}
