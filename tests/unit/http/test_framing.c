#include "http/framing.h"

#include "base/mem.h"
#include "base/text.h"
#include "unit.h"

#include <event2/buffer.h>

#define BAD "-\r\n\r\n"
#define WITHOUT_LENGTH "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: -\r\n\r\n"
#define NEXT "GET / HTTP/1.1\r\n\r\n"

static const struct http_access access_by_secret = {http_is_same_secret, "secret", "X-Secret"};

static struct http_framing_rules rules_of_server(const struct http_access *access)
{
	return (struct http_framing_rules){
		.header_limit = 100, .body_limit = 1000, .kept_limit = 150, .access = access};
}

/* What evhttp sees of these bytes, which come in pieces of `size`; caller frees. */
static char *passed_in_pieces(const struct http_access *access, const char *bytes, size_t len,
			      size_t size)
{
	struct http_framing_rules rules = rules_of_server(access);
	struct evbuffer *input = evbuffer_new();

	TAILQ_INIT(&rules.incomplete);
	struct http_framing *framing = http_framing_new(&rules, input);

	for (size_t i = 0; i < len; i += size)
		evbuffer_add(input, bytes + i, len - i < size ? len - i : size);
	size_t n_passed = evbuffer_get_length(input);
	char *passed = mem_copy_bytes(evbuffer_pullup(input, -1), n_passed);

	http_framing_free(framing);
	evbuffer_free(input);
	assert_int_equal(rules.n_kept, 0);
	return passed;
}

static void check_bytes(const struct http_access *access, const char *bytes, size_t len,
			const char *expected)
{
	for (size_t size = 1; size <= len; size++) {
		char *passed CLEANUP(mem_free_text) = passed_in_pieces(access, bytes, len, size);

		assert_string_equal(passed, expected);
	}
}

static void check(const struct http_access *access, const char *text, const char *expected)
{
	check_bytes(access, text, strlen(text), expected);
}

#define POST(headers) "POST /a HTTP/1.1\r\n" headers "\r\n"

TEST(test_requests_pass_when_their_heads_are_complete)
{
	static const char *const requests[] = {
		NEXT NEXT,
		POST("Content-Length: 5\r\n") "12345" NEXT,
		POST("content-length:   0005 \t\r\n") "\n\r\n\n\n" NEXT,
		POST("X-Transfer-Encoding: chunked\r\nX: Content-Length: 5\r\n") NEXT,
		"HEAD / HTTP/1.1\r\nContent-Length: 0\r\n\r\n" NEXT,
		"\r\n" NEXT,
	};

	for (size_t i = 0; i < ARRAY_LEN(requests); i++)
		check(NULL, requests[i], requests[i]);
	check(NULL, NEXT "GET / HTTP/1.1\r\nHost: x\r\n", NEXT);
}

TEST(test_what_others_could_read_otherwise_does_not_pass)
{
	static const char *const heads[] = {
		POST("Content-Length: 5\r\nContent-Length: 5\r\n"),
		POST("Content-Length: +5\r\n"),
		POST("Content-Length: 0x5\r\n"),
		POST("Content-Length: 5, 5\r\n"),
		POST("Content-Length: 5 5\r\n"),
		POST("Content-Length:\t5\r\n"),
		POST("Content-Length:\r\n"),
		POST("Content-Length: 5\r\n 5\r\n"),
		POST("Content-Length: 5\r\r\n"),
		POST("X: a\nContent-Length: 5\r\n"),
		POST("X: a\r\n Transfer-Encoding: chunked\r\n"),
		POST("X: a\r\n\tb\r\n"),
		"POST / HTTP/1.1\nContent-Length: 5\r\n\r\n",
		"POST / HTTP/1.1\r\nContent-Length: 5\r\n\n",
		"HEAD / HTTP/1.1\r\nContent-Length: 5\r\n\r\n",
		"CONNECT x:1 HTTP/1.1\r\nContent-Length: 5\r\n\r\n",
	};
	static const char with_nul[] = POST("Content-Length: 0\0 5\r\n") NEXT,
			  at_line[] = POST("\0Content-Length: 5\r\n") NEXT;

	for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
		char *text CLEANUP(mem_free_text) = mem_format("%s12345" NEXT, heads[i]);

		check(NULL, text, BAD);
	}
	check_bytes(NULL, with_nul, sizeof(with_nul) - 1, BAD);
	check_bytes(NULL, at_line, sizeof(at_line) - 1, BAD);
}

TEST(test_a_request_with_a_coding_gets_no_further)
{
	static const char *const heads[] = {
		POST("Transfer-Encoding: chunked\r\n"),
		POST("transfer-encoding:\r\n"),
		POST("Transfer-Encoding: identity\r\nContent-Length: 5\r\n"),
	};

	for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
		char *text CLEANUP(mem_free_text) =
			mem_format("%s5\r\n12345\r\n0\r\n\r\n" NEXT, heads[i]);

		check(NULL, text, WITHOUT_LENGTH);
	}
}

TEST(test_a_body_without_the_secret_is_dropped_and_the_next_request_passes)
{
	static const char *const without[] = {"", "X-Secret: secre\r\n",
					      "Authorization: secret\r\n",
					      "Authorization: Bearer secret2\r\n"};
	static const char *const with[] = {"X-Secret: secret\r\n", "x-secret:secret \r\n",
					   "Authorization: bearer secret\r\n"};

	for (size_t i = 0; i < ARRAY_LEN(without); i++) {
		char *text CLEANUP(mem_free_text) = mem_format(
			POST("%sContent-Length: 12\r\n") "123456789012" NEXT, without[i]);
		char *expected CLEANUP(mem_free_text) =
			mem_format(POST("%sContent-Length: 00\r\n") NEXT, without[i]);

		check(&access_by_secret, text, expected);
	}
	for (size_t i = 0; i < ARRAY_LEN(with); i++) {
		char *text CLEANUP(mem_free_text) =
			mem_format(POST("%sContent-Length: 5\r\n") "12345" NEXT, with[i]);

		check(&access_by_secret, text, text);
	}
}

TEST(test_heads_and_bodies_are_limited)
{
	char text[300];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	check(NULL, text, BAD);
	check(NULL, POST("Content-Length: 1001\r\n") NEXT, POST("Content-Length: 1001\r\n"));
	check(NULL, POST("Content-Length: 99999999999999999999\r\n") NEXT,
	      POST("Content-Length: 99999999999999999999\r\n"));
}

/* The oldest one makes room. A head in one piece is never kept, and so always passes. */
TEST(test_incomplete_heads_are_limited_together)
{
	static const char half[] = "GET / HTTP/1.1\r\nX: 1234567890123456789012345678901234567890";
	struct http_framing_rules rules = rules_of_server(NULL);
	struct http_framing *framings[4];
	struct evbuffer *inputs[4];

	TAILQ_INIT(&rules.incomplete);
	for (size_t i = 0; i < ARRAY_LEN(framings); i++) {
		inputs[i] = evbuffer_new();
		framings[i] = http_framing_new(&rules, inputs[i]);
	}
	for (size_t i = 0; i < 3; i++)
		evbuffer_add(inputs[i], half, strlen(half));
	evbuffer_add(inputs[3], NEXT, strlen(NEXT));
	assert_int_equal(evbuffer_get_length(inputs[3]), strlen(NEXT));
	assert_int_equal(rules.n_kept, 2 * strlen(half));
	for (size_t i = 0; i < 3; i++)
		evbuffer_add(inputs[i], "\r\n\r\n", 4);
	assert_int_equal(evbuffer_get_length(inputs[0]), 0);
	assert_int_equal(evbuffer_get_length(inputs[1]), strlen(half) + 4);
	assert_int_equal(evbuffer_get_length(inputs[2]), strlen(half) + 4);
	for (size_t i = 0; i < ARRAY_LEN(framings); i++) {
		http_framing_free(framings[i]);
		evbuffer_free(inputs[i]);
	}
	assert_int_equal(rules.n_kept, 0);
}

/* What arrives in one piece always passes, too. */
TEST(test_incomplete_bodies_are_limited_with_them)
{
	static const char head[] = POST("Content-Length: 200\r\n"),
			  whole[] = POST("Content-Length: 1\r\n") "1";
	struct http_framing_rules rules = rules_of_server(NULL);
	struct http_framing *framings[3];
	struct evbuffer *inputs[3];
	char body[200];

	TAILQ_INIT(&rules.incomplete);
	memset(body, 'x', sizeof(body));
	for (size_t i = 0; i < ARRAY_LEN(framings); i++) {
		inputs[i] = evbuffer_new();
		framings[i] = http_framing_new(&rules, inputs[i]);
	}
	for (size_t i = 0; i < 2; i++) {
		evbuffer_add(inputs[i], head, strlen(head));
		evbuffer_add(inputs[i], body, 80);
	}
	assert_int_equal(rules.n_kept, 2 * 80);
	evbuffer_add(inputs[1], body, 80);
	assert_int_equal(evbuffer_get_length(inputs[1]), strlen(head) + 80);
	evbuffer_add(inputs[2], whole, strlen(whole));
	assert_int_equal(evbuffer_get_length(inputs[2]), strlen(whole));
	http_framing_free(framings[1]);
	assert_int_equal(rules.n_kept, 80);
	evbuffer_add(inputs[0], body, 120);
	assert_int_equal(rules.n_kept, 0);
	assert_int_equal(evbuffer_get_length(inputs[0]), strlen(head) + sizeof(body));
	http_framing_free(framings[0]);
	http_framing_free(framings[2]);
	for (size_t i = 0; i < ARRAY_LEN(inputs); i++)
		evbuffer_free(inputs[i]);
}
