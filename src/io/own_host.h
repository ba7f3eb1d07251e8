/* Whether a host of a cluster spec is this machine. */
#pragma once

#include "base/err.h"
#include "base/own.h"

/* 0 when one of the addresses of `host` (a name, or an address without brackets) is one of this
 * machine's. ERR_NOT_FOUND: nobody knows the name; ERR_REFUSED: it is another machine's. The name
 * is looked up, which may take as long as the resolver likes. */
int own_host_check(const char *host, struct err *err) MUST_USE;
