#include "check/request.h"

#include "spec/cluster_spec.h"

#define SCHEME "grpc://"

const char *const check_model_words[CHECK_MODEL_COUNT] = {"mnist", "census", "mwms", "ps2", "none"};

bool check_model_brings_servers(enum check_model model)
{
	return model == CHECK_MWMS || model == CHECK_PS2;
}

bool check_request_needs_no_servers(const struct check_request *request)
{
	return request->is_for_torch || check_model_brings_servers(request->model);
}

const char *check_request_model(const struct check_request *request)
{
	return request->is_for_torch ? "torch" : check_model_words[request->model];
}

bool check_request_trains(const struct check_request *request)
{
	return request->model != CHECK_NO_MODEL && !request->is_setup_only;
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
	size_t count = 0, offset;

	for (char *word; (word = strsep(&rest, ","));) {
		const char *place = text_starts_with(word, SCHEME) ? word + strlen(SCHEME) : word;
		const char *fault = address_fault(place, &offset);

		if (!*word)
			continue;
		if (fault) {
			text_addf(faults, "%s'%s' is not an address like grpc://host:2222: %s\n",
				  before, word, fault);
			continue;
		}
		char *host CLEANUP(mem_free_text) = address_host(place);
		struct check_server *server = &servers[count];

		*server = (struct check_server){
			.url = arena_format(arena, SCHEME "%s", place),
			.place = place,
			.host = arena_copy_text(arena, host),
			.port = address_port(place),
		};
		count += !is_among(servers, count, server->url);
	}
	*ret_count = count;
	return servers;
}
