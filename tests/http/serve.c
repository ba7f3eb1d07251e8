/* An HTTP server on http/server.h that does what a test asks of it, until its standard input
 * ends.
 *
 *   http_serve ADDRESS HEADER_LIMIT BODY_LIMIT CONNECTION_LIMIT PATIENCE_SECONDS [CERTIFICATE KEY]
 *
 * Says "listening ADDRESS", "held", "gone" and "end PATH" on standard output. */
#include "base/mem.h"
#include "base/text.h"
#include "http/certificate.h"
#include "http/server.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HELD_MAX 20000
#define PIECE 50000

struct program {
	struct loop *loop;
	struct http_server *server;
	int n_pieces; /* that are left */
	struct http_call *held[HELD_MAX];
	size_t n_held;
};

static void say(const char *word)
{
	printf("%s\n", word);
	fflush(stdout);
}

static void answer(struct http_call *call, int status, const char *text)
{
	http_call_answer(call, status, "text/plain", text, strlen(text));
}

static void on_gone(struct http_call *call, void *data)
{
	struct program *program = data;

	for (size_t i = 0; i < program->n_held; i++)
		if (program->held[i] == call)
			program->held[i] = program->held[--program->n_held];
	say("gone");
}

static void release(struct program *program)
{
	while (program->n_held)
		answer(program->held[--program->n_held], 200, "released\n");
}

static void describe(struct http_call *call)
{
	const char *query = http_call_query(call), *header = http_call_header(call, "x-one");
	char *text CLEANUP(mem_free_text) =
		mem_format("%s %s %s %s\n", http_call_method(call), http_call_path(call),
			   query ? query : "-", header ? header : "-");

	http_call_add_header(call, "X-Two", "2");
	answer(call, 200, text);
}

/* An answer in pieces, the next one when the caller has taken those before it. */

static void on_pieces_gone(struct http_call *call, void *data)
{
	(void) call;
	(void) data;
	say("gone");
}

static void on_pieces_taken(struct http_call *call, void *data)
{
	struct program *program = data;
	char piece[PIECE];

	if (program->n_pieces-- == 0) {
		http_call_end(call);
		return;
	}
	memset(piece, 'a' + program->n_pieces % 26, sizeof(piece));
	http_call_send(call, piece, sizeof(piece));
}

static void begin_pieces(struct http_call *call, struct program *program)
{
	program->n_pieces = atoi(http_call_query(call));
	http_call_hold(call, on_pieces_gone, program);
	http_call_begin(call, 200, "text/plain", on_pieces_taken);
	on_pieces_taken(call, program);
}

static void tell_connections(struct http_call *call, const struct program *program)
{
	char *text CLEANUP(mem_free_text) =
		mem_format("%zu %zu\n", http_server_connections(program->server), program->n_held);

	answer(call, 200, text);
}

static void on_call(struct http_call *call, void *data)
{
	struct program *program = data;
	const char *path = http_call_path(call);
	size_t len;

	if (text_equals(path, "/report")) {
		http_call_report_end(call);
		answer(call, 200, "ok\n");
	} else if (text_equals(path, "/pieces")) {
		begin_pieces(call, program);
	} else if (text_equals(path, "/ok")) {
		answer(call, 200, "ok\n");
	} else if (text_equals(path, "/echo")) {
		const void *body = http_call_body(call, &len);

		http_call_answer(call, 200, "application/octet-stream", body, len);
	} else if (text_equals(path, "/large")) {
		char *large CLEANUP(mem_free_text) = mem_new(64 << 20);

		http_call_answer(call, 200, "application/octet-stream", large, 64 << 20);
	} else if (text_equals(path, "/hold")) {
		http_call_hold(call, on_gone, program);
		program->held[program->n_held++] = call;
		say("held");
	} else if (text_equals(path, "/release")) {
		release(program);
		answer(call, 200, "ok\n");
	} else if (text_equals(path, "/connections")) {
		tell_connections(call, program);
	} else if (!text_equals(path, "/forget")) {
		describe(call);
	}
}

static void on_end(const char *path, void *data)
{
	(void) data;
	printf("end %s\n", path);
	fflush(stdout);
}

static void on_input(void *data)
{
	struct program *program = data;
	char byte;

	if (read(STDIN_FILENO, &byte, 1) <= 0)
		loop_stop(program->loop);
}

static int fail(const struct err *err)
{
	fprintf(stderr, "%s\n", err->text);
	return 1;
}

static size_t number(const char *text)
{
	int64_t value;

	if (text_read_int(text, 1, INT32_MAX, &value, NULL) < 0)
		abort();
	return (size_t) value;
}

static int serve(struct program *program, char **words, struct http_tls *tls, struct err *err)
{
	struct listening listening CLEANUP(listening_done) = {.fd = -1};
	const struct http_server_settings settings = {
		.listening = &listening,
		.tls = tls,
		.header_limit = number(words[1]),
		.body_limit = number(words[2]),
		.connection_limit = number(words[3]),
		.patience = (msec) number(words[4]) * MSEC_PER_SECOND,
		.on_call = on_call,
		.on_end = on_end,
		.data = program,
	};
	int rc = listening_open(words[0], &listening, err);

	if (rc == 0)
		rc = http_server_new(program->loop, &settings, &program->server, err);
	if (rc < 0)
		return rc;
	struct loop_watch *input =
		loop_watch_readable(program->loop, STDIN_FILENO, on_input, program);

	printf("listening %s\n", listening.address);
	fflush(stdout);
	loop_run(program->loop);
	loop_watch_free(input);
	http_server_free(program->server);
	listening_remove(&listening);
	return 0;
}

int main(int argc, char **argv)
{
	static struct program program;
	struct http_tls *tls = NULL;
	struct err err = {0};

	signal(SIGPIPE, SIG_IGN);
	if (argc != 6 && argc != 8)
		return 2;
	int rc = argc == 8 ? http_tls_new(argv[6], argv[7], &tls, &err) : 0;

	if (rc == 0)
		rc = loop_new(&program.loop, &err);
	if (rc == 0)
		rc = serve(&program, argv + 1, tls, &err);
	loop_free(program.loop);
	http_tls_free(tls);
	return rc < 0 ? fail(&err) : 0;
}
