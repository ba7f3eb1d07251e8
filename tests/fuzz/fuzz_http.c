/* Any bytes as what a caller sends to an HTTP server: each call that is handed on is answered or
 * told gone, once; what comes back is answers, one behind the other; a caller that sends no more is
 * let go, and the next one, which waits meanwhile because the server takes one alone, is served.
 *
 * The first byte says how the bytes are sent (enum manner), the path of a request what becomes of
 * it (take_call). */
#include "fuzz.h"

#include "base/mem.h"
#include "base/text.h"
#include "http/server.h"
#include "io/file.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define LARGE 100000
#define HEADER_LIMIT 1000
#define BODY_LIMIT 2000
#define TURNS 20 /* of the loop, in which all has happened that comes of some bytes */

enum manner {
	SIZE_OF_PIECES = 3, /* an index */
	KEEPS_ITS_SIDE_OPEN = 4,
	READS_NOTHING = 8,
	IS_THERE_WHEN_THE_SERVER_ENDS = 16,
	NAMES_THE_SERVER = 32, /* else any host will do */
};

struct trial {
	struct loop *loop;
	struct http_server *server;
	struct listening listening;
	int fd; /* the caller's end */
	bool is_closed; /* by the server */
	bool has_connect; /* among what it sends */
	struct text answers;
	struct http_call *held; /* to be answered, soon */
	struct text is_head; /* of each call that was handed on: '1' or '0' */
	size_t n_calls, n_answered, n_gone;
};

static void require(bool is_so)
{
	if (!is_so)
		abort();
}

/* The server's side. */

static void answer(struct trial *trial, struct http_call *call, const void *bytes, size_t len)
{
	trial->n_answered++;
	http_call_add_header(call, "X-Query", http_call_query(call) ? "yes" : "no");
	http_call_answer(call, 200, "text/plain", bytes, len);
}

static void on_gone(struct http_call *call, void *data)
{
	struct trial *trial = data;

	trial->n_gone++;
	if (trial->held == call)
		trial->held = NULL;
}

static void take_call(struct http_call *call, void *data)
{
	struct trial *trial = data;
	const char *path = http_call_path(call);
	static const char large[LARGE];
	size_t len;
	const void *body = http_call_body(call, &len);

	require(strlen(path) < HEADER_LIMIT && len <= BODY_LIMIT && (len == 0 || body));
	require(!http_call_header(call, "content-length") ||
		!http_call_header(call, "transfer-encoding"));
	trial->n_calls++;
	text_add_char(&trial->is_head, text_equals(http_call_method(call), "HEAD") ? '1' : '0');
	if (text_equals(path, "/hold")) {
		trial->held = call;
		http_call_hold(call, on_gone, trial);
	} else if (text_equals(path, "/keep")) {
		http_call_hold(call, on_gone, trial);
	} else if (text_equals(path, "/large")) {
		answer(trial, call, large, LARGE);
	} else if (text_equals(path, "/forget")) {
		trial->n_answered++; /* by the server itself */
	} else {
		answer(trial, call, body, len);
	}
}

/* A socket with a name of the kernel's choice: nothing of it is in the file system. */
static void serve(struct trial *trial, bool has_names)
{
	static const char *const hosts[] = {"localhost", NULL};
	const struct sockaddr_un any = {.sun_family = AF_UNIX};
	const struct http_server_settings settings = {
		.listening = &trial->listening,
		.hosts = has_names ? hosts : NULL,
		.header_limit = HEADER_LIMIT,
		.body_limit = BODY_LIMIT,
		.connection_limit = 1,
		.patience = 3600 * MSEC_PER_SECOND,
		.on_call = take_call,
		.data = trial,
	};

	signal(SIGPIPE, SIG_IGN);
	trial->listening.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	require(trial->listening.fd >= 0);
	require(bind(trial->listening.fd, (const struct sockaddr *) &any, sizeof(any.sun_family)) ==
		0);
	require(listen(trial->listening.fd, 10) == 0);
	require(loop_new(&trial->loop, NULL) == 0);
	require(http_server_new(trial->loop, &settings, &trial->server, NULL) == 0);
}

/* The caller's side. */

static int connect_to(const struct trial *trial)
{
	struct sockaddr_un address = {0};
	socklen_t len = sizeof(address);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	require(fd >= 0);
	require(getsockname(trial->listening.fd, (struct sockaddr *) &address, &len) == 0);
	require(connect(fd, (const struct sockaddr *) &address, len) == 0);
	return fd;
}

/* False: nothing came. */
static bool read_some(int fd, struct text *into, bool *ret_is_closed)
{
	char bytes[65536];
	ssize_t len = read(fd, bytes, sizeof(bytes));

	*ret_is_closed = len == 0 || (len < 0 && errno != EAGAIN);
	if (len > 0)
		text_add_bytes(into, bytes, (size_t) len);
	return len > 0;
}

/* Lets happen what happens, until nothing more comes. */
static void go_on(struct trial *trial, bool reads)
{
	for (int i = 0; i < TURNS; i++) {
		loop_run_ready(trial->loop);
		if (reads && !trial->is_closed &&
		    read_some(trial->fd, &trial->answers, &trial->is_closed))
			i = 0;
	}
}

static void release(struct trial *trial)
{
	struct http_call *held = trial->held;

	trial->held = NULL;
	if (held)
		answer(trial, held, "later", 5);
}

/* A server that holds a call or has closed the connection takes no more. */
static void send_all(struct trial *trial, const uint8_t *bytes, size_t len, size_t size, bool reads)
{
	for (size_t i = 0; i < len;) {
		ssize_t sent = send(trial->fd, bytes + i, len - i < size ? len - i : size, 0);

		if (sent > 0)
			i += (size_t) sent;
		else if (trial->held)
			release(trial);
		else
			return;
		if (size < len)
			go_on(trial, reads);
	}
}

/* What came back. */

static size_t length_of(const char *headers, size_t len)
{
	static const char name[] = "\r\nContent-Length: ";
	const char *found = memmem(headers, len, name, strlen(name));

	return found ? strtoul(found + strlen(name), NULL, 10) : SIZE_MAX;
}

/* Gives how long the answer is; what has no length goes on to the end, and so does what evhttp
 * refuses itself, in whatever version it was asked. */
static size_t check_answer(const char *bytes, size_t len, bool is_head, bool *ret_is_interim)
{
	const char *end = memmem(bytes, len, "\r\n\r\n", 4), *code = memchr(bytes, ' ', len);

	require(len > 7 && memcmp(bytes, "HTTP/", 5) == 0 && end && code && code < end);
	require(code[1] >= '1' && code[1] <= '5');
	if (memcmp(bytes, "HTTP/1.", 7) != 0) {
		require(code[1] != '2');
		*ret_is_interim = false;
		return len;
	}
	size_t head = (size_t) (end - bytes) + 4;

	*ret_is_interim = code[1] == '1';
	if (is_head || *ret_is_interim)
		return head;
	size_t body = length_of(bytes, head);

	require(body == SIZE_MAX || body <= len - head);
	return body == SIZE_MAX ? len : head + body;
}

/* Only for a caller that read all: each call has its answer, and behind them is at most one that
 * refuses what was no request. */
static void check_answers(const struct trial *trial)
{
	size_t n_answers = 0, at = 0;

	while (at < trial->answers.len) {
		bool is_head =
			n_answers < trial->is_head.len && trial->is_head.bytes[n_answers] == '1';
		bool is_interim;

		at += check_answer(trial->answers.bytes + at, trial->answers.len - at, is_head,
				   &is_interim);
		n_answers += !is_interim;
	}
	/* evhttp says that it closes behind a CONNECT, and reads on until it is given up. */
	if (trial->has_connect)
		return;
	require(n_answers <= trial->n_answered + 1);
	if (!strstr(text_of(&trial->answers), " 501 Not Implemented\r\n"))
		require(n_answers >= trial->n_answered);
}

static void check_next(struct trial *trial, int fd)
{
	static const char request[] =
		"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
	struct text came CLEANUP(text_done) = {0};
	bool is_closed = false;

	require(send(fd, request, strlen(request), 0) == (ssize_t) strlen(request));
	for (int i = 0; i < TURNS && !is_closed; i++) {
		loop_run_ready(trial->loop);
		read_some(fd, &came, &is_closed);
	}
	require(is_closed && text_starts_with(text_of(&came), "HTTP/1.1 200 "));
	go_on(trial, false);
	require(http_server_connections(trial->server) == 0);
}

static void call(struct trial *trial, const uint8_t *bytes, size_t len, int manner)
{
	static const size_t sizes[SIZE_OF_PIECES + 1] = {SIZE_MAX, 1, 7, 100};
	bool reads = !(manner & READS_NOTHING);

	trial->has_connect = memmem(bytes, len, "CONNECT", strlen("CONNECT"));
	send_all(trial, bytes, len, sizes[manner & SIZE_OF_PIECES], reads);
	go_on(trial, reads);
	while (trial->held) { /* and then the one behind it */
		release(trial);
		go_on(trial, reads);
	}
	if (!(manner & KEEPS_ITS_SIDE_OPEN)) {
		shutdown(trial->fd, SHUT_WR);
		go_on(trial, reads);
		require(trial->is_closed || !reads);
	}
	if (reads)
		check_answers(trial);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct trial trial = {0};

	if (len == 0)
		return 0;
	serve(&trial, bytes[0] & NAMES_THE_SERVER);
	trial.fd = connect_to(&trial);
	int next = connect_to(&trial);

	call(&trial, bytes + 1, len - 1, bytes[0]);
	if (!(bytes[0] & IS_THERE_WHEN_THE_SERVER_ENDS)) {
		file_close(&trial.fd);
		go_on(&trial, false);
		check_next(&trial, next);
	}
	http_server_free(trial.server);
	require(trial.n_answered + trial.n_gone == trial.n_calls);
	loop_free(trial.loop);
	if (trial.fd >= 0)
		file_close(&trial.fd);
	file_close(&next);
	file_close(&trial.listening.fd);
	text_done(&trial.answers);
	text_done(&trial.is_head);
	return 0;
}
