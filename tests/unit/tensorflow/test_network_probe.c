/* Tasks are processes here as they are in earnest: each case forks the others of its cluster. */
#include "unit.h"

#include "io/file.h"
#include "io/loop.h"
#include "io/port.h"
#include "tensorflow/network_probe.h"

#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define LIMIT ((msec) 60 * MSEC_PER_SECOND) /* for what is sure to come */
#define SHORT ((msec) 300) /* for what never comes */
#define PATIENT ((msec) 3 * MSEC_PER_SECOND) /* for both in one cluster */
#define MOST_PEERS 4

struct tf_cluster {
	struct network_peer peers[MOST_PEERS];
	size_t n_peers;
	struct network_finding findings[MOST_PEERS];
	int n_told[MOST_PEERS];
	char others[MOST_PEERS][INET6_ADDRSTRLEN]; /* that asked in the name of a peer */
};

/* A server that listens at this machine, on a port that the kernel chooses. */
static int listen_somewhere(int *ret_port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (const struct sockaddr *) &address, size), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *) &address, &size), 0);
	*ret_port = ntohs(address.sin_port);
	return fd;
}

static void cluster_init(struct tf_cluster *cluster, size_t n_peers)
{
	static const char *const names[MOST_PEERS] = {"worker-0", "worker-1", "ps-0", "ps-1"};
	int held[MOST_PEERS];

	*cluster = (struct tf_cluster){.n_peers = n_peers};
	for (size_t i = 0; i < n_peers; i++) {
		cluster->peers[i] = (struct network_peer){.name = names[i], .host = "127.0.0.1"};
		held[i] = listen_somewhere(&cluster->peers[i].port);
	}
	for (size_t i = 0; i < n_peers; i++)
		file_close(&held[i]);
}

static void take_finding(size_t peer, const struct network_finding *finding, void *data)
{
	struct tf_cluster *cluster = data;

	cluster->findings[peer] = *finding;
	cluster->n_told[peer]++;
}

static void take_other(size_t peer, const char *address, void *data)
{
	struct tf_cluster *cluster = data;

	snprintf(cluster->others[peer], sizeof(cluster->others[peer]), "%s", address);
}

static int run_task(struct tf_cluster *cluster, size_t own, msec timeout, struct err *err)
{
	const struct network_probe_settings settings = {.peers = cluster->peers,
							.n_peers = cluster->n_peers,
							.own = own,
							.timeout = timeout,
							.tell = take_finding,
							.tell_of_other = take_other,
							.data = cluster};

	return network_probe_run(&settings, err);
}

static bool found_all(const struct tf_cluster *cluster, size_t own)
{
	for (size_t i = 0; i < cluster->n_peers; i++) {
		const struct network_finding *finding = &cluster->findings[i];

		if (cluster->n_told[i] != (i == own ? 0 : 1))
			return false;
		if (i != own && (finding->stage != NETWORK_DONE || finding->bandwidth <= 0 ||
				 finding->round_trip <= 0))
			return false;
	}
	return true;
}

/* Another task in a process of its own, which begins after a while and ends with 0 when it found
 * all. */
static pid_t fork_task(struct tf_cluster *cluster, size_t own, int delay)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	poll(NULL, 0, delay);
	_exit(run_task(cluster, own, LIMIT, NULL) || !found_all(cluster, own));
}

static void assert_ends_well(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void assert_nothing_is_left(const struct tf_cluster *cluster, size_t own)
{
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	assert_true(port_is_free(cluster->peers[own].port));
}

static void assert_fails(const struct tf_cluster *cluster, size_t peer, enum network_stage stage,
			 const char *error)
{
	assert_int_equal(cluster->n_told[peer], 1);
	assert_string_equal(cluster->findings[peer].error, error);
	assert_int_equal(cluster->findings[peer].stage, stage);
}

TEST(tasks_that_run_together_find_each_other)
{
	struct tf_cluster cluster;
	pid_t others[MOST_PEERS];

	cluster_init(&cluster, MOST_PEERS);
	for (size_t i = 1; i < MOST_PEERS; i++)
		others[i] = fork_task(&cluster, i, 0);
	assert_int_equal(run_task(&cluster, 0, LIMIT, NULL), 0);
	assert_true(found_all(&cluster, 0));
	assert_string_equal(cluster.findings[1].address, "127.0.0.1");
	assert_true(cluster.findings[1].clock > -1 && cluster.findings[1].clock < 1);
	for (size_t i = 1; i < MOST_PEERS; i++)
		assert_ends_well(others[i]);
	assert_nothing_is_left(&cluster, 0);
}

TEST(a_task_alone_has_nothing_to_ask)
{
	struct tf_cluster cluster;

	cluster_init(&cluster, 1);
	assert_int_equal(run_task(&cluster, 0, LIMIT, NULL), 0);
	assert_true(found_all(&cluster, 0));
}

/* Whether it begins before or after the first try, it is found. */
TEST(a_task_that_comes_later_is_waited_for)
{
	struct tf_cluster cluster;

	cluster_init(&cluster, 2);
	pid_t late = fork_task(&cluster, 1, 200);

	assert_int_equal(run_task(&cluster, 0, LIMIT, NULL), 0);
	assert_true(found_all(&cluster, 0));
	assert_ends_well(late);
	assert_nothing_is_left(&cluster, 0);
}

TEST(what_cannot_be_reached_is_told_and_the_others_are_found)
{
	struct tf_cluster cluster;

	cluster_init(&cluster, 4);
	cluster.peers[3].host = "no-such-host.invalid";
	pid_t other = fork();

	if (other == 0) {
		int failure = run_task(&cluster, 1, PATIENT, NULL);

		_exit(failure || cluster.findings[0].stage != NETWORK_DONE);
	}
	assert_int_equal(run_task(&cluster, 0, PATIENT, NULL), 0);
	assert_int_equal(cluster.findings[1].stage, NETWORK_DONE);
	assert_fails(&cluster, 2, NETWORK_CONNECT, "connection refused");
	/* What it is called depends on whether a name service can be asked. */
	assert_int_equal(cluster.findings[3].stage, NETWORK_RESOLVE);
	assert_string_not_equal(cluster.findings[3].error, "");
	assert_ends_well(other);
	assert_nothing_is_left(&cluster, 0);
}

/* Accepts one connection, says something and closes after it has heard something. */
static pid_t fork_stranger(int listener, const void *bytes, size_t len)
{
	char buf[4096];
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	int fd = accept(listener, NULL, NULL);
	ssize_t n_sent = send(fd, bytes, len, 0), n_read = recv(fd, buf, sizeof(buf), 0);

	_exit(n_sent != (ssize_t) len || n_read <= 0);
}

static void assert_stranger(const void *greeting, size_t len, const char *error)
{
	struct tf_cluster cluster;

	cluster_init(&cluster, 2);
	int listener = listen_somewhere(&cluster.peers[1].port);
	pid_t stranger = fork_stranger(listener, greeting, len);

	assert_int_equal(run_task(&cluster, 0, LIMIT, NULL), 0);
	assert_fails(&cluster, 1, NETWORK_ANSWER, error);
	assert_ends_well(stranger);
	file_close(&listener);
	assert_nothing_is_left(&cluster, 0);
}

/* And not waited for: they ask nothing. */
TEST(servers_of_another_kind_are_told)
{
	static const char http[] = "HTTP/1.1 400 Bad Request\r\n\r\n";
	/* The beginning of what TensorFlow's server sends first: HTTP/2 settings. */
	static const char grpc[] = {0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 4, 0, 0x40, 0, 0};

	assert_stranger(http, sizeof(http) - 1, "another program than muster responds");
	assert_stranger(grpc, sizeof(grpc), "a gRPC server (TensorFlow's?) already has the port");
}

TEST(a_port_that_opens_and_says_nothing_is_told)
{
	struct tf_cluster cluster;

	cluster_init(&cluster, 2);
	int listener = listen_somewhere(&cluster.peers[1].port);

	assert_int_equal(run_task(&cluster, 0, SHORT, NULL), 0);
	assert_fails(&cluster, 1, NETWORK_ANSWER,
		     "timed out: the port is open, but no program responds");
	file_close(&listener);
	assert_nothing_is_left(&cluster, 0);
}

/* An address in the cluster spec that leads to the wrong task. */
TEST(another_task_at_the_address_is_told)
{
	struct tf_cluster cluster;

	cluster_init(&cluster, 3);
	cluster.peers[2].port = cluster.peers[1].port;
	pid_t other = fork();

	if (other == 0)
		_exit(run_task(&cluster, 1, PATIENT, NULL) != 0);
	assert_int_equal(run_task(&cluster, 0, PATIENT, NULL), 0);
	assert_fails(&cluster, 2, NETWORK_ANSWER, "worker-1 answers there");
	assert_ends_well(other);
}

/* It says it is a peer that is known to stand elsewhere, is answered, and ends nothing. */
TEST(who_asks_in_the_name_of_another_is_told_at_the_end)
{
	struct tf_cluster cluster;

	cluster_init(&cluster, 2);
	pid_t stranger = fork();

	if (stranger == 0) {
		int failure = run_task(&cluster, 1, PATIENT, NULL);

		_exit(failure || cluster.findings[0].stage != NETWORK_DONE);
	}
	cluster.peers[1].host = "192.0.2.1"; /* nobody's (RFC 5737) */
	assert_int_equal(run_task(&cluster, 0, PATIENT, NULL), 0);
	assert_int_not_equal(cluster.findings[1].stage, NETWORK_DONE);
	assert_string_equal(cluster.others[1], "127.0.0.1");
	assert_ends_well(stranger);
	assert_nothing_is_left(&cluster, 0);
}

TEST(an_own_port_that_is_taken_is_an_error)
{
	struct tf_cluster cluster;
	struct err err = {0};

	cluster_init(&cluster, 2);
	int listener = listen_somewhere(&cluster.peers[0].port);

	assert_int_equal(run_task(&cluster, 0, SHORT, &err), ERR_REFUSED);
	assert_int_equal(cluster.n_told[1], 0);
	file_close(&listener);
}

TEST(reaching_tries_once_from_here)
{
	struct tf_cluster cluster;

	cluster_init(&cluster, 2);
	int listener = listen_somewhere(&cluster.peers[1].port);

	assert_int_equal(run_task(&cluster, cluster.n_peers, LIMIT, NULL), 0);
	assert_fails(&cluster, 0, NETWORK_CONNECT, "connection refused");
	assert_int_equal(cluster.n_told[1], 1);
	assert_int_equal(cluster.findings[1].stage, NETWORK_DONE);
	file_close(&listener);
	assert_nothing_is_left(&cluster, 0);
}
