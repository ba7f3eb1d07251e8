#include "check/server.h"

#include "spec/cluster_spec.h"

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

static bool is_among(const struct check_server *servers, size_t count, const char *url)
{
	for (size_t i = 0; i < count; i++)
		if (text_equals(servers[i].url, url))
			return true;
	return false;
}

struct check_server *check_servers_read(const char *list, struct arena *arena, const char *before,
					struct text *faults, size_t *ret_count)
{
	struct check_server *servers = arena_take_array(arena, strlen(list) + 1, sizeof(*servers));
	char *rest = arena_copy_text(arena, list);
	struct err err;
	size_t count = 0;

	for (char *word; (word = strsep(&rest, ","));) {
		struct check_server *server = &servers[count];

		if (!*word)
			continue;
		if (check_server_read(word, arena, server, &err) < 0)
			text_addf(faults, "%s%s\n", before, err.text);
		else
			count += !is_among(servers, count, server->url);
	}
	*ret_count = count;
	return servers;
}
