/* A socket that listens: one TCP port of one address of this machine, or a path. */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <stdbool.h>

/* Zero it to begin, but for `fd`, which is -1. */
struct listening {
	int fd; /* does not block */
	char *address; /* as clients name it: "127.0.0.1:40123", "[::1]:80", "unix:/run/m" */
	char *path; /* of a socket that has one; NULL: none */
};

/* `address` is HOST:PORT, :PORT (127.0.0.1) or unix:PATH. HOST is localhost or an IP address, IPv6
 * in brackets; port 0: the kernel chooses one. A socket at PATH that nobody listens at is replaced;
 * the new one is for this user alone.
 *
 * ERR_INVALID: the text is no address. ERR_NOT_FOUND: it is none of this machine's. ERR_EXISTS: it
 * is taken. ERR_REFUSED: only the administrator may listen there. */
int listening_open(const char *address, struct listening *ret_listening, struct err *err) MUST_USE;
/* The same of an IP address and a port. */
int listening_open_port(const char *ip, int port, int *ret_fd, struct err *err) MUST_USE;
int listening_port(int fd); /* of a TCP socket */
bool listening_is_loopback(int fd); /* only this machine's programs reach it by TCP */
/* A socket at a path is gone from there: once, when nobody shall find it any more, by whichever
 * process serves it. */
void listening_remove(const struct listening *listening);
void listening_done(struct listening *listening); /* closes it, in this process */
