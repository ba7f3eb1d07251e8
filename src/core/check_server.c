#include "core/check_server.h"

#include "base/text.h"

#include <string.h>

#define SCHEME "grpc://"
#define PORT_MOST 65535

/* What stands before the last colon, without the brackets of an IPv6 address; NULL when there is
 * none, or when an IPv6 address stands without brackets. */
static const char *read_host(const char *place, const char *colon, struct arena *arena)
{
	size_t len = (size_t) (colon - place);
	bool has_brackets = len > 2 && place[0] == '[' && colon[-1] == ']';

	if (has_brackets)
		return arena_format(arena, "%.*s", (int) len - 2, place + 1);
	if (len == 0 || memchr(place, ':', len) || strcspn(place, "[]/ ") < len)
		return NULL;
	return arena_format(arena, "%.*s", (int) len, place);
}

int check_server_read(const char *text, struct arena *arena, struct check_server *ret_server,
		      struct err *err)
{
	const char *place = text_starts_with(text, SCHEME) ? text + strlen(SCHEME) : text;
	const char *colon = strrchr(place, ':');
	const char *host = colon ? read_host(place, colon, arena) : NULL;
	int64_t port;

	if (!host || text_read_int(colon + 1, 1, PORT_MOST, &port, NULL) < 0)
		return err_set(err, ERR_INVALID, "'%s' is no address like grpc://host:2222", text);
	*ret_server = (struct check_server){
		.url = arena_format(arena, SCHEME "%s", place),
		.place = arena_copy_text(arena, place),
		.host = host,
		.port = (int) port,
	};
	return 0;
}
