#include "unit.h"

#include "base/mem.h"
#include "http/listening.h"
#include "io/file.h"
#include "io/port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>

/* A server on a port that the kernel chooses; at this machine alone, or at every address. */
static int listen_somewhere(in_addr_t host, int *ret_port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(host)}};
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;

	assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)), 0);
	assert_int_equal(bind(fd, (const struct sockaddr *) &address, size), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *) &address, &size), 0);
	*ret_port = ntohs(address.sin_port);
	return fd;
}

TEST(a_port_that_is_listened_on_is_not_free)
{
	const in_addr_t hosts[] = {INADDR_LOOPBACK, INADDR_ANY};

	for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
		int port, fd = listen_somewhere(hosts[i], &port);

		assert_false(port_is_free(port));
		file_close(&fd);
		assert_true(port_is_free(port));
	}
}

TEST(a_port_whose_server_has_gone_is_free_though_its_connections_linger)
{
	int port, server = listen_somewhere(INADDR_LOOPBACK, &port);
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons((in_port_t) port),
				      .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(connect(client, (const struct sockaddr *) &address, sizeof(address)), 0);
	int accepted = accept(server, NULL, NULL);

	assert_true(accepted >= 0);
	file_close(&server);
	file_close(&accepted); /* first to close: the server's side waits (TIME_WAIT) */
	file_close(&client);
	assert_true(port_is_free(port));
}

TEST(the_range_keeps_clear_of_the_kernels_own)
{
	int low, high, kernel_low, kernel_high;
	FILE *file = fopen("/proc/sys/net/ipv4/ip_local_port_range", "r");

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%d %d", &kernel_low, &kernel_high), 2);
	fclose(file);
	if (port_range(&low, &high, NULL) < 0)
		return; /* a machine whose range leaves no room */
	assert_true(low <= high);
	assert_true(high < kernel_low || low > kernel_high);
}

TEST(a_port_is_reserved_once_on_a_machine)
{
	struct port_reservations one = {0}, other = {0};
	int port, fd = listen_somewhere(INADDR_LOOPBACK, &port);

	assert_false(port_reservations_take(&one, port)); /* a program listens there */
	close(fd);
	assert_true(port_reservations_take(&one, port));
	assert_true(port_reservations_take(&one, port));
	assert_int_equal(one.count, 1);
	assert_false(port_reservations_take(&other, port));
	assert_true(port_is_free(port)); /* for the program that is to listen there */
	port_reservations_done(&one);
	assert_true(port_reservations_take(&other, port));
	port_reservations_done(&other);
}

#define STRANGER 54321

static int open_at(const char *ip, int port)
{
	int fd = -1;
	struct err err;

	assert_int_equal(listening_open_port(ip, port, &fd, &err), 0);
	return fd;
}

/* A socket belongs to the user who created it, whoever has it now. Only root can be two users, and
 * in some containers not even root. */
static int open_as_stranger(const char *ip, int port)
{
	if (geteuid() != 0 || seteuid(STRANGER) < 0)
		skip();
	int fd = open_at(ip, port);

	assert_int_equal(seteuid(0), 0);
	return fd;
}

TEST(test_a_port_of_our_own)
{
	static const char *const own[] = {"127.0.0.1", "127.0.0.9", "::1", "0.0.0.0", "::"};
	struct err err;

	for (size_t i = 0; i < ARRAY_LEN(own); i++) {
		int fd = open_at(own[i], 0), port = listening_port(fd);
		bool is_v6 = strchr(own[i], ':');
		const char *asked = i < 3 ? own[i] : is_v6 ? "::1" : "127.0.0.1";

		assert_int_equal(port_owner_check(asked, port, &err), 0);
		close(fd);
		assert_int_equal(port_owner_check(asked, port, &err), ERR_UNREACHABLE);
	}
}

TEST(test_a_port_of_another_user)
{
	struct err err;
	int fd = open_as_stranger("127.0.0.1", 0), port = listening_port(fd);

	assert_int_equal(port_owner_check("127.0.0.1", port, &err), ERR_REFUSED);
	assert_non_null(strstr(err.text, "belongs to user 54321"));
	assert_int_equal(port_owner_check("127.0.0.2", port, &err), ERR_UNREACHABLE);
	close(fd);
	fd = open_as_stranger("0.0.0.0", port);
	assert_int_equal(port_owner_check("127.0.0.1", port, &err), ERR_REFUSED);
	close(fd);
}

/* The kernel gives a connection to the socket with its exact address. */
TEST(test_only_the_one_that_gets_the_connection_counts)
{
	struct err err;
	int own = open_at("127.0.0.1", 0), port = listening_port(own);
	int beside = open_as_stranger("127.0.0.2", port), v6 = open_as_stranger("::", port);

	assert_int_equal(port_owner_check("127.0.0.1", port, &err), 0);
	assert_int_equal(port_owner_check("127.0.0.2", port, &err), ERR_REFUSED);
	assert_int_equal(port_owner_check("::1", port, &err), ERR_REFUSED);
	close(own);
	close(beside);
	close(v6);
}

TEST(test_another_machine_has_no_owner_here)
{
	struct err err;

	assert_int_equal(port_owner_check("192.0.2.1", 80, &err), ERR_REFUSED);
	assert_int_equal(port_owner_check("fe80::1", 80, &err), ERR_REFUSED);
	assert_int_equal(port_owner_check("localhost", 80, &err), ERR_REFUSED);
}

TEST(test_the_program_on_a_port_has_a_name)
{
	char *own CLEANUP(mem_free_text) = mem_format("process %d (", (int) getpid());
	int fd = open_at("127.0.0.9", 0), port = listening_port(fd);
	char *name CLEANUP(mem_free_text) = port_owner_name(port);

	assert_memory_equal(name, own, strlen(own));
	assert_non_null(strstr(name, ") of user '"));
	close(fd);
	char *none CLEANUP(mem_free_text) = port_owner_name(port);

	assert_string_equal(none, "another process");
}

TEST(test_a_user_without_a_name_has_a_number)
{
	int fd = open_as_stranger("127.0.0.1", 0);
	char *name CLEANUP(mem_free_text) = port_owner_name(listening_port(fd));

	assert_non_null(strstr(name, "of user 54321"));
	close(fd);
}
