/* What programs have in common that call a server on this machine as many clients. */
#pragma once

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define NANOSECONDS 1000000000LL

static inline void require(bool is_so, const char *what)
{
	if (is_so)
		return;
	perror(what);
	exit(1);
}

static inline long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * NANOSECONDS + time.tv_nsec;
}

static inline int connect_to(int port)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t) port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	const int yes = 1;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	require(fd >= 0, "socket");
	require(connect(fd, (const struct sockaddr *) &address, sizeof(address)) == 0, "connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	return fd;
}

/* Tells how long it took, and keeps all connections until standard input ends. */
static inline void tell_and_wait(long long nanoseconds)
{
	char byte;

	printf("%lld\n", nanoseconds);
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
}
