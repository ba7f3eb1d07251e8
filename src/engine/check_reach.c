#include "engine/check_reach.h"

#include "base/mem.h"
#include "core/check_server.h"
#include "io/network_probe.h"

#define TIMEOUT (5 * MSEC_PER_SECOND)
#define HERE "this machine"

struct reach {
	const struct check_server *servers;
	check_way_fn tell;
	void *data;
};

static void set_address(struct json *event, const struct check_server *server,
			const struct network_finding *finding)
{
	char *address CLEANUP(mem_free_text) = NULL;

	if (!finding->address[0])
		return;
	address = mem_format("%s:%d", finding->address, server->port);
	json_set_string(event, "address", address);
}

static void on_finding(size_t peer, const struct network_finding *finding, void *data)
{
	const struct reach *reach = data;
	const struct check_server *server = &reach->servers[peer];
	struct json *event CLEANUP(json_cleanup) = json_new_object();

	json_set_string(event, "muster", "network");
	json_set_string(event, "from", HERE);
	json_set_string(event, "to", server->place);
	set_address(event, server, finding);
	if (finding->stage == NETWORK_DONE) {
		json_set(event, "resolve", json_new_real(finding->resolve));
		json_set(event, "connect", json_new_real(finding->connect));
	} else {
		json_set_string(event, "stage", network_stage_words[finding->stage]);
		json_set_string(event, "error", finding->error);
	}
	reach->tell(event, reach->data);
}

int check_reach(const char *const *servers, size_t n_servers, check_way_fn tell, void *data,
		struct err *err)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct check_server *read = arena_take_array(arena, n_servers, sizeof(*read));
	struct network_peer *peers = arena_take_array(arena, n_servers, sizeof(*peers));
	struct reach reach = {.servers = read, .tell = tell, .data = data};

	for (size_t i = 0; i < n_servers; i++) {
		if (check_server_read(servers[i], arena, &read[i], err) < 0)
			return err->code;
		peers[i] = (struct network_peer){
			.name = read[i].place, .host = read[i].host, .port = read[i].port};
	}
	return network_reach(peers, n_servers, TIMEOUT, on_finding, &reach, err);
}
