/* Agents of elastic jobs, as an orchestrator sees them: JOBS jobs of MEMBERS machines each, a
 * connection for each machine, all of which ask until they have their world.
 *
 *     elastic_load PORT TOKEN JOBS MEMBERS
 *
 * Prints the nanoseconds from the first connection until the last machine has its world, and keeps
 * the connections until standard input ends. */
#include "load.h"

#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#define EVENTS 256
#define CHUNK 65536

struct machine {
	int fd, job, number;
	char *answer; /* what has come of it */
	size_t len;
	bool has_world;
};

static char token[65]; /* of the file TOKEN */

static void ask(const struct machine *machine, int n_members)
{
	char body[1024], request[2048];
	int body_len = snprintf(
		body, sizeof(body),
		"{\"uid\":\"\",\"min\":%d,\"max\":%d,\"unit\":1,\"joinTime\":600000,"
		"\"lastCall\":1000,\"maxRestarts\":0,\"offer\":{\"host\":\"h\",\"ports\":["
		"20000,20001,20002,20003,20004,20005,20006,20007]},\"nodeRank\":0,"
		"\"generation\":0,\"activity\":\"idle\",\"drains\":false,\"hasLeft\":false,"
		"\"known\":{\"order\":\"wait\",\"generation\":0,\"reason\":\"first\","
		"\"verdict\":\"open\"},\"world\":0,\"knownFailure\":0}",
		n_members, n_members);
	int len = snprintf(request, sizeof(request),
			   "POST /v1/jobs/job-%d/members/machine-%d HTTP/1.1\r\nHost: localhost\r\n"
			   "Authorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s",
			   machine->job, machine->number, token, body_len, body);

	require(write(machine->fd, request, (size_t) len) == len, "write");
}

/* Where the body begins, and how long the whole answer is; NULL: its head has not come. */
static const char *find_body(const struct machine *machine, size_t *ret_len)
{
	const char *end = strstr(machine->answer, "\r\n\r\n");
	const char *length = strstr(machine->answer, "Content-Length: ");

	if (!end || !length || length > end)
		return NULL;
	*ret_len = (size_t) (end + 4 - machine->answer) +
		   strtoul(length + strlen("Content-Length: "), NULL, 10);
	return end + 4;
}

/* Asks again where the answer is to wait. True when it has its world now. */
static bool take_answer(struct machine *machine, int n_members)
{
	size_t len = 0;

	machine->answer = realloc(machine->answer, machine->len + CHUNK + 1);
	require(machine->answer != NULL, "realloc");
	ssize_t got = read(machine->fd, machine->answer + machine->len, CHUNK);

	require(got > 0, "read");
	machine->len += (size_t) got;
	machine->answer[machine->len] = '\0';
	const char *body = find_body(machine, &len);

	if (!body || machine->len < len)
		return false;
	machine->has_world = strstr(body, "\"order\":\"run\"") != NULL;
	machine->len = 0;
	free(machine->answer);
	machine->answer = NULL;
	if (!machine->has_world)
		ask(machine, n_members);
	return machine->has_world;
}

/* Gives how many have their world now. */
static int take_answers(int epoll, int timeout, int n_members)
{
	struct epoll_event events[EVENTS];
	int count = epoll_wait(epoll, events, EVENTS, timeout), n_done = 0;

	for (int i = 0; i < count; i++)
		n_done += take_answer(events[i].data.ptr, n_members);
	return n_done;
}

static void meet(int port, struct machine *machines, int n_machines, int n_members)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC), n_done = 0;

	for (int i = 0; i < n_machines; i++) {
		struct machine *machine = &machines[i];
		struct epoll_event event = {.events = EPOLLIN, .data.ptr = machine};

		*machine = (struct machine){.job = i / n_members, .number = i % n_members};
		machine->fd = connect_to(port);
		require(epoll_ctl(epoll, EPOLL_CTL_ADD, machine->fd, &event) == 0, "epoll_ctl");
		ask(machine, n_members);
		n_done += take_answers(epoll, 0, n_members);
	}
	while (n_done < n_machines)
		n_done += take_answers(epoll, -1, n_members);
	close(epoll);
}

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	int n_members = atoi(argv[4]), n_machines = atoi(argv[3]) * n_members;
	FILE *file = fopen(argv[2], "re");

	require(file && fscanf(file, "%64[0-9a-f]", token) == 1, "read the token");
	fclose(file);
	struct machine *machines = calloc((size_t) n_machines, sizeof(*machines));

	require(machines != NULL, "calloc");
	long long begin = now();

	meet(atoi(argv[1]), machines, n_machines, n_members);
	tell_and_wait(now() - begin);
	free(machines);
	return 0;
}
