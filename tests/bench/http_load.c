/* Callers of an HTTP server whose answers end with "ok": opens CONNECTIONS, each of which gets an
 * answer, and then takes ANSWERS more, one request on each connection at a time.
 *
 *     http_load PORT CONNECTIONS ANSWERS
 *
 * Prints the nanoseconds that those took, and keeps the connections until standard input ends. */
#include "load.h"

#include <string.h>
#include <sys/epoll.h>

#define EVENTS 256

static const char request[] = "GET /ok HTTP/1.1\r\nHost: localhost\r\n\r\n";
static const char end_of_answer[] = "\r\n\r\nok\n";

static void ask(int fd)
{
	ssize_t len = (ssize_t) strlen(request);

	require(write(fd, request, strlen(request)) == len, "write");
}

/* An answer is small enough to come in one piece; what does not is read again. */
static bool takes_answer(int fd)
{
	const size_t len = strlen(end_of_answer);
	char bytes[4096];
	ssize_t got = read(fd, bytes, sizeof(bytes));

	require(got > 0, "read");
	return (size_t) got >= len && memcmp(bytes + got - len, end_of_answer, len) == 0;
}

/* Each has its answer before the next one comes, so that nobody waits in a queue of the kernel. */
static int open_all(int port, int *fds, long n_connections)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	for (long i = 0; i < n_connections; i++) {
		struct epoll_event event = {.events = EPOLLIN, .data.fd = connect_to(port)};

		fds[i] = event.data.fd;
		ask(fds[i]);
		while (!takes_answer(fds[i]))
			;
		require(epoll_ctl(epoll, EPOLL_CTL_ADD, fds[i], &event) == 0, "epoll_ctl");
	}
	return epoll;
}

static void take_answers(int epoll, const int *fds, long n_connections, long answers)
{
	struct epoll_event events[EVENTS];
	long n_asked = 0, n_answered = 0;

	for (; n_asked < n_connections && n_asked < answers; n_asked++)
		ask(fds[n_asked]);
	while (n_answered < answers) {
		int count = epoll_wait(epoll, events, EVENTS, -1);

		for (int i = 0; i < count; i++) {
			if (!takes_answer(events[i].data.fd))
				continue;
			n_answered++;
			if (n_asked++ < answers)
				ask(events[i].data.fd);
		}
	}
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	long n_connections = strtol(argv[2], NULL, 10);
	int *fds = calloc((size_t) n_connections, sizeof(*fds));

	require(fds != NULL, "calloc");
	int epoll = open_all((int) strtol(argv[1], NULL, 10), fds, n_connections);
	long long begin = now();

	take_answers(epoll, fds, n_connections, strtol(argv[3], NULL, 10));
	tell_and_wait(now() - begin);
	free(fds);
	return 0;
}
