#include "unit.h"

#include "base/mem.h"
#include "pods/channels.h"

#define MESSAGE(literal) (literal), sizeof(literal) - 1
#define FAILURE(code)                                                                              \
	"\3{\"status\":\"Failure\",\"reason\":\"NonZeroExitCode\",\"message\":\"command "          \
	"terminated\",\"details\":{\"causes\":[{\"reason\":\"Other\",\"message\":\"9\"},"          \
	"{\"reason\":\"ExitCode\",\"message\":\"" code "\"}]}}"

static struct kube_channel_event take(struct kube_channels *channels, const char *message,
				      size_t len)
{
	struct kube_channel_event event = {.len = 1};

	assert_int_equal(kube_channels_take(channels, message, len, &event, NULL), 0);
	return event;
}

/* How a command ended whose last message was this one. */
static int end_of(const char *message, int *ret_exit_code, struct err *err)
{
	struct kube_channels channels CLEANUP(kube_channels_done) = {0};

	assert_int_equal(take(&channels, message, strlen(message)).len, 0);
	return kube_channels_end(&channels, ret_exit_code, err);
}

TEST(a_terminal_has_a_size)
{
	struct text message CLEANUP(text_done) = {0};

	kube_channels_add_size(&message, 132, 43);
	assert_string_equal(text_of(&message), "\4{\"Width\":132,\"Height\":43}");
}

TEST(outputs_come_as_they_were_sent)
{
	struct kube_channels channels CLEANUP(kube_channels_done) = {0};
	struct kube_channel_event event = take(&channels, MESSAGE("\1a\0b"));

	assert_int_equal(event.channel, KUBE_CHANNEL_OUTPUT);
	assert_int_equal(event.len, 3);
	assert_memory_equal(event.bytes, "a\0b", 3);
	event = take(&channels, MESSAGE("\2!"));
	assert_int_equal(event.len, 1);
	assert_int_equal(event.channel, KUBE_CHANNEL_ERROR_OUTPUT);
}

TEST(greetings_and_unknown_channels_say_nothing)
{
	struct kube_channels channels CLEANUP(kube_channels_done) = {0};
	int code;

	assert_int_equal(take(&channels, MESSAGE("\1")).len, 0);
	assert_int_equal(take(&channels, MESSAGE("\3")).len, 0);
	assert_int_equal(take(&channels, MESSAGE("\0echo")).len, 0);
	assert_int_equal(take(&channels, MESSAGE("\x7fnews")).len, 0);
	assert_int_equal(kube_channels_end(&channels, &code, NULL), ERR_UNREACHABLE);
}

TEST(a_channel_that_is_closed_says_nothing)
{
	struct kube_channels channels CLEANUP(kube_channels_done) = {0};
	struct kube_channel_event event = take(&channels, MESSAGE("\xff\2"));

	assert_int_equal(event.channel, KUBE_CHANNEL_CLOSE);
	assert_int_equal(event.len, 0);
}

TEST(a_message_without_a_channel_is_refused)
{
	static const struct {
		const char *bytes;
		size_t len;
	} messages[] = {{MESSAGE("")}, {MESSAGE("\xff")}, {MESSAGE("\xff\1\2")}};
	struct kube_channels channels CLEANUP(kube_channels_done) = {0};
	struct kube_channel_event event;

	for (size_t i = 0; i < ARRAY_LEN(messages); i++)
		assert_int_equal(kube_channels_take(&channels, messages[i].bytes, messages[i].len,
						    &event, NULL),
				 ERR_INVALID);
}

TEST(the_exit_code_stands_in_the_status)
{
	int code = -1;

	assert_int_equal(end_of("\3{\"metadata\":{},\"status\":\"Success\"}", &code, NULL), 0);
	assert_int_equal(code, 0);
	assert_int_equal(end_of(FAILURE("137"), &code, NULL), 0);
	assert_int_equal(code, 137);
}

TEST(the_status_may_come_in_pieces_and_before_the_last_output)
{
	const char *status = FAILURE("3") + 1;
	struct kube_channels channels CLEANUP(kube_channels_done) = {0};
	int code = -1;

	for (; *status; status++) {
		const char piece[] = {KUBE_CHANNEL_STATUS, *status};

		take(&channels, piece, sizeof(piece));
	}
	assert_int_equal(take(&channels, MESSAGE("\1late")).len, 4);
	assert_int_equal(kube_channels_end(&channels, &code, NULL), 0);
	assert_int_equal(code, 3);
}

TEST(a_command_that_cannot_run_says_why)
{
	struct err err;
	int code = -1;

	assert_int_equal(end_of("\3{\"status\":\"Failure\",\"reason\":\"InternalError\","
				"\"message\":\"no such container\"}",
				&code, &err),
			 ERR_REFUSED);
	assert_string_equal(err.text, "the command did not finish: no such container");
	assert_int_equal(code, -1);
}

TEST(a_status_that_is_none_gives_no_exit_code)
{
	static const char *const messages[] = {
		"\3<html>",
		"\3[]",
		"\3{\"status\":\"Maybe\"}",
		FAILURE("0"),
		FAILURE("many"),
		"\3{\"status\":\"Failure\",\"reason\":\"NonZeroExitCode\",\"details\":{}}",
	};
	int code = -1;

	for (size_t i = 0; i < ARRAY_LEN(messages); i++)
		assert_int_equal(end_of(messages[i], &code, NULL), ERR_INVALID);
	assert_int_equal(code, -1);
}

TEST(a_status_without_an_end_is_not_kept_for_ever)
{
	struct kube_channels channels CLEANUP(kube_channels_done) = {0};
	struct kube_channel_event event;
	size_t len = KUBE_CHANNELS_STATUS_LIMIT;
	char *message CLEANUP(mem_free_text) = mem_new(len + 1);

	message[0] = KUBE_CHANNEL_STATUS;
	take(&channels, message, len + 1);
	assert_int_equal(kube_channels_take(&channels, message, 2, &event, NULL), ERR_LIMIT);
}

TEST(input_becomes_messages)
{
	struct text message CLEANUP(text_done) = {0};

	kube_channels_add_input(&message, "a\0b", 3);
	assert_int_equal(message.len, 4);
	assert_memory_equal(message.bytes, "\0a\0b", 4);
}

TEST(only_the_newer_protocol_ends_the_input)
{
	struct kube_channels channels CLEANUP(kube_channels_done) = {0};
	struct text message CLEANUP(text_done) = {0};

	assert_true(kube_channels_choose(&channels, KUBE_CHANNELS_V4));
	assert_int_equal(kube_channels_add_end_of_input(&channels, &message, NULL),
			 ERR_UNSUPPORTED);
	assert_true(kube_channels_choose(&channels, KUBE_CHANNELS_V5));
	assert_int_equal(kube_channels_add_end_of_input(&channels, &message, NULL), 0);
	assert_int_equal(message.len, 2);
	assert_memory_equal(message.bytes, "\xff\0", 2);
	assert_false(kube_channels_choose(&channels, "channel.k8s.io"));
	assert_false(kube_channels_choose(&channels, NULL));
}

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

TEST(data_comes_behind_the_port)
{
	struct kube_port_frames frames CLEANUP(kube_port_frames_done) = BEGIN(6006);

	assert_data(&frames, MESSAGE("\0\x76\x17"), "");
	assert_data(&frames, MESSAGE("\1\x76\x17"), "");
	assert_data(&frames, MESSAGE("\0HTTP"), "HTTP");
	assert_data(&frames, MESSAGE("\0"), "");
	assert_data(&frames, MESSAGE("\0/1.1"), "/1.1");
	assert_int_equal(kube_port_frames_end(&frames, "digits-worker-0", NULL), 0);
}

TEST(a_port_may_come_in_pieces_and_data_with_it)
{
	struct kube_port_frames frames CLEANUP(kube_port_frames_done) = BEGIN(6006);

	assert_data(&frames, MESSAGE("\0\x76"), "");
	assert_data(&frames, MESSAGE("\0"), "");
	assert_data(&frames, MESSAGE("\0\x17one"), "one");
	assert_data(&frames, MESSAGE("\0\x76\x17"), "\x76\x17");
}

TEST(a_server_that_forwards_another_port_is_not_believed)
{
	static const char *const wrong[] = {"\1\x76\x18", "\1\x17"};
	const char *bytes;
	size_t len;

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		struct kube_port_frames frames CLEANUP(kube_port_frames_done) = BEGIN(6006);
		struct err err = {0};

		assert_int_equal(kube_port_frames_take(&frames, wrong[i], strlen(wrong[i]), &bytes,
						       &len, &err),
				 ERR_INVALID);
		assert_non_null(strstr(err.text, "6006"));
	}
}

TEST(a_message_without_a_channel_is_an_error_and_unknown_channels_say_nothing)
{
	struct kube_port_frames frames CLEANUP(kube_port_frames_done) = BEGIN(6006);
	const char *bytes;
	size_t len;

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

TEST(a_complaint_is_one_sentence)
{
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

TEST(a_complaint_without_an_end_takes_no_memory)
{
	struct kube_port_frames frames CLEANUP(kube_port_frames_done) = BEGIN(6006);
	char message[1024] = {KUBE_PORT_ERROR, 0x76, 0x17};

	assert_data(&frames, message, 3, "");
	memset(message + 1, 'x', sizeof(message) - 1);
	for (int i = 0; i < 1000; i++)
		assert_data(&frames, message, sizeof(message), "");
	assert_true(frames.complaint.len <= 4096);
}
