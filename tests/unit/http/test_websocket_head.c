#include "unit.h"

#include "http/websocket_head.h"

static const char *const protocols[] = {"v5.channel.k8s.io", "v4.channel.k8s.io", NULL};
static const char *const headers[] = {"Authorization: Bearer secret", NULL};
static const struct websocket_head head = {"/exec?command=ls", "example.org:6443", "muster/test",
					   headers, protocols};

/* The example of RFC 6455, section 1.3. */
static struct websocket_key example_key(void)
{
	return websocket_key_of((const uint8_t *) "the sample nonce");
}

static int read_answer(const char *bytes, struct websocket_answer *ret_answer, struct err *err)
{
	struct websocket_key key = example_key();
	size_t len = websocket_head_length(bytes, strlen(bytes));

	assert_int_equal(len, strlen(bytes));
	return websocket_read_answer(bytes, len, protocols, &key, ret_answer, err);
}

TEST(keys_are_those_of_the_standard)
{
	struct websocket_key key = example_key();

	assert_string_equal(key.sent, "dGhlIHNhbXBsZSBub25jZQ==");
	assert_string_equal(key.expected, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

TEST(a_request_says_all_that_the_server_needs)
{
	struct websocket_key key = example_key();
	struct text text CLEANUP(text_done) = {0};

	websocket_add_request(&text, &head, &key);
	assert_string_equal(text_of(&text),
			    "GET /exec?command=ls HTTP/1.1\r\nHost: example.org:6443\r\n"
			    "User-Agent: muster/test\r\nConnection: Upgrade\r\nUpgrade: "
			    "websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
			    "dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: "
			    "v5.channel.k8s.io, v4.channel.k8s.io\r\nAuthorization: Bearer "
			    "secret\r\n\r\n");
}

TEST(a_head_ends_with_an_empty_line)
{
	assert_int_equal(websocket_head_length("", 0), 0);
	assert_int_equal(websocket_head_length("HTTP/1.1 101 X\r\nA: b\r\n\r", 23), 0);
	assert_int_equal(websocket_head_length("HTTP/1.1 101 X\r\n\r\n\x81", 19), 18);
}

TEST(an_upgrade_names_the_sub_protocol)
{
	struct websocket_answer answer CLEANUP(websocket_answer_done) = {0};

	assert_int_equal(read_answer("HTTP/1.1 101 Switching Protocols\r\nupgrade: WebSocket\r\n"
				     "Connection: Upgrade\r\nSEC-WEBSOCKET-PROTOCOL:\t "
				     "v4.channel.k8s.io \r\nSec-WebSocket-Accept: "
				     "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n",
				     &answer, NULL),
			 0);
	assert_int_equal(answer.status, 101);
	assert_string_equal(answer.protocol, "v4.channel.k8s.io");
}

TEST(a_refusal_says_how_long_its_reason_is)
{
	struct websocket_answer answer;

	assert_int_equal(
		read_answer("HTTP/1.1 403 Forbidden\r\nContent-Length: 12\r\n\r\n", &answer, NULL),
		0);
	assert_int_equal(answer.status, 403);
	assert_int_equal(answer.body_len, 12);
	assert_int_equal(read_answer("HTTP/1.1 400 \r\n\r\n", &answer, NULL), 0);
	assert_true(answer.body_len == SIZE_MAX);
}

TEST(what_is_no_websocket_is_refused)
{
#define UPGRADE "HTTP/1.1 101 X\r\nUpgrade: websocket\r\n"
#define ACCEPT "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
	static const char *const answers[] = {
		"SSH-2.0-OpenSSH_9.2\r\n\r\n",
		"HTTP/1.1\r\n\r\n",
		"HTTP/1.0 101 X\r\n\r\n",
		"HTTP/1.1 1011 X\r\n\r\n",
		"HTTP/1.1 abc X\r\n\r\n",
		UPGRADE "\r\n",
		UPGRADE "Sec-WebSocket-Accept: AAAA\r\n\r\n",
		"HTTP/1.1 101 X\r\n" ACCEPT "\r\n",
		"HTTP/1.1 101 X\r\nUpgrade: SPDY/3.1\r\n" ACCEPT "\r\n",
		UPGRADE ACCEPT "Sec-WebSocket-Protocol: soap\r\n\r\n",
		UPGRADE ACCEPT "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n",
	};
	struct websocket_answer answer;

	for (size_t i = 0; i < ARRAY_LEN(answers); i++)
		assert_int_equal(read_answer(answers[i], &answer, NULL), ERR_INVALID);
}
