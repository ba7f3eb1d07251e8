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
	struct kube_channel_event event = {.type = KUBE_CHANNEL_CLOSED};

	assert_int_equal(kube_channels_take(channels, message, len, &event, NULL), 0);
	return event;
}

/* How a command ended whose last message was this one. */
static int end_of(const char *message, int *ret_exit_code, struct err *err)
{
	struct kube_channels channels CLEANUP(kube_channels_done) = {0};

	assert_int_equal(take(&channels, message, strlen(message)).type, KUBE_CHANNEL_NOTHING);
	return kube_channels_end(&channels, ret_exit_code, err);
}

static void a_terminal_has_a_size(void **state)
{
	struct text message CLEANUP(text_done) = {0};

	(void) state;
	kube_channels_add_size(&message, 132, 43);
	assert_string_equal(text_of(&message), "\4{\"Width\":132,\"Height\":43}");
}

static void outputs_come_as_they_were_sent(void **state)
{
	struct kube_channels channels CLEANUP(kube_channels_done) = {0};
	struct kube_channel_event event = take(&channels, MESSAGE("\1a\0b"));

	(void) state;
	assert_int_equal(event.type, KUBE_CHANNEL_BYTES);
	assert_int_equal(event.channel, KUBE_CHANNEL_OUTPUT);
	assert_int_equal(event.len, 3);
	assert_memory_equal(event.bytes, "a\0b", 3);
	event = take(&channels, MESSAGE("\2!"));
	assert_int_equal(event.type, KUBE_CHANNEL_BYTES);
	assert_int_equal(event.channel, KUBE_CHANNEL_ERROR_OUTPUT);
}

static void greetings_and_unknown_channels_say_nothing(void **state)
{
	struct kube_channels channels CLEANUP(kube_channels_done) = {0};
	int code;

	(void) state;
	assert_int_equal(take(&channels, MESSAGE("\1")).type, KUBE_CHANNEL_NOTHING);
	assert_int_equal(take(&channels, MESSAGE("\3")).type, KUBE_CHANNEL_NOTHING);
	assert_int_equal(take(&channels, MESSAGE("\0echo")).type, KUBE_CHANNEL_NOTHING);
	assert_int_equal(take(&channels, MESSAGE("\x7fnews")).type, KUBE_CHANNEL_NOTHING);
	assert_int_equal(kube_channels_end(&channels, &code, NULL), ERR_UNREACHABLE);
}

static void a_channel_that_is_closed_is_named(void **state)
{
	struct kube_channels channels CLEANUP(kube_channels_done) = {0};
	struct kube_channel_event event = take(&channels, MESSAGE("\xff\2"));

	(void) state;
	assert_int_equal(event.type, KUBE_CHANNEL_CLOSED);
	assert_int_equal(event.channel, KUBE_CHANNEL_ERROR_OUTPUT);
}

static void a_message_without_a_channel_is_refused(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
	} messages[] = {{MESSAGE("")}, {MESSAGE("\xff")}, {MESSAGE("\xff\1\2")}};
	struct kube_channels channels CLEANUP(kube_channels_done) = {0};
	struct kube_channel_event event;

	(void) state;
	for (size_t i = 0; i < ARRAY_LEN(messages); i++)
		assert_int_equal(kube_channels_take(&channels, messages[i].bytes, messages[i].len,
						    &event, NULL),
				 ERR_INVALID);
}

static void the_exit_code_stands_in_the_status(void **state)
{
	int code = -1;

	(void) state;
	assert_int_equal(end_of("\3{\"metadata\":{},\"status\":\"Success\"}", &code, NULL), 0);
	assert_int_equal(code, 0);
	assert_int_equal(end_of(FAILURE("137"), &code, NULL), 0);
	assert_int_equal(code, 137);
}

static void the_status_may_come_in_pieces_and_before_the_last_output(void **state)
{
	const char *status = FAILURE("3") + 1;
	struct kube_channels channels CLEANUP(kube_channels_done) = {0};
	int code = -1;

	(void) state;
	for (; *status; status++) {
		const char piece[] = {KUBE_CHANNEL_STATUS, *status};

		take(&channels, piece, sizeof(piece));
	}
	assert_int_equal(take(&channels, MESSAGE("\1late")).type, KUBE_CHANNEL_BYTES);
	assert_int_equal(kube_channels_end(&channels, &code, NULL), 0);
	assert_int_equal(code, 3);
}

static void a_command_that_cannot_run_says_why(void **state)
{
	struct err err;
	int code = -1;

	(void) state;
	assert_int_equal(end_of("\3{\"status\":\"Failure\",\"reason\":\"InternalError\","
				"\"message\":\"no such container\"}",
				&code, &err),
			 ERR_REFUSED);
	assert_string_equal(err.text, "the command did not finish: no such container");
	assert_int_equal(code, -1);
}

static void a_status_that_is_none_gives_no_exit_code(void **state)
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

	(void) state;
	for (size_t i = 0; i < ARRAY_LEN(messages); i++)
		assert_int_equal(end_of(messages[i], &code, NULL), ERR_INVALID);
	assert_int_equal(code, -1);
}

static void a_status_without_an_end_is_not_kept_for_ever(void **state)
{
	struct kube_channels channels CLEANUP(kube_channels_done) = {0};
	struct kube_channel_event event;
	size_t len = KUBE_CHANNELS_STATUS_LIMIT;
	char *message CLEANUP(mem_free_text) = mem_new(len + 1);

	(void) state;
	message[0] = KUBE_CHANNEL_STATUS;
	take(&channels, message, len + 1);
	assert_int_equal(kube_channels_take(&channels, message, 2, &event, NULL), ERR_LIMIT);
}

static void input_becomes_messages(void **state)
{
	struct text message CLEANUP(text_done) = {0};

	(void) state;
	kube_channels_add_input(&message, "a\0b", 3);
	assert_int_equal(message.len, 4);
	assert_memory_equal(message.bytes, "\0a\0b", 4);
}

static void only_the_newer_protocol_ends_the_input(void **state)
{
	struct kube_channels channels CLEANUP(kube_channels_done) = {0};
	struct text message CLEANUP(text_done) = {0};

	(void) state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_terminal_has_a_size),
		cmocka_unit_test(outputs_come_as_they_were_sent),
		cmocka_unit_test(greetings_and_unknown_channels_say_nothing),
		cmocka_unit_test(a_channel_that_is_closed_is_named),
		cmocka_unit_test(a_message_without_a_channel_is_refused),
		cmocka_unit_test(the_exit_code_stands_in_the_status),
		cmocka_unit_test(the_status_may_come_in_pieces_and_before_the_last_output),
		cmocka_unit_test(a_command_that_cannot_run_says_why),
		cmocka_unit_test(a_status_that_is_none_gives_no_exit_code),
		cmocka_unit_test(a_status_without_an_end_is_not_kept_for_ever),
		cmocka_unit_test(input_becomes_messages),
		cmocka_unit_test(only_the_newer_protocol_ends_the_input),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
