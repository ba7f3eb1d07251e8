#include "unit.h"

#include "base/own.h"
#include "io/file.h"
#include "io/port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

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

static void a_port_that_is_listened_on_is_not_free(void **state)
{
	(void) state;
	const in_addr_t hosts[] = {INADDR_LOOPBACK, INADDR_ANY};

	for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
		int port, fd = listen_somewhere(hosts[i], &port);

		assert_false(port_is_free(port));
		file_close(&fd);
		assert_true(port_is_free(port));
	}
}

static void a_port_whose_server_has_gone_is_free_though_its_connections_linger(void **state)
{
	(void) state;
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

static void the_range_keeps_clear_of_the_kernels_own(void **state)
{
	(void) state;
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

static void a_port_is_reserved_once_on_a_machine(void **state)
{
	struct port_reservations one = {0}, other = {0};
	int port, fd = listen_somewhere(INADDR_LOOPBACK, &port);

	(void) state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_port_that_is_listened_on_is_not_free),
		cmocka_unit_test(a_port_is_reserved_once_on_a_machine),
		cmocka_unit_test(
			a_port_whose_server_has_gone_is_free_though_its_connections_linger),
		cmocka_unit_test(the_range_keeps_clear_of_the_kernels_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
