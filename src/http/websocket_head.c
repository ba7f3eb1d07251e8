#include "http/websocket_head.h"

#include "base/base64.h"
#include "base/hash.h"
#include "base/mem.h"

#include <strings.h>

#define SWITCHING_PROTOCOLS 101
#define ACCEPT_SUFFIX "258EAFA5-E914-47DA-95CA-C5AB0DC85B11" /* RFC 6455, section 1.3 */

/* A line of a head, with its value trimmed. */
struct line {
	const char *name, *value;
	size_t name_len, value_len;
};

static void copy_base64(char key[WEBSOCKET_KEY_SIZE], const void *bytes, size_t len)
{
	struct text text CLEANUP(text_done) = {0};

	base64_add(&text, bytes, len);
	memcpy(key, text_of(&text), text.len + 1); /* 24 or 28 characters */
}

struct websocket_key websocket_key_of(const uint8_t nonce[WEBSOCKET_NONCE_SIZE])
{
	struct websocket_key key;
	uint8_t digest[SHA1_SIZE];

	copy_base64(key.sent, nonce, WEBSOCKET_NONCE_SIZE);
	char *seed CLEANUP(mem_free_text) = mem_format("%s%s", key.sent, ACCEPT_SUFFIX);

	sha1(seed, strlen(seed), digest);
	copy_base64(key.expected, digest, sizeof(digest));
	return key;
}

void websocket_add_request(struct text *text, const struct websocket_head *head,
			   const struct websocket_key *key)
{
	text_addf(text, "GET %s HTTP/1.1\r\nHost: %s\r\n", head->target, head->host);
	text_addf(text, "User-Agent: %s\r\n", head->user_agent);
	text_add(text,
		 "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n");
	text_addf(text, "Sec-WebSocket-Key: %s\r\n", key->sent);
	for (size_t i = 0; head->protocols && head->protocols[i]; i++)
		text_addf(text, "%s%s", i ? ", " : "Sec-WebSocket-Protocol: ", head->protocols[i]);
	if (head->protocols && head->protocols[0])
		text_add(text, "\r\n");
	for (size_t i = 0; head->headers && head->headers[i]; i++)
		text_addf(text, "%s\r\n", head->headers[i]);
	text_add(text, "\r\n");
}

size_t websocket_head_length(const char *bytes, size_t len)
{
	const char *end = len ? memmem(bytes, len, "\r\n\r\n", 4) : NULL;

	return end ? (size_t) (end - bytes) + 4 : 0;
}

static bool is_header_blank(char byte)
{
	return byte == ' ' || byte == '\t';
}

/* The next line of a header; false at the end of the head. A line without a colon has no value. */
static bool next_line(const char **at, const char *end, struct line *ret_line)
{
	const char *feed = memmem(*at, (size_t) (end - *at), "\r\n", 2);

	if (!feed || feed == *at)
		return false;
	const char *colon = memchr(*at, ':', (size_t) (feed - *at));
	const char *value = colon ? colon + 1 : feed, *value_end = feed;

	while (value < value_end && is_header_blank(*value))
		value++;
	while (value < value_end && is_header_blank(value_end[-1]))
		value_end--;
	*ret_line = (struct line){*at, value, (size_t) ((colon ? colon : feed) - *at),
				  (size_t) (value_end - value)};
	*at = feed + 2;
	return true;
}

/* The value of a header; the caller frees it. NULL: absent. */
static char *find_header_value(const char *head, size_t len, const char *name)
{
	const char *at = head, *end = head + len;
	struct line line;

	if (!next_line(&at, end, &line)) /* the status line */
		return NULL;
	while (next_line(&at, end, &line))
		if (strlen(name) == line.name_len &&
		    strncasecmp(line.name, name, line.name_len) == 0)
			return mem_copy_bytes(line.value, line.value_len);
	return NULL;
}

static int read_upgrade_status(const char *head, size_t len, int *ret_status, struct err *err)
{
	int64_t status;
	/* "HTTP/1.1 101 …" */
	char *first CLEANUP(mem_free_text) = mem_copy_bytes(head, len < 13 ? len : 13);
	bool is_http = text_starts_with(first, "HTTP/1.1 ") && len > 13 &&
		       (first[12] == ' ' || first[12] == '\r');

	if (is_http)
		first[12] = '\0';
	if (!is_http || text_read_int(first + 9, 100, 599, &status, NULL) < 0)
		return err_set(err, ERR_INVALID, "it does not respond in HTTP/1.1");
	*ret_status = (int) status;
	return 0;
}

static bool was_asked_for(const struct websocket_head *head, const char *protocol)
{
	for (size_t i = 0; head->protocols && head->protocols[i]; i++)
		if (text_equals(head->protocols[i], protocol))
			return true;
	return !protocol;
}

static int check_upgrade(const char *head, size_t len, const struct websocket_key *key,
			 struct err *err)
{
	char *upgrade CLEANUP(mem_free_text) = find_header_value(head, len, "Upgrade");
	char *accept CLEANUP(mem_free_text) = find_header_value(head, len, "Sec-WebSocket-Accept");
	char *extensions CLEANUP(mem_free_text) =
		find_header_value(head, len, "Sec-WebSocket-Extensions");

	if (!upgrade || !text_equals_ignoring_case(upgrade, "websocket") ||
	    !text_equals(accept, key->expected))
		return err_set(err, ERR_INVALID, "it does not speak WebSocket");
	if (extensions && *extensions)
		return err_set(err, ERR_INVALID, "it uses an extension that was not requested");
	return 0;
}

static size_t read_body_length(const char *head, size_t len)
{
	char *word CLEANUP(mem_free_text) = find_header_value(head, len, "Content-Length");
	int64_t length;

	if (!word || text_read_int(word, 0, INT64_MAX, &length, NULL) < 0)
		return SIZE_MAX;
	return (size_t) length;
}

int websocket_read_answer(const char *bytes, size_t len, const struct websocket_head *head,
			  const struct websocket_key *key, struct websocket_answer *ret_answer,
			  struct err *err)
{
	struct websocket_answer answer = {0};
	int rc = read_upgrade_status(bytes, len, &answer.status, err);

	if (rc < 0)
		return rc;
	if (answer.status != SWITCHING_PROTOCOLS) {
		answer.body_len = read_body_length(bytes, len);
		*ret_answer = answer;
		return 0;
	}
	rc = check_upgrade(bytes, len, key, err);
	if (rc < 0)
		return rc;
	answer.protocol = find_header_value(bytes, len, "Sec-WebSocket-Protocol");
	if (!was_asked_for(head, answer.protocol)) {
		websocket_answer_done(&answer);
		return err_set(err, ERR_INVALID, "it chose a subprotocol that was not requested");
	}
	*ret_answer = answer;
	return 0;
}

void websocket_answer_done(struct websocket_answer *answer)
{
	free(answer->protocol);
	*answer = (struct websocket_answer){0};
}
