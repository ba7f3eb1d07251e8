#include "spec/cluster_address.h"

#include "base/mem.h"
#include "base/text.h"

#include <ctype.h>
#include <string.h>

#define PORT_MAX 65535

static bool is_host_character(char c)
{
	return isalnum((unsigned char) c) || c == '-' || c == '.' || c == '_';
}

/* Digits of an IPv6 address, an IPv4 address at its end, and a zone (RFC 6874) after '%'. */
static bool is_ipv6_character(char c)
{
	return isalnum((unsigned char) c) || (c && strchr(":.%-_", c));
}

/* The length of the host at the start, with brackets. */
static size_t host_length(const char *address)
{
	size_t len = 0;

	if (address[0] == '[') {
		for (len = 1; is_ipv6_character(address[len]);)
			len++;
		return len + (address[len] == ']');
	}
	while (is_host_character(address[len]))
		len++;
	return len;
}

static const char *host_fault(const char *address, size_t len)
{
	bool is_bracketed = address[0] == '[';

	if (text_starts_with(address, "grpc://"))
		return "expected HOST:PORT without 'grpc://'";
	if (is_bracketed && (len < 2 || address[len - 1] != ']'))
		return address[len] ? "unexpected character in an IPv6 address"
				    : "missing ']' after the IPv6 address";
	if (is_bracketed && !memchr(address, ':', len))
		return "expected an IPv6 address between '[' and ']'";
	if (text_starts_with(address, "::"))
		return "an IPv6 address needs brackets, as in [::1]:2222";
	if (len == 0 && (address[0] == ':' || !address[0]))
		return "missing host (expected HOST:PORT)";
	if (!address[len])
		return "missing port (expected HOST:PORT)";
	if (address[len] != ':')
		return "unexpected character in an address (expected HOST:PORT)";
	return NULL;
}

static const char *port_fault(const char *port, size_t *ret_offset)
{
	size_t n_digits = strspn(port, "0123456789");
	int64_t number;

	*ret_offset = n_digits;
	if (!port[0])
		return "missing port (expected HOST:PORT)";
	if (port[n_digits] == ':')
		return "an IPv6 address needs brackets, as in [::1]:2222";
	if (port[n_digits])
		return "unexpected character in a port (expected a number from 1 to 65535)";
	*ret_offset = 0;
	if (text_read_int(port, 1, PORT_MAX, &number, NULL))
		return "a port must be a number from 1 to 65535";
	return NULL;
}

const char *address_fault(const char *address, size_t *ret_offset)
{
	size_t len = host_length(address);
	const char *fault = host_fault(address, len);

	if (fault) {
		*ret_offset = text_starts_with(address, "grpc://") ? 0 : len;
		return fault;
	}
	fault = port_fault(address + len + 1, ret_offset);
	*ret_offset += len + 1;
	return fault;
}

char *address_host(const char *address)
{
	size_t len = host_length(address);

	if (address[0] == '[')
		return mem_copy_bytes(address + 1, len - 2);
	return mem_copy_bytes(address, len);
}

int address_port(const char *address)
{
	int64_t port = 0;
	int rc = text_read_int(strrchr(address, ':') + 1, 1, PORT_MAX, &port, NULL);

	return rc ? 0 : (int) port;
}
