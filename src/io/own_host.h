/* Hosts by name: whether one is this machine, and how one is reached from here. */
#pragma once

#include "base/err.h"
#include "base/own.h"

/* 0 when one of the addresses of `host` (a name, or an address without brackets) is one of this
 * machine's. ERR_NOT_FOUND: nobody knows the name; ERR_REFUSED: it is another machine's. The name
 * is looked up, which may take as long as the resolver likes. */
int own_host_check(const char *host, struct err *err) MUST_USE;

/* The IP address of a host (a name, or an address without brackets), and the one of ours by which
 * it is reached, so that it knows us by it. Callers free both. ERR_NOT_FOUND: nobody knows the
 * name; ERR_UNREACHABLE: no network leads there. The name is looked up, as above. */
int own_host_towards(const char *host, int port, char **ret_address, char **ret_own_address,
		     struct err *err) MUST_USE;
