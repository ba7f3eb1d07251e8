#include "unit.h"

#include "pods/port_frames.h"

#define MESSAGE(literal) (literal), sizeof(literal) - 1
#define BEGIN(a_port)                                                                              \
	{                                                                                          \
		.port = (a_port)                                                                   \
	}

/* 6006 is 0x1776. */
static void assert_data(struct kube_port_frames *frames, const char *message, size_t len,
			const char *wanted)
{
	const char *bytes;
	size_t n_bytes;

	assert_int_equal(kube_port_frames_take(frames, message, len, &bytes, &n_bytes, NULL), 0);
	assert_int_equal(n_bytes, strlen(wanted));
	assert_memory_equal(bytes, wanted, n_bytes);
}

static void data_comes_behind_the_port(void **state)
{
	struct kube_port_frames frames CLEANUP(kube_port_frames_done) = BEGIN(6006);

	(void) state;
	assert_data(&frames, MESSAGE("\0\x76\x17"), "");
	assert_data(&frames, MESSAGE("\1\x76\x17"), "");
	assert_data(&frames, MESSAGE("\0HTTP"), "HTTP");
	assert_data(&frames, MESSAGE("\0"), "");
	assert_data(&frames, MESSAGE("\0/1.1"), "/1.1");
	assert_int_equal(kube_port_frames_end(&frames, "digits-worker-0", NULL), 0);
}

static void a_port_may_come_in_pieces_and_data_with_it(void **state)
{
	struct kube_port_frames frames CLEANUP(kube_port_frames_done) = BEGIN(6006);

	(void) state;
	assert_data(&frames, MESSAGE("\0\x76"), "");
	assert_data(&frames, MESSAGE("\0"), "");
	assert_data(&frames, MESSAGE("\0\x17one"), "one");
	assert_data(&frames, MESSAGE("\0\x76\x17"), "\x76\x17");
}

static void a_server_that_forwards_another_port_is_not_believed(void **state)
{
	static const char *const wrong[] = {"\1\x76\x18", "\1\x17"};
	const char *bytes;
	size_t len;

	(void) state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		struct kube_port_frames frames CLEANUP(kube_port_frames_done) = BEGIN(6006);
		struct err err = {0};

		assert_int_equal(kube_port_frames_take(&frames, wrong[i], strlen(wrong[i]), &bytes,
						       &len, &err),
				 ERR_INVALID);
		assert_non_null(strstr(err.text, "6006"));
	}
}

static void a_message_without_a_channel_is_an_error_and_unknown_channels_say_nothing(void **state)
{
	struct kube_port_frames frames CLEANUP(kube_port_frames_done) = BEGIN(6006);
	const char *bytes;
	size_t len;

	(void) state;
	assert_int_equal(kube_port_frames_take(&frames, "", 0, &bytes, &len, NULL), ERR_INVALID);
	assert_data(&frames, MESSAGE("\2news"), "");
	assert_data(&frames, MESSAGE("\xff"), "");
}

static void assert_complaint(const char *complaint, const char *wanted)
{
	struct kube_port_frames frames CLEANUP(kube_port_frames_done) = BEGIN(6006);
	struct text message CLEANUP(text_done) = {0};
	struct err err = {0};

	assert_data(&frames, MESSAGE("\1\x76\x17"), "");
	text_add_char(&message, KUBE_PORT_ERROR);
	text_add(&message, complaint);
	assert_data(&frames, message.bytes, message.len, "");
	assert_int_equal(kube_port_frames_end(&frames, "digits-worker-0", &err), ERR_UNREACHABLE);
	assert_string_equal(err.text, wanted);
}

static void a_complaint_is_one_sentence(void **state)
{
	(void) state;
	assert_complaint(
		"error forwarding port 6006 to pod 5d2: failed to execute portforward: "
		"dial tcp4 127.0.0.1:6006: connect: connection refused \n",
		"no program listens on port 6006 of Pod 'digits-worker-0' (connection refused)");
	assert_complaint(
		"socat[9] E connect(): Connection refused\n",
		"no program listens on port 6006 of Pod 'digits-worker-0' (connection refused)");
	assert_complaint("one\ntwo\x1b[31m\r\n",
			 "port 6006 of Pod 'digits-worker-0' cannot be reached: one two?[31m");
}

static void a_complaint_without_an_end_takes_no_memory(void **state)
{
	struct kube_port_frames frames CLEANUP(kube_port_frames_done) = BEGIN(6006);
	char message[1024] = {KUBE_PORT_ERROR, 0x76, 0x17};

	(void) state;
	assert_data(&frames, message, 3, "");
	memset(message + 1, 'x', sizeof(message) - 1);
	for (int i = 0; i < 1000; i++)
		assert_data(&frames, message, sizeof(message), "");
	assert_true(frames.complaint.len <= 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_comes_behind_the_port),
		cmocka_unit_test(a_port_may_come_in_pieces_and_data_with_it),
		cmocka_unit_test(a_server_that_forwards_another_port_is_not_believed),
		cmocka_unit_test(
			a_message_without_a_channel_is_an_error_and_unknown_channels_say_nothing),
		cmocka_unit_test(a_complaint_is_one_sentence),
		cmocka_unit_test(a_complaint_without_an_end_takes_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
