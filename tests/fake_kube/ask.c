/* Makes requests through http/client and prints what comes of them, for tests of that client:
 *
 *     ask [OPTIONS] URL…
 *
 * All URLs are asked at once, or one after the other with --in-turn. Each line of the output is a
 * JSON object: {"bytes": …} of a stream, then {"status", "version", "body", "retryAfter",
 * "headers"} or {"code", "error"} at its end, all with the index of the URL. */
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "http/client.h"
#include "tool.h"

#include <getopt.h>
#include <stdio.h>

#define MOST_HEADERS 32

struct asker {
	struct loop *loop;
	struct http_client *client;
	struct http_request request; /* all but the URL */
	struct http_trust trust;
	char *authority, *certificate, *key; /* what it points to */
	const char *headers[MOST_HEADERS + 1];
	size_t n_headers;
	const char *shown_header; /* NULL: none */
	bool is_stream, is_in_turn;
	int64_t cancel_after; /* pieces of a stream; 0: never */
	char **urls;
	size_t n_urls, n_started, n_ended;
};

/* One call. */
struct question {
	struct asker *asker;
	size_t index;
	struct http_call *call;
	int64_t n_pieces;
};

static void ask_next(struct asker *asker);

static void print(const struct question *question, struct json *take_object)
{
	json_set_integer(take_object, "index", (int64_t) question->index);
	tool_print(take_object);
}

static void end_question(struct question *question)
{
	struct asker *asker = question->asker;

	free(question);
	asker->n_ended++;
	if (asker->is_in_turn && asker->n_started < asker->n_urls)
		ask_next(asker);
	if (asker->n_ended == asker->n_urls)
		loop_stop(asker->loop);
}

static void add_headers(struct json *object, const struct http_answer *answer, const char *name)
{
	const char *value;

	if (!name)
		return;
	struct json *values = json_new_array();

	for (size_t i = 0; (value = http_answer_header(answer, name, i)); i++)
		json_append(values, json_new_string(value));
	json_set(object, "headers", values);
}

static void finish(const struct http_answer *answer, const struct err *err, void *data)
{
	struct question *question = data;
	struct json *object = json_new_object();

	if (err) {
		json_set_integer(object, "code", err->code);
		json_set_string(object, "error", err->text);
	} else {
		json_set_integer(object, "status", answer->status);
		json_set_integer(object, "version", answer->version);
		json_set_integer(object, "retryAfter", answer->retry_after);
		json_set_integer(object, "size", (int64_t) answer->body_len);
		json_set_string(object, "body", answer->body);
		add_headers(object, answer, question->asker->shown_header);
	}
	print(question, object);
	end_question(question);
}

static void take_piece(const char *bytes, size_t len, void *data)
{
	struct question *question = data;
	const struct asker *asker = question->asker;
	char *piece CLEANUP(mem_free_text) = mem_copy_bytes(bytes, len);
	struct json *object = json_new_object();

	json_set_string(object, "bytes", piece);
	json_set_integer(object, "size", (int64_t) len);
	print(question, object);
	question->n_pieces++;
	if (question->n_pieces == asker->cancel_after) {
		http_call_cancel(question->call);
		end_question(question);
	}
}

static void ask_next(struct asker *asker)
{
	struct question *question = mem_new(sizeof(*question));
	struct http_request request = asker->request;

	question->asker = asker;
	question->index = asker->n_started++;
	request.url = asker->urls[question->index];
	request.headers = asker->headers;
	request.on_bytes = asker->is_stream ? take_piece : NULL;
	request.on_done = finish;
	request.data = question;
	question->call = http_call_new(asker->client, &request);
}

static int64_t number_of(const char *text)
{
	int64_t number = 0;

	if (text_read_int(text, 0, INT64_MAX, &number, NULL) < 0)
		exit(2);
	return number;
}

enum {
	OPTION_METHOD = 1,
	OPTION_BODY,
	OPTION_HEADER,
	OPTION_SHOW_HEADER,
	OPTION_AUTHORITY,
	OPTION_CERTIFICATE,
	OPTION_KEY,
	OPTION_SERVER_NAME,
	OPTION_SKIP_VERIFY,
	OPTION_PROXY,
	OPTION_COMPRESSED,
	OPTION_STREAM,
	OPTION_IN_TURN,
	OPTION_CANCEL_AFTER,
	OPTION_LIMIT,
	OPTION_CONNECT_TIMEOUT,
	OPTION_TIMEOUT,
	OPTION_SILENCE,
};

static const struct option rows[] = {
	{"method", required_argument, NULL, OPTION_METHOD},
	{"body", required_argument, NULL, OPTION_BODY},
	{"header", required_argument, NULL, OPTION_HEADER},
	{"show-header", required_argument, NULL, OPTION_SHOW_HEADER},
	{"authority", required_argument, NULL, OPTION_AUTHORITY},
	{"certificate", required_argument, NULL, OPTION_CERTIFICATE},
	{"key", required_argument, NULL, OPTION_KEY},
	{"server-name", required_argument, NULL, OPTION_SERVER_NAME},
	{"skip-verify", no_argument, NULL, OPTION_SKIP_VERIFY},
	{"proxy", required_argument, NULL, OPTION_PROXY},
	{"compressed", no_argument, NULL, OPTION_COMPRESSED},
	{"stream", no_argument, NULL, OPTION_STREAM},
	{"in-turn", no_argument, NULL, OPTION_IN_TURN},
	{"cancel-after", required_argument, NULL, OPTION_CANCEL_AFTER},
	{"limit", required_argument, NULL, OPTION_LIMIT},
	{"connect-timeout", required_argument, NULL, OPTION_CONNECT_TIMEOUT},
	{"timeout", required_argument, NULL, OPTION_TIMEOUT},
	{"silence", required_argument, NULL, OPTION_SILENCE},
	{NULL, 0, NULL, 0},
};

static void take_option(struct asker *asker, int which, char *value)
{
	struct http_request *request = &asker->request;

	if (which == OPTION_METHOD)
		request->method = value;
	else if (which == OPTION_BODY)
		request->body = value;
	else if (which == OPTION_HEADER && asker->n_headers < MOST_HEADERS)
		asker->headers[asker->n_headers++] = value;
	else if (which == OPTION_SHOW_HEADER)
		asker->shown_header = value;
	else if (which == OPTION_AUTHORITY)
		asker->trust.authority = asker->authority = tool_content_of(value);
	else if (which == OPTION_CERTIFICATE)
		asker->trust.client_certificate = asker->certificate = tool_content_of(value);
	else if (which == OPTION_KEY)
		asker->trust.client_key = asker->key = tool_content_of(value);
	else if (which == OPTION_SERVER_NAME)
		asker->trust.server_name = value;
	else if (which == OPTION_SKIP_VERIFY)
		asker->trust.skips_verify = true;
	else if (which == OPTION_PROXY)
		request->proxy = value;
	else if (which == OPTION_COMPRESSED)
		request->takes_compressed = true;
	else if (which == OPTION_STREAM)
		asker->is_stream = true;
	else if (which == OPTION_IN_TURN)
		asker->is_in_turn = true;
	else if (which == OPTION_CANCEL_AFTER)
		asker->cancel_after = number_of(value);
	else if (which == OPTION_LIMIT)
		request->limit = (size_t) number_of(value);
	else if (which == OPTION_CONNECT_TIMEOUT)
		request->connect_timeout = number_of(value);
	else if (which == OPTION_TIMEOUT)
		request->timeout = number_of(value);
	else if (which == OPTION_SILENCE)
		request->output_idle = number_of(value);
	else
		exit(2);
}

static void ask_all(struct asker *asker)
{
	asker->request.body_len = asker->request.body ? strlen(asker->request.body) : 0;
	asker->request.trust = http_trust_new(&asker->trust);
	while (asker->n_started < (asker->is_in_turn ? 1 : asker->n_urls))
		ask_next(asker);
	loop_run(asker->loop);
	http_trust_free(asker->request.trust);
	free(asker->authority);
	free(asker->certificate);
	free(asker->key);
}

int main(int argc, char **argv)
{
	struct asker asker = {.request = {.method = "GET"}};
	struct err err = {0};

	for (int which; (which = getopt_long(argc, argv, "", rows, NULL)) != -1;)
		take_option(&asker, which, optarg);
	asker.urls = argv + optind;
	asker.n_urls = (size_t) (argc - optind);
	if (!asker.n_urls)
		return 2;
	if (loop_new(&asker.loop, &err) < 0 ||
	    http_client_new(asker.loop, "muster/test (linux)", &asker.client, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	ask_all(&asker);
	http_client_free(asker.client);
	loop_free(asker.loop);
	return 0;
}
