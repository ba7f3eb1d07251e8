#include "engine/check_reach.h"

#include "base/mem.h"
#include "core/check_server.h"
#include "io/network_probe.h"

#define TIMEOUT (5 * MSEC_PER_SECOND)
#define HERE "this machine"

struct check_reach {
	struct arena *arena; /* of what follows */
	struct check_server *servers;
	struct network_peer *peers;
	struct network_reach *network;
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
	const struct check_reach *reach = data;
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

/* What is no address was refused with the command line. */
static int read_servers(struct check_reach *reach, const struct check_request *request,
			struct err *err)
{
	size_t count = request->n_servers;

	reach->servers = arena_take_array(reach->arena, count, sizeof(*reach->servers));
	reach->peers = arena_take_array(reach->arena, count, sizeof(*reach->peers));
	for (size_t i = 0; i < count; i++) {
		struct check_server *server = &reach->servers[i];
		int failure = check_server_read(request->servers[i], reach->arena, server, err);

		if (failure)
			return failure;
		reach->peers[i] = (struct network_peer){
			.name = server->place, .host = server->host, .port = server->port};
	}
	return 0;
}

static void on_end(void *data)
{
	struct check_reach *reach = data;

	network_reach_free(TAKE(reach->network));
}

int check_reach_start(struct loop *loop, const struct check_request *request, check_way_fn tell,
		      void *data, struct check_reach **ret_reach, struct err *err)
{
	struct check_reach *reach = mem_new(sizeof(*reach));

	*reach = (struct check_reach){.arena = arena_new(), .tell = tell, .data = data};
	int failure = read_servers(reach, request, err);
	const struct network_reach_settings settings = {
		.loop = loop,
		.peers = reach->peers,
		.n_peers = request->n_servers,
		.timeout = TIMEOUT,
		.tell = on_finding,
		.on_end = on_end,
		.data = reach,
	};

	if (!failure)
		failure = network_reach_start(&settings, &reach->network, err);
	if (failure)
		check_reach_free(reach);
	else
		*ret_reach = reach;
	return failure;
}

void check_reach_free(struct check_reach *reach)
{
	if (!reach)
		return;
	network_reach_free(reach->network);
	arena_free(reach->arena);
	mem_free_any(&reach);
}
