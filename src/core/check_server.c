#include "core/check_server.h"

#include "base/text.h"
#include "core/cluster_address.h"

#include <string.h>

#define SCHEME "grpc://"

int check_server_read(const char *text, struct arena *arena, struct check_server *ret_server,
		      struct err *err)
{
	const char *place = text_starts_with(text, SCHEME) ? text + strlen(SCHEME) : text;
	size_t offset;
	const char *fault = address_fault(place, &offset);

	if (fault)
		return err_set(err, ERR_INVALID, "'%s' is not an address like grpc://host:2222: %s",
			       text, fault);
	char *host CLEANUP(mem_free_text) = address_host(place);

	*ret_server = (struct check_server){
		.url = arena_format(arena, SCHEME "%s", place),
		.place = arena_copy_text(arena, place),
		.host = arena_copy_text(arena, host),
		.port = address_port(place),
	};
	return 0;
}
