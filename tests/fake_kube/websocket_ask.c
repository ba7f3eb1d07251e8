/* Speaks over http/websocket and prints what comes of it, for tests of that client:
 *
 *     websocket_ask [OPTIONS] URL
 *
 * Each line of the output is a JSON object: {"protocol"} when it is open, {"message"} or, from 1000
 * bytes on, {"length"}, and at the end {"status", "body", "close"} with {"code", "error"} if there
 * is one. */
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "http/websocket.h"
#include "tool.h"

#include <getopt.h>
#include <signal.h>
#include <stdio.h>

#define MOST_TEXTS 16
#define SHOWN_SIZE 1000
#define FILLER_SIZE 65536

struct speaker {
	struct loop *loop;
	struct websocket *websocket;
	struct loop_watch *resume; /* a timer */
	const char *protocols[MOST_TEXTS + 1], *headers[MOST_TEXTS + 1], *texts[MOST_TEXTS + 1];
	size_t n_protocols, n_headers, n_texts;
	int64_t limit, output_idle, timeout, pause; /* milliseconds; bytes */
	int64_t filler; /* bytes to send besides, as room allows */
	int64_t close_after, cancel_after; /* messages; -1: never */
	int64_t n_messages;
	char *authority;
	struct http_trust trust;
};

static void leave(struct speaker *speaker)
{
	if (speaker->n_messages == speaker->cancel_after) {
		websocket_cancel(TAKE(speaker->websocket));
		loop_stop(speaker->loop);
	} else if (speaker->n_messages == speaker->close_after && !speaker->filler) {
		websocket_close(speaker->websocket);
	}
}

static void send_filler(void *data)
{
	static const char bytes[FILLER_SIZE];
	struct speaker *speaker = data;

	if (!speaker->filler)
		return;
	while (speaker->filler && websocket_has_room(speaker->websocket)) {
		size_t len = speaker->filler < FILLER_SIZE ? (size_t) speaker->filler : FILLER_SIZE;

		websocket_send(speaker->websocket, bytes, len);
		speaker->filler -= (int64_t) len;
	}
	leave(speaker);
}

static void open_it(struct websocket *websocket, const char *protocol, void *data)
{
	struct speaker *speaker = data;
	struct json *object = json_new_object();

	(void) websocket;
	json_set(object, "protocol", json_new_string(protocol));
	tool_print(object);
	for (size_t i = 0; i < speaker->n_texts; i++)
		websocket_send(speaker->websocket, speaker->texts[i], strlen(speaker->texts[i]));
	if (speaker->filler)
		send_filler(speaker);
	else
		leave(speaker);
}

static void resume(void *data)
{
	const struct speaker *speaker = data;

	websocket_resume(speaker->websocket);
}

static void take_message(const char *bytes, size_t len, void *data)
{
	struct speaker *speaker = data;
	struct json *object = json_new_object();
	char *text CLEANUP(mem_free_text) = mem_copy_bytes(bytes, len);

	if (len < SHOWN_SIZE)
		json_set_string(object, "message", text);
	else
		json_set_integer(object, "length", (int64_t) len);
	tool_print(object);
	speaker->n_messages++;
	leave(speaker);
	if (speaker->pause && speaker->websocket) {
		websocket_pause(speaker->websocket);
		loop_timer_arm_after(speaker->resume, speaker->pause);
	}
}

static void end(const struct websocket_end *ended, const struct err *err, void *data)
{
	struct speaker *speaker = data;
	struct json *object = json_new_object();

	json_set_integer(object, "status", ended->status);
	json_set_string(object, "body", ended->body);
	json_set_integer(object, "close", ended->code);
	if (err) {
		json_set_integer(object, "code", err->code);
		json_set_string(object, "error", err->text);
	}
	tool_print(object);
	speaker->websocket = NULL;
	loop_stop(speaker->loop);
}

static void read_number(const char *text, int64_t *ret_number)
{
	if (text_read_int(text, 0, INT32_MAX, ret_number, NULL) < 0)
		exit(2);
}

static void add_text(const char **texts, size_t *count, const char *text)
{
	if (*count == MOST_TEXTS)
		exit(2);
	texts[(*count)++] = text;
}

static void read_option(struct speaker *speaker, int option)
{
	switch (option) {
	case 'p':
		add_text(speaker->protocols, &speaker->n_protocols, optarg);
		return;
	case 'h':
		add_text(speaker->headers, &speaker->n_headers, optarg);
		return;
	case 's':
		add_text(speaker->texts, &speaker->n_texts, optarg);
		return;
	case 'a':
		speaker->trust.authority = speaker->authority = tool_content_of(optarg);
		return;
	case 'f':
		read_number(optarg, &speaker->filler);
		return;
	case 'l':
		read_number(optarg, &speaker->limit);
		return;
	case 'q':
		read_number(optarg, &speaker->output_idle);
		return;
	case 't':
		read_number(optarg, &speaker->timeout);
		return;
	case 'w':
		read_number(optarg, &speaker->pause);
		return;
	case 'c':
		read_number(optarg, &speaker->close_after);
		return;
	case 'x':
		read_number(optarg, &speaker->cancel_after);
		return;
	default:
		exit(2);
	}
}

static void read_options(struct speaker *speaker, int argc, char **argv)
{
	static const struct option options[] = {
		{"protocol", required_argument, NULL, 'p'},
		{"header", required_argument, NULL, 'h'},
		{"send", required_argument, NULL, 's'},
		{"authority", required_argument, NULL, 'a'},
		{"send-bytes", required_argument, NULL, 'f'},
		{"limit", required_argument, NULL, 'l'},
		{"silence", required_argument, NULL, 'q'},
		{"timeout", required_argument, NULL, 't'},
		{"pause", required_argument, NULL, 'w'},
		{"close-after", required_argument, NULL, 'c'},
		{"cancel-after", required_argument, NULL, 'x'},
		{NULL, 0, NULL, 0},
	};

	for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;)
		read_option(speaker, option);
	if (optind + 1 != argc)
		exit(2);
}

static void speak(struct speaker *speaker, const char *url)
{
	struct http_trust *trust = http_trust_new(&speaker->trust);
	const struct websocket_request request = {
		.http = {.url = url,
			 .headers = speaker->headers,
			 .trust = trust,
			 .timeout = speaker->timeout,
			 .output_idle = speaker->output_idle},
		.user_agent = "muster/test (linux)",
		.protocols = speaker->protocols,
		.limit = (size_t) speaker->limit,
		.on_open = open_it,
		.on_message = take_message,
		.on_room = send_filler,
		.on_end = end,
		.data = speaker,
		.end_data = speaker,
	};

	speaker->websocket = websocket_new(speaker->loop, &request);
	http_trust_free(trust);
	loop_run(speaker->loop);
	websocket_cancel(speaker->websocket);
}

int main(int argc, char **argv)
{
	struct speaker speaker = {.close_after = -1, .cancel_after = -1};
	struct err err;

	signal(SIGPIPE, SIG_IGN);
	read_options(&speaker, argc, argv);
	if (loop_new(&speaker.loop, &err) < 0)
		return 1;
	speaker.resume = loop_new_timer(speaker.loop, resume, &speaker);
	speak(&speaker, argv[optind]);
	loop_watch_free(speaker.resume);
	loop_free(speaker.loop);
	free(speaker.authority);
	return 0;
}
