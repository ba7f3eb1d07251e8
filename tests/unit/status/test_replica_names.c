#include "unit.h"

#include "status/status.h"

static bool runs(const struct replica_status *replica)
{
	return replica->state == REPLICA_RUNNING;
}

static void assert_names(const struct replica_status *replicas, size_t count, const char *expected)
{
	const struct status status = {.replicas = (struct replica_status *) replicas,
				      .n_replicas = count};
	struct text text CLEANUP(text_done) = {0};

	replica_names_add(&text, &status, runs);
	assert_string_equal(text_of(&text), expected);
}

TEST(neighbours_of_a_role_are_one_range)
{
	struct replica_status replicas[] = {
		{.role = "chief", .index = 0, .state = REPLICA_RUNNING},
		{.role = "worker", .index = 0, .state = REPLICA_STOPPED},
		{.role = "worker", .index = 1, .state = REPLICA_RUNNING},
		{.role = "worker", .index = 2, .state = REPLICA_RUNNING},
		{.role = "worker", .index = 3, .state = REPLICA_RUNNING},
		{.role = "ps", .index = 4, .state = REPLICA_RUNNING},
	};

	assert_names(replicas, 6, "chief-0, worker-1 to worker-3, ps-4");
	replicas[4].state = REPLICA_FAILED;
	assert_names(replicas, 6, "chief-0, worker-1, worker-2, ps-4");
	replicas[4].state = REPLICA_RUNNING;
	replicas[3].state = REPLICA_FAILED;
	assert_names(replicas, 6, "chief-0, worker-1, worker-3, ps-4");
	assert_names(replicas, 0, "");
}

TEST(of_many_ranges_the_first_are_named)
{
	struct replica_status replicas[40];

	for (int i = 0; i < 40; i++)
		replicas[i] = (struct replica_status){
			.role = "worker",
			.index = i,
			.state = i % 2 ? REPLICA_STOPPED : REPLICA_RUNNING,
		};
	assert_names(replicas, 40,
		     "worker-0, worker-2, worker-4, worker-6, worker-8, worker-10, worker-12, "
		     "worker-14 and 12 more");
	for (int i = 0; i < 40; i++)
		replicas[i].state = REPLICA_RUNNING;
	assert_names(replicas, 40, "worker-0 to worker-39");
}
