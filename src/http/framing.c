#include "http/framing.h"

#include "base/mem.h"
#include "base/names.h"
#include "base/text.h"

#include <event2/buffer.h>
#include <strings.h>

enum framing_stage {
	FRAMING_HEAD,
	FRAMING_BODY,
	FRAMING_REJECTED_BODY, /* dropped */
	FRAMING_REJECTED, /* all else is dropped, until the connection is closed */
};

struct http_framing {
	struct http_framing_rules *rules;
	struct evbuffer *input;
	enum framing_stage stage;
	struct text head; /* so far */
	size_t line_start; /* in it, of its last line */
	size_t n_counted; /* of its bytes, in n_kept */
	size_t n_passed, left; /* bytes of the body */
	bool is_changing; /* the input, itself */
	bool is_listed; /* among those with an incomplete head */
	TAILQ_ENTRY(http_framing) next;
};

/* A header's value in a head, without the spaces around it. */
struct header_value {
	const char *bytes;
	size_t len;
	int n_headers; /* with that name; 0: none, and no value */
};

/* As evhttp reads it: the first of that name, and a space before the colon is part of the name. */
static struct header_value find_header(const char *head, const char *name)
{
	struct header_value found = {0};
	size_t len = strlen(name);

	for (const char *line = head; (line = strchr(line, '\n')) != NULL;) {
		line++;
		if (strncasecmp(line, name, len) != 0 || line[len] != ':' || found.n_headers++)
			continue;
		found.bytes = line + len + 1 + strspn(line + len + 1, " ");
		found.len = strcspn(found.bytes, "\n");
		if (found.len > 0 && found.bytes[found.len - 1] == '\r')
			found.len--;
		while (found.len > 0 && strchr(" \t", found.bytes[found.len - 1]))
			found.len--;
	}
	return found;
}

static char *copy_header(const char *head, const char *name)
{
	struct header_value value = find_header(head, name);

	return value.n_headers ? mem_copy_bytes(value.bytes, value.len) : NULL;
}

static bool gives_secret(const char *head, const struct http_access *access)
{
	if (!access)
		return true;
	char *authorization CLEANUP(mem_free_secret) = copy_header(head, "Authorization");
	char *own CLEANUP(mem_free_secret) =
		access->header ? copy_header(head, access->header) : NULL;

	return http_access_accepts(access, authorization, own);
}

/* False: others could read another length. A number above every limit is only large. */
static bool read_length(const struct header_value *header, size_t *ret_len)
{
	if (header->n_headers == 0)
		return true;
	if (header->n_headers > 1 || header->len == 0 ||
	    strspn(header->bytes, NAME_DIGITS) != header->len)
		return false;
	*ret_len = strtoull(header->bytes, NULL, 10);
	return true;
}

/* Of these methods evhttp reads a body; that of another would become the next request. */
static bool may_have_body(const char *head)
{
	static const char *const methods[] = {"GET ",    "POST ",  "PUT ",
					      "DELETE ", "PATCH ", "OPTIONS "};

	for (size_t i = 0; i < ARRAY_LEN(methods); i++)
		if (text_starts_with(head, methods[i]))
			return true;
	return false;
}

static void count_kept(struct http_framing *framing, size_t len)
{
	framing->rules->n_kept += len - framing->n_counted;
	framing->n_counted = len;
}

static void end_head(struct http_framing *framing)
{
	struct text *head = &framing->head;

	if (framing->is_listed)
		TAILQ_REMOVE(&framing->rules->incomplete, framing, next);
	framing->is_listed = false;
	if (head->bytes)
		explicit_bzero(head->bytes, head->len);
	text_done(head);
	framing->line_start = 0;
	count_kept(framing, 0);
}

static void reject(struct http_framing *framing, const char *instead)
{
	evbuffer_add(framing->input, instead, strlen(instead));
	framing->stage = FRAMING_REJECTED;
	end_head(framing);
}

static void reject_as_bad(struct http_framing *framing)
{
	reject(framing, "-\r\n\r\n");
}

/* The body follows, is dropped, or is too long, which evhttp answers. */
static void expect_body(struct http_framing *framing, const struct header_value *header, size_t len)
{
	bool is_accepted = len == 0 || gives_secret(framing->head.bytes, framing->rules->access);

	framing->n_passed = 0;
	framing->left = len;
	if (len == 0) {
		framing->stage = FRAMING_HEAD;
	} else if (len > framing->rules->body_limit) {
		framing->stage = FRAMING_REJECTED;
	} else if (is_accepted) {
		framing->stage = FRAMING_BODY;
	} else {
		framing->stage = FRAMING_REJECTED_BODY;
		memset(framing->head.bytes + (header->bytes - framing->head.bytes), '0',
		       header->len);
	}
}

static void pass_head(struct http_framing *framing)
{
	struct text *head = &framing->head;
	size_t len = 0;

	const struct header_value length = find_header(head->bytes, "Content-Length");

	if (!read_length(&length, &len) || (len > 0 && !may_have_body(head->bytes))) {
		reject_as_bad(framing);
	} else if (find_header(head->bytes, "Transfer-Encoding").n_headers) {
		reject(framing,
		       "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: -\r\n\r\n");
	} else {
		expect_body(framing, &length, len);
		evbuffer_add(framing->input, head->bytes, head->len);
		end_head(framing);
	}
}

/* Takes bytes up to the end of a line, and passes the head if it is complete. */
static void take_line(struct http_framing *framing, struct evbuffer *fresh)
{
	struct text *head = &framing->head;
	const char *bytes = (const char *) evbuffer_pullup(fresh, -1);
	size_t len = evbuffer_get_length(fresh);
	const char *feed = memchr(bytes, '\n', len);
	size_t n_taken = feed ? (size_t) (feed - bytes) + 1 : len;
	bool has_nul = memchr(bytes, '\0', n_taken); /* for example, a client that begins TLS */

	text_add_bytes(head, bytes, n_taken);
	evbuffer_drain(fresh, n_taken);
	if (has_nul || head->len > framing->rules->header_limit) {
		reject_as_bad(framing);
		return;
	}
	if (!feed)
		return;
	const char *line = head->bytes + framing->line_start;
	size_t line_len = head->len - framing->line_start;

	framing->line_start = head->len;
	/* Others may take an LF without CR for a part of its line, and a line that begins with a
	 * blank for the end of the line before it (RFC 9112, 2.2 and 5.2). */
	if (line_len < 2 || line[line_len - 2] != '\r' || *line == ' ' || *line == '\t')
		reject_as_bad(framing);
	else if (line_len == 2)
		pass_head(framing);
}

static void take_body(struct http_framing *framing, struct evbuffer *fresh)
{
	size_t len = evbuffer_get_length(fresh);
	size_t n_taken = len < framing->left ? len : framing->left;

	if (framing->stage == FRAMING_BODY)
		framing->n_passed +=
			(size_t) evbuffer_remove_buffer(fresh, framing->input, n_taken);
	else
		evbuffer_drain(fresh, n_taken);
	framing->left -= n_taken;
	if (framing->left == 0) {
		framing->stage = FRAMING_HEAD;
		framing->n_passed = 0;
	}
}

/* Bodies have shown the secret; a new one waits for its turn. */
static void make_room(struct http_framing *framing)
{
	struct http_framing_rules *rules = framing->rules;
	struct http_framing *oldest;

	/* Without an answer: evhttp learns of none until more bytes come, which are dropped. */
	while (rules->n_kept > rules->kept_limit && (oldest = TAILQ_FIRST(&rules->incomplete)) &&
	       oldest != framing) {
		oldest->stage = FRAMING_REJECTED;
		end_head(oldest);
	}
	if (rules->n_kept <= rules->kept_limit)
		return;
	if (framing->head.len)
		reject_as_bad(framing);
	else if (framing->n_passed)
		framing->stage = FRAMING_REJECTED;
}

static void take(struct http_framing *framing, struct evbuffer *fresh)
{
	while (evbuffer_get_length(fresh))
		switch (framing->stage) {
		case FRAMING_HEAD:
			take_line(framing, fresh);
			break;
		case FRAMING_BODY:
		case FRAMING_REJECTED_BODY:
			take_body(framing, fresh);
			break;
		case FRAMING_REJECTED:
			evbuffer_drain(fresh, evbuffer_get_length(fresh));
			break;
		}
	count_kept(framing, framing->head.len + framing->n_passed);
	if (framing->head.len && !framing->is_listed) {
		TAILQ_INSERT_TAIL(&framing->rules->incomplete, framing, next);
		framing->is_listed = true;
	}
	make_room(framing);
}

/* The new bytes are the last ones of the input. */
static void on_input(struct evbuffer *input, const struct evbuffer_cb_info *info, void *data)
{
	struct http_framing *framing = data;

	if (framing->is_changing || info->n_added == 0)
		return;
	struct evbuffer *passed = evbuffer_new(), *fresh = evbuffer_new();

	if (!passed || !fresh)
		mem_abort();
	framing->is_changing = true;
	evbuffer_remove_buffer(input, passed, evbuffer_get_length(input) - info->n_added);
	evbuffer_add_buffer(fresh, input);
	evbuffer_add_buffer(input, passed);
	take(framing, fresh);
	framing->is_changing = false;
	evbuffer_free(passed);
	evbuffer_free(fresh);
}

struct http_framing *http_framing_new(struct http_framing_rules *rules, struct evbuffer *input)
{
	struct http_framing *framing = mem_new(sizeof(*framing));

	framing->rules = rules;
	framing->input = input;
	if (!evbuffer_add_cb(input, on_input, framing))
		mem_abort();
	return framing;
}

void http_framing_free(struct http_framing *framing)
{
	if (!framing)
		return;
	evbuffer_remove_cb(framing->input, on_input, framing);
	end_head(framing);
	free(framing);
}
