/* Where the processes of a member stand in a world, of what its members offer. */
#include "unit.h"

#include "base/mem.h"
#include "rendezvous/json.h"
#include "rendezvous/world.h"
#include "spec/limits.h"

static const struct world two = {
	.generation = 5, /* the second turn of the ports */
	.n_members = 2,
	.members =
		(struct world_member[]){
			{(char *) "a",
			 (char *) "{\"host\":\"10.0.0.1\",\"ports\":[10,11,12,20,21,22,"
				  "30,31,32,40,41,42]}"},
			{(char *) "b",
			 (char *) "{\"host\":\"fd00::2\",\"ports\":[50,51,60,61,70,71,"
				  "80,81]}"},
		},
};

static void read_place(const char *id, struct arena *arena, struct world_cluster *cluster)
{
	*cluster = (struct world_cluster){0};
	assert_int_equal(world_cluster_read(&two, id, arena, cluster, NULL), 0);
}

TEST(members_stand_in_the_order_of_the_world)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct world_cluster first, second;

	read_place("a", arena, &first);
	read_place("b", arena, &second);
	assert_int_equal(first.world.first_rank, 0);
	assert_int_equal(second.world.first_rank, 2);
	assert_int_equal(first.world.size, 3);
	assert_int_equal(second.world.group, 1);
	assert_int_equal(second.world.n_groups, 2);
	assert_string_equal(first.dense_cluster,
			    "{\"worker\":[\"10.0.0.1:20\",\"10.0.0.1:21\",\"[fd00::2]:60\"]}");
	assert_string_equal(first.dense_cluster, second.dense_cluster);
	assert_string_equal(second.coordinator_host, "10.0.0.1");
	assert_int_equal(second.coordinator_port, 22);
}

static const struct world of_two_roles = {
	.generation = 1,
	.n_members = 4,
	.members =
		(struct world_member[]){
			{(char *) "a",
			 (char *) "{\"host\":\"a\",\"ports\":[1,2,3,1,2,3,1,2,3,1,2,3]}"},
			{(char *) "b",
			 (char *) "{\"host\":\"b\",\"role\":\"reader\",\"ports\":[1,2,1,2,1,"
				  "2,1,2]}"},
			{(char *) "c",
			 (char *) "{\"host\":\"c\",\"role\":\"default\",\"ports\":[1,2,1,2,1,"
				  "2,1,2]}"},
			{(char *) "d",
			 (char *) "{\"host\":\"d\",\"role\":\"reader\",\"ports\":[1,2,1,2,1,"
				  "2,1,2]}"},
		},
};

/* The first one says nothing of its role, as an earlier version. */
TEST(the_processes_of_a_role_have_their_own_ranks)
{
	static const struct {
		const char *id;
		int rank, role_rank, role_size;
	} places[] = {{"a", 0, 0, 3}, {"b", 2, 0, 2}, {"c", 3, 2, 3}, {"d", 4, 1, 2}};
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();

	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		struct world_cluster cluster = {0};

		assert_int_equal(
			world_cluster_read(&of_two_roles, places[i].id, arena, &cluster, NULL), 0);
		assert_int_equal(cluster.world.first_rank, places[i].rank);
		assert_int_equal(cluster.world.first_role_rank, places[i].role_rank);
		assert_int_equal(cluster.world.role_size, places[i].role_size);
		assert_int_equal(cluster.world.size, 5);
	}
}

/* The role of earlier versions is not written, so that they read the offer as their own. */
TEST(an_offer_is_written_as_it_was_read)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();

	for (size_t i = 0; i < of_two_roles.n_members; i++) {
		struct text text CLEANUP(text_done) = {0};
		struct offer offer;

		assert_int_equal(offer_read(of_two_roles.members[i].offer, arena, &offer, NULL), 0);
		offer_add(&offer, &text);
		assert_int_equal(strstr(text_of(&text), "\"role\":\"reader\"") != NULL, i % 2);
		assert_int_equal(strstr(text_of(&text), "role") != NULL, i % 2);
	}
}

/* A process of the world before may hold its port still. */
TEST(no_port_is_used_in_two_generations_in_a_row)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct offer offer;

	assert_int_equal(offer_read(two.members[0].offer, arena, &offer, NULL), 0);
	for (int64_t generation = 1; generation < 20; generation++)
		for (int nth = 0; nth < offer.n_processes; nth++)
			assert_string_not_equal(offer_address(&offer, generation, nth, arena),
						offer_address(&offer, generation + 1, nth, arena));
}

TEST(an_offer_that_is_none_is_refused)
{
	static const char *const wrong[] = {
		"",
		"[]",
		"{}",
		"{\"host\":\"h\",\"ports\":[]}",
		"{\"host\":\"h\",\"ports\":[1,2,3,4]}",
		"{\"host\":\"h\",\"ports\":[1,2,3,4,5,6,7]}",
		"{\"host\":\"h\",\"ports\":[1,2,3,4,5,6,7,65536]}",
		"{\"host\":\"h\",\"ports\":[1,2,3,4,5,6,7,\"8\"]}",
		"{\"host\":\"a b\",\"ports\":[1,2,3,4,5,6,7,8]}",
		"{\"host\":\"\",\"ports\":[1,2,3,4,5,6,7,8]}",
		"{\"host\":\"-oX\",\"ports\":[1,2,3,4,5,6,7,8]}",
		"{\"host\":\"a-.b\",\"ports\":[1,2,3,4,5,6,7,8]}",
		"{\"host\":\"a..b\",\"ports\":[1,2,3,4,5,6,7,8]}",
		"{\"host\":\".\",\"ports\":[1,2,3,4,5,6,7,8]}",
		"{\"host\":\"a%b\",\"ports\":[1,2,3,4,5,6,7,8]}",
		"{\"host\":\"%%%:\",\"ports\":[1,2,3,4,5,6,7,8]}",
		"{\"host\":\"fd00::2%\",\"ports\":[1,2,3,4,5,6,7,8]}",
		"{\"host\":\"fd00::2%a:\",\"ports\":[1,2,3,4,5,6,7,8]}",
		"{\"host\":\"[fd00::2]\",\"ports\":[1,2,3,4,5,6,7,8]}",
		"{\"host\":\"fd00::g\",\"ports\":[1,2,3,4,5,6,7,8]}",
		"{\"host\":\"h\",\"role\":\"\",\"ports\":[1,2,3,4,5,6,7,8]}",
		"{\"host\":\"h\",\"role\":7,\"ports\":[1,2,3,4,5,6,7,8]}",
		"{\"host\":\"h\",\"role\":\"a b\",\"ports\":[1,2,3,4,5,6,7,8]}",
	};
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct offer offer;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_true(offer_read(wrong[i], arena, &offer, NULL) < 0);
}

TEST(a_host_is_a_dns_name_or_an_ip_address)
{
	static const char *const hosts[] = {
		"h",       "my_job_1", "Node-7.example.com.", "10.0.0.1",
		"fd00::2", "::1",      "fe80::1%eth0.7",      "::ffff:10.0.0.1"};
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct offer offer;

	for (size_t i = 0; i < ARRAY_LEN(hosts); i++) {
		const char *text = arena_format(
			arena, "{\"host\":\"%s\",\"ports\":[1,2,3,4,5,6,7,8]}", hosts[i]);

		assert_int_equal(offer_read(text, arena, &offer, NULL), 0);
		assert_string_equal(offer.host, hosts[i]);
	}
}

TEST(a_stranger_has_no_place)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct world_cluster cluster = {0};

	assert_int_equal(world_cluster_read(&two, "c", arena, &cluster, NULL), ERR_NOT_FOUND);
}

/* The longest ids and roles, and the longest hosts whose sum LIMIT_WORLD_ADDRESSES allows. A server
 * that lies sends no more than twice as much. */
TEST(the_largest_world_is_an_answer_and_little_more_is_none)
{
	struct member_answer answer = {.has_members = true, .n_members = LIMIT_MEMBERS};
	struct text offer CLEANUP(text_done) = {0}, text CLEANUP(text_done) = {0};
	char id[64], role[64];
	int ports[] = {60000, 60000, 60000, 60000, 60000, 60000, 60000, 60000};

	memset(id, 'i', sizeof(id) - 1);
	memset(role, 'r', sizeof(role) - 1);
	id[sizeof(id) - 1] = role[sizeof(role) - 1] = '\0';
	offer_add(&(struct offer){.host = "hh", .role = role, .n_processes = 1, .ports = ports},
		  &offer);
	answer.members = mem_new_array(LIMIT_MEMBERS, sizeof(*answer.members));
	for (size_t i = 0; i < answer.n_members; i++)
		answer.members[i] = (struct world_member){id, offer.bytes};
	member_answer_add(&answer, &text);
	assert_true(text.len + LIMIT_MEMBER_CALL < LIMIT_MEMBER_ANSWER);
	assert_true(LIMIT_MEMBER_ANSWER < 2 * text.len);
	free(answer.members);
}
