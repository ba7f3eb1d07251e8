/* HOST:PORT, the address of a task in a cluster spec; an IPv6 host is in brackets. */
#pragma once

#include "base/own.h"

#include <stddef.h>

/* The fault of an address, as a sentence; NULL: none. *ret_offset is the byte of the fault. */
const char *address_fault(const char *address, size_t *ret_offset);

/* The host (without brackets) and the port of a valid address; the caller frees the host. */
char *address_host(const char *address) MUST_USE;
int address_port(const char *address);
