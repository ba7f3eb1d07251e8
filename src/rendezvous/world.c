#include "rendezvous/world.h"

#include "base/names.h"
#include "spec/limits.h"

#include <arpa/inet.h>

const char *const world_reason_words[WORLD_REASON_COUNT] = {
	[WORLD_FIRST] = "first",
	[WORLD_GREW] = "grew",
	[WORLD_LOST_MEMBER] = "lost-member",
	[WORLD_MEMBER_LEFT] = "member-left",
	[WORLD_WORKER_FAILED] = "worker-failed",
	[WORLD_RESTART_ASKED] = "restart-asked",
	[WORLD_FORGOTTEN] = "forgotten",
};

const char *const world_reason_sentences[WORLD_REASON_COUNT] = {
	[WORLD_FIRST] = "enough machines have joined",
	[WORLD_GREW] = "more machines have joined",
	[WORLD_LOST_MEMBER] = "a machine was lost",
	[WORLD_MEMBER_LEFT] = "a machine has left",
	[WORLD_WORKER_FAILED] = "a process has failed",
	[WORLD_RESTART_ASKED] = "a process asked for a restart",
	[WORLD_FORGOTTEN] = "the server was restarted with an older state",
};

struct world world_copy(const struct world *world)
{
	struct world copy = *world;

	copy.arena = arena_new();
	copy.members = arena_take_array(copy.arena, world->n_members, sizeof(*copy.members));
	for (size_t i = 0; i < world->n_members; i++)
		copy.members[i] = (struct world_member){
			.id = arena_copy_text(copy.arena, world->members[i].id),
			.offer = arena_copy_text(copy.arena, world->members[i].offer),
			.key = arena_copy_text(copy.arena, world->members[i].key),
		};
	return copy;
}

int world_rank(const struct world *world, const char *id)
{
	for (size_t i = 0; i < world->n_members; i++)
		if (strcmp(world->members[i].id, id) == 0)
			return (int) i;
	return -1;
}

size_t offer_port_count(int n_processes)
{
	return OFFER_TURNS * ((size_t) n_processes + 1);
}

void offer_add(const struct offer *offer, struct text *text)
{
	struct json *object CLEANUP(json_cleanup) = json_new_object();
	struct json *ports = json_array_at(object, "ports");

	json_set_string(object, "host", offer->host);
	if (!text_equals(offer->role, OFFER_ROLE))
		json_set_string(object, "role", offer->role);
	for (size_t i = 0; i < offer_port_count(offer->n_processes); i++)
		json_append(ports, json_new_integer(offer->ports[i]));
	json_add_compact(text, object);
}

static bool are_ports(const struct json *list)
{
	for (size_t i = 0; i < json_count(list); i++) {
		int64_t port = json_as_integer(json_at(list, i), 0);

		if (port < 1 || port > 65535)
			return false;
	}
	return json_is(list, JSON_ARRAY) && json_count(list) % OFFER_TURNS == 0 &&
	       json_count(list) >= offer_port_count(1) &&
	       json_count(list) <= offer_port_count(LIMIT_PROCESSES);
}

/* Labels of RFC 1123, 2.1; names of machines also have '_'. An IPv4 address is one, too. */
static bool is_dns_name(const char *name)
{
	for (;; name++) {
		size_t len = strspn(name, NAME_LETTERS NAME_DIGITS "-_");

		if (len == 0 || len > DNS_LABEL_MAX || name[0] == '-' || name[len - 1] == '-')
			return false;
		name += len;
		if (*name != '.' || !name[1])
			return !*name || *name == '.';
	}
}

/* Without brackets; a zone may follow (RFC 4007, 11). */
static bool is_ipv6_address(const char *text)
{
	size_t len = strcspn(text, "%");
	char *address CLEANUP(mem_free_text) = mem_copy_bytes(text, len);
	struct in6_addr parsed;
	const char *zone = text + len;

	return inet_pton(AF_INET6, address, &parsed) == 1 &&
	       (!*zone || (zone[1] && !zone[1 + strspn(zone + 1, NAME_LETTERS NAME_DIGITS "-_.")]));
}

int offer_read(const char *text, struct arena *arena, struct offer *ret_offer, struct err *err)
{
	struct json *object CLEANUP(json_cleanup) = NULL;
	int rc = json_read(text, strlen(text), &object, err);

	return rc < 0 ? rc : offer_read_json(object, arena, ret_offer, err);
}

int offer_read_json(const struct json *object, struct arena *arena, struct offer *ret_offer,
		    struct err *err)
{
	const struct json *list = json_get(object, "ports");
	const char *host = json_get_string(object, "host", "");
	const struct json *role = json_get(object, "role");
	const char *role_name = role ? json_as_string(role, "") : OFFER_ROLE;
	const char *fault = NULL;

	if (!are_ports(list))
		fault = "an offer has a host and ports for its processes";
	else if (strlen(host) > LIMIT_HOST || !(is_dns_name(host) || is_ipv6_address(host)))
		fault = "an offer has a host, which is a DNS name or an IP address";
	else if (!*role_name || !name_is_label_value(role_name))
		fault = "the role of an offer is a short word";
	if (fault) {
		err_set(err, ERR_INVALID, "%s", fault);
		return ERR_INVALID;
	}
	int *ports = arena_take_array(arena, json_count(list), sizeof(*ports));

	for (size_t i = 0; i < json_count(list); i++)
		ports[i] = (int) json_as_integer(json_at(list, i), 0);
	*ret_offer = (struct offer){
		.host = arena_copy_text(arena, host),
		.role = arena_copy_text(arena, role_name),
		.n_processes = (int) (json_count(list) / OFFER_TURNS) - 1,
		.ports = ports,
	};
	return 0;
}

struct world_share offer_share(const char *text)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct offer offer = {0};

	if (offer_read(text, arena, &offer, NULL) < 0)
		return (struct world_share){0};
	return (struct world_share){
		.n_processes = offer.n_processes,
		.address_bytes =
			offer.n_processes * (int) (strlen(offer.host) + strlen("\"[]:65535\",")),
	};
}

/* The port of a process; after those of all processes comes the port of rank 0's store. */
static int port_of(const struct offer *offer, int64_t generation, int nth)
{
	int turn = (int) (generation % OFFER_TURNS);

	return offer->ports[turn * (offer->n_processes + 1) + nth];
}

const char *offer_address(const struct offer *offer, int64_t generation, int nth,
			  struct arena *arena)
{
	bool is_ipv6 = strchr(offer->host, ':');

	return arena_format(arena, "%s%s%s:%d", is_ipv6 ? "[" : "", offer->host, is_ipv6 ? "]" : "",
			    port_of(offer, generation, nth));
}

struct own_place {
	int rank;
	const char *role;
};

static int add_member(const struct world *world, int rank, const struct own_place *own,
		      struct arena *arena, struct world_cluster *cluster, struct json *list,
		      struct err *err)
{
	struct offer offer = {0};
	int rc = offer_read(world->members[rank].offer, arena, &offer, err);

	if (rc < 0)
		return err_prefix(err, "member '%s'", world->members[rank].id);
	int n_of_role = text_equals(offer.role, own->role) ? offer.n_processes : 0;

	if (rank == 0) {
		cluster->coordinator_host = offer.host;
		cluster->coordinator_port = port_of(&offer, world->generation, offer.n_processes);
	}
	if (rank != own->rank && !cluster->peer_host)
		cluster->peer_host = offer.host;
	if (rank < own->rank) {
		cluster->world.first_rank += offer.n_processes;
		cluster->world.first_role_rank += n_of_role;
	}
	cluster->world.size += offer.n_processes;
	cluster->world.role_size += n_of_role;
	if (cluster->world.size > LIMIT_REPLICAS)
		return err_set(err, ERR_INVALID, "there are more than %d processes",
			       LIMIT_REPLICAS);
	for (int i = 0; i < offer.n_processes; i++)
		json_append(list,
			    json_new_string(offer_address(&offer, world->generation, i, arena)));
	return 0;
}

int world_cluster_read(const struct world *world, const char *id, struct arena *arena,
		       struct world_cluster *cluster, struct err *err)
{
	struct json *object CLEANUP(json_cleanup) = json_new_object();
	struct json *list = json_array_at(object, "worker");
	struct text text CLEANUP(text_done) = {0};
	struct own_place own = {.rank = world_rank(world, id)};
	struct offer offer = {0};

	if (own.rank < 0)
		return err_set(err, ERR_NOT_FOUND, "it is not in the world");
	int rc = offer_read(world->members[own.rank].offer, arena, &offer, err);

	own.role = offer.role;
	cluster->peer_host = NULL;
	cluster->world.first_rank = cluster->world.size = 0;
	cluster->world.first_role_rank = cluster->world.role_size = 0;
	cluster->world.group = own.rank;
	cluster->world.n_groups = (int) world->n_members;
	for (int rank = 0; rc == 0 && rank < (int) world->n_members; rank++)
		rc = add_member(world, rank, &own, arena, cluster, list, err);
	if (rc < 0)
		return rc;
	json_add_compact(&text, object);
	cluster->dense_cluster = arena_copy_text(arena, text_of(&text));
	return 0;
}
