#include "io/port_owner.h"

#include "base/mem.h"
#include "io/file.h"
#include "io/network_address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LISTENS 0x0a /* TCP_LISTEN of the kernel (include/net/tcp_states.h) */
#define ADDRESS_DIGITS 32 /* of an IPv6 address */
#define ANY_OTHER_USER 65534 /* in a user namespace, all users without a number there */

/* Of all that listen on a port, the kernel prefers the one with the exact address. */
enum fit { FIT_NONE, FIT_ALL_ADDRESSES, FIT_EXACT };

struct listener {
	struct in6_addr address;
	unsigned port;
	uid_t owner;
	enum fit fit;
};

static void close_file(FILE **file)
{
	if (*file)
		fclose(*file);
}

/* The kernel prints each 32 bits of an address as a number of this machine. */
static bool read_address(const char *digits, struct in6_addr *ret_address)
{
	unsigned words[4] = {0, 0, htonl(0xffff), 0};

	for (size_t i = strlen(digits) == ADDRESS_DIGITS ? 0 : 3; i < ARRAY_LEN(words); i++) {
		if (sscanf(digits, "%8x", &words[i]) != 1)
			return false;
		digits += 8;
	}
	memcpy(ret_address, words, sizeof(words));
	return true;
}

/* "sl local_address rem_address st tx_queue:rx_queue tr:when retrnsmt uid …"; false also for a
 * socket that does not listen. */
static bool read_listener(const char *line, struct listener *ret_listener)
{
	char digits[ADDRESS_DIGITS + 1];
	unsigned state, owner;

	if (sscanf(line, " %*d: %32[0-9A-F]:%x %*s %x %*s %*s %*s %u", digits, &ret_listener->port,
		   &state, &owner) != 4)
		return false;
	ret_listener->owner = owner;
	return state == LISTENS && read_address(digits, &ret_listener->address);
}

static enum fit fit_of(const struct listener *listener, const struct listener *wanted)
{
	struct in6_addr all;

	if (listener->port != wanted->port)
		return FIT_NONE;
	if (IN6_ARE_ADDR_EQUAL(&listener->address, &wanted->address))
		return FIT_EXACT;
	(void) network_address_parse("0.0.0.0", &all);
	bool is_all = IN6_IS_ADDR_UNSPECIFIED(&listener->address) ||
		      (IN6_IS_ADDR_V4MAPPED(&wanted->address) &&
		       IN6_ARE_ADDR_EQUAL(&listener->address, &all));

	return is_all ? FIT_ALL_ADDRESSES : FIT_NONE;
}

/* The kernel lists the sockets that listen first (Documentation/networking/proc_net_tcp.rst). */
static int find_in(const char *path, struct listener *best, struct err *err)
{
	FILE *file CLEANUP(close_file) = fopen(path, "re");
	char *line CLEANUP(mem_free_text) = NULL;
	struct listener listener;
	size_t size = 0;

	if (!file)
		return err_set_errno(err, errno, "cannot read '%s'", path);
	ssize_t len = getline(&line, &size, file); /* the titles */

	while (len > 0 && getline(&line, &size, file) > 0 && read_listener(line, &listener)) {
		enum fit fit = fit_of(&listener, best);

		if (fit > best->fit) {
			best->fit = fit;
			best->owner = listener.owner;
		}
	}
	return 0;
}

/* Outside of user namespaces, or in one with all users. */
static bool has_all_users(void)
{
	char *map CLEANUP(mem_free_text) = file_read_text("/proc/self/uid_map");
	unsigned count = 0;

	return map && sscanf(map, "%*u %*u %u", &count) == 1 && count == UINT32_MAX;
}

static bool is_own_or_root(uid_t owner)
{
	return owner == 0 || (owner == geteuid() && (owner != ANY_OTHER_USER || has_all_users()));
}

int port_owner_check(const char *ip, int port, struct err *err)
{
	struct listener best = {.port = (unsigned) port};

	if (!network_address_parse(ip, &best.address) ||
	    !network_address_is_loopback(&best.address))
		return err_set(err, ERR_REFUSED,
			       "%s is an address of another machine, which needs TLS", ip);
	int rc = find_in("/proc/net/tcp", &best, err);

	if (rc == 0 && access("/proc/net/tcp6", F_OK) == 0) /* absent: no IPv6 */
		rc = find_in("/proc/net/tcp6", &best, err);
	if (rc < 0)
		return rc;
	if (best.fit == FIT_NONE)
		return err_set(err, ERR_UNREACHABLE,
			       "cannot reach %s port %d: no server responds at this "
			       "address",
			       ip, port);
	if (!is_own_or_root(best.owner))
		return err_set(err, ERR_REFUSED, "the program on port %d of %s belongs to user %u",
			       port, ip, best.owner);
	return 0;
}
