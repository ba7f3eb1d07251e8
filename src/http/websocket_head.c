#include "http/websocket_head.h"

#include "base/base64.h"
#include "base/hash.h"
#include "base/mem.h"

#include <strings.h>

#define SWITCHING_PROTOCOLS 101
#define ACCEPT_SUFFIX "258EAFA5-E914-47DA-95CA-C5AB0DC85B11" /* RFC 6455, section 1.3 */

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

/* The value of a header, without the blanks around it; the caller frees it. NULL: absent. */
static char *find_header_value(const char *head, const char *name)
{
	size_t name_len = strlen(name);

	for (const char *line = head; (line = strstr(line, "\r\n"));) {
		line += 2;
		if (strncasecmp(line, name, name_len) != 0 || line[name_len] != ':')
			continue;
		const char *value = line + name_len + 1;

		value += strspn(value, " \t");
		size_t len = strcspn(value, "\r\n");

		while (len > 0 && strchr(" \t", value[len - 1]))
			len--;
		return mem_copy_bytes(value, len);
	}
	return NULL;
}

static int read_upgrade_status(const char *head, int *ret_status, struct err *err)
{
	static const char version[] = "HTTP/1.1 ";
	char *code CLEANUP(mem_free_text) = NULL;
	int64_t status;

	if (text_starts_with(head, version))
		code = mem_copy_bytes(head + strlen(version),
				      strcspn(head + strlen(version), " \r"));
	if (!code || text_read_int(code, 100, 599, &status, NULL) < 0)
		return err_set(err, ERR_INVALID, "it does not respond in HTTP/1.1");
	*ret_status = (int) status;
	return 0;
}

static bool was_asked_for(const char *const *protocols, const char *protocol)
{
	for (size_t i = 0; protocols && protocols[i]; i++)
		if (text_equals(protocols[i], protocol))
			return true;
	return !protocol;
}

static int check_upgrade(const char *head, const struct websocket_key *key, struct err *err)
{
	char *upgrade CLEANUP(mem_free_text) = find_header_value(head, "Upgrade");
	char *accept CLEANUP(mem_free_text) = find_header_value(head, "Sec-WebSocket-Accept");
	char *extensions CLEANUP(mem_free_text) =
		find_header_value(head, "Sec-WebSocket-Extensions");

	if (!upgrade || !text_equals_ignoring_case(upgrade, "websocket") ||
	    !text_equals(accept, key->expected))
		return err_set(err, ERR_INVALID, "it does not speak WebSocket");
	if (extensions && *extensions)
		return err_set(err, ERR_INVALID, "it uses an extension that was not requested");
	return 0;
}

static size_t read_body_length(const char *head)
{
	char *word CLEANUP(mem_free_text) = find_header_value(head, "Content-Length");
	int64_t length;

	if (!word || text_read_int(word, 0, INT64_MAX, &length, NULL) < 0)
		return SIZE_MAX;
	return (size_t) length;
}

int websocket_read_answer(const char *bytes, size_t len, const char *const *protocols,
			  const struct websocket_key *key, struct websocket_answer *ret_answer,
			  struct err *err)
{
	struct websocket_answer answer = {0};
	char *text CLEANUP(mem_free_text) = mem_copy_bytes(bytes, len);
	int rc = read_upgrade_status(text, &answer.status, err);

	if (rc < 0)
		return rc;
	if (answer.status != SWITCHING_PROTOCOLS) {
		answer.body_len = read_body_length(text);
		*ret_answer = answer;
		return 0;
	}
	rc = check_upgrade(text, key, err);
	if (rc < 0)
		return rc;
	answer.protocol = find_header_value(text, "Sec-WebSocket-Protocol");
	if (!was_asked_for(protocols, answer.protocol)) {
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
