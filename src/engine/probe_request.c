#include "engine/probe_request.h"

#include "base/text.h"
#include "core/cluster_address.h"

#include <string.h>

const char *probe_server_address(const char *server)
{
	return text_starts_with(server, PROBE_SCHEME) ? server + strlen(PROBE_SCHEME) : server;
}

const char *probe_server_fault(const char *server)
{
	size_t offset;

	return address_fault(probe_server_address(server), &offset);
}
