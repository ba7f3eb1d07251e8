/* The peer of http/server in the benchmarks: evhttp with its own defaults and nothing around it,
 * which answers "ok" to everything. Says "listening ADDRESS"; ends when standard input does. */
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static void answer(struct evhttp_request *request, void *data)
{
	(void) data;
	evhttp_add_header(evhttp_request_get_output_headers(request), "Content-Type", "text/plain");
	evbuffer_add(evhttp_request_get_output_buffer(request), "ok\n", 3);
	evhttp_send_reply(request, HTTP_OK, NULL, NULL);
}

static void on_input(evutil_socket_t fd, short what, void *data)
{
	char byte;

	(void) what;
	if (read(fd, &byte, 1) <= 0)
		event_base_loopbreak(data);
}

static int port_of(evutil_socket_t fd)
{
	struct sockaddr_in address = {0};
	socklen_t len = sizeof(address);

	getsockname(fd, (struct sockaddr *) &address, &len);
	return ntohs(address.sin_port);
}

int main(void)
{
	struct event_base *base = event_base_new();
	struct evhttp *http = evhttp_new(base);
	struct event *input = event_new(base, STDIN_FILENO, EV_READ | EV_PERSIST, on_input, base);
	struct evhttp_bound_socket *bound = evhttp_bind_socket_with_handle(http, "127.0.0.1", 0);

	signal(SIGPIPE, SIG_IGN);
	if (!bound)
		return 1;
	evhttp_set_gencb(http, answer, NULL);
	event_add(input, NULL);
	printf("listening 127.0.0.1:%d\n", port_of(evhttp_bound_socket_get_fd(bound)));
	fflush(stdout);
	event_base_dispatch(base);
	event_free(input);
	evhttp_free(http);
	event_base_free(base);
	return 0;
}
