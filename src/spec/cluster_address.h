/* HOST:PORT, as the tasks of a cluster spec have it; an IPv6 host stands in brackets. */
#pragma once

#include "base/own.h"

#include <stddef.h>

/* What is wrong with an address, as a sentence; NULL: nothing. *ret_offset is the byte at which it
 * goes wrong. */
const char *address_fault(const char *address, size_t *ret_offset);

/* The host (without brackets) and the port of an address that has no fault; the caller frees the
 * host. */
char *address_host(const char *address) MUST_USE;
int address_port(const char *address);
