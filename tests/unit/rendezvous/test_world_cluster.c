/* Where the processes of a member stand in a world, of what its members offer. */
#include "unit.h"

#include "base/mem.h"
#include "rendezvous/world_cluster.h"

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

static void members_stand_in_the_order_of_the_world(void **state)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct world_cluster first, second;

	(void) state;
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

/* A process of the world before may hold its port still. */
static void no_port_is_used_in_two_generations_in_a_row(void **state)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct offer offer;

	(void) state;
	assert_int_equal(offer_read(two.members[0].offer, arena, &offer, NULL), 0);
	for (int64_t generation = 1; generation < 20; generation++)
		for (int nth = 0; nth < offer.n_processes; nth++)
			assert_string_not_equal(offer_address(&offer, generation, nth, arena),
						offer_address(&offer, generation + 1, nth, arena));
}

static void an_offer_that_is_none_is_refused(void **state)
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
	};
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct offer offer;

	(void) state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_true(offer_read(wrong[i], arena, &offer, NULL) < 0);
}

static void a_stranger_has_no_place(void **state)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct world_cluster cluster = {0};

	(void) state;
	assert_int_equal(world_cluster_read(&two, "c", arena, &cluster, NULL), ERR_NOT_FOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_stand_in_the_order_of_the_world),
		cmocka_unit_test(no_port_is_used_in_two_generations_in_a_row),
		cmocka_unit_test(an_offer_that_is_none_is_refused),
		cmocka_unit_test(a_stranger_has_no_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
