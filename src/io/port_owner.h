/* Whose program listens on a port of this machine: on loopback each user may, and the first one has
 * it. */
#pragma once

#include "base/err.h"
#include "base/own.h"

/* Checks, before a secret is sent to a TCP port of a loopback address, that the program that
 * listens there is this user's or root's (sock_diag(7), else /proc/net/tcp). Returns
 * ERR_UNREACHABLE: none listens; ERR_REFUSED: another user's does, or the address is not of
 * loopback, so its programs cannot be seen; ERR_IO: /proc cannot be read. */
int port_owner_check(const char *ip, int port, struct err *err) MUST_USE;

/* Whose program listens on a port of any address, for a message: "process 1234 (python) of user
 * 'ann'", as far as /proc shows it to this user, else "another process". Caller frees. */
char *port_owner_name(int port) MUST_USE;
