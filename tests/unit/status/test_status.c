#include "unit.h"

#include "base/json.h"
#include "base/mem.h"
#include "status/status.h"

/* A status in which everything is set. */
static struct status full_status(void)
{
	static const char *last_lines[] = {"one", "two \xc3\xa9"};
	static const char *stacks[] = {"worker-0: wait (train.py:4)"};
	static struct consequence consequences[] = {{"worker", 0, "was stopped by muster", 3}};
	static struct failure failure = {
		.role = "worker",
		.index = 1,
		.attempt = 2,
		.exit_code = 3,
		.reason = "Error",
		.message = "worker-1 exited with code 3",
		.cause = "worker-0 was stopped",
		.time = 1700000003123,
		.lived = 17,
		.last_lines = last_lines,
		.n_last_lines = 2,
		.stacks = stacks,
		.n_stacks = 1,
		.consequences = consequences,
		.n_consequences = 1,
	};
	static struct condition conditions[] = {
		{CONDITION_CREATED, true, "TFJobCreated", "TFJob j is created.", 1000, 1000},
		{CONDITION_RUNNING, false, "TFJobRunning", "TFJob ns/j is running.", 3000, 2000},
	};
	static struct role_status roles[] = {{"PS", 1, 0, 0}, {"Worker", 0, 1, 2}};
	static struct replica_status replicas[] = {
		{.role = "worker",
		 .index = 0,
		 .attempt = 4,
		 .restarts = 1,
		 .state = REPLICA_STOPPED,
		 .pid = 4711,
		 .address = "127.0.0.1:20001",
		 .exit_code = -1,
		 .signal = 15,
		 .reason = "Stopped",
		 .start_time = 1700000000000,
		 .end_time = 1700000002001,
		 .log = "/state/worker-0.4.log",
		 .pod = "digits-worker-0",
		 .node = "node-7",
		 .ip = "10.1.2.3",
		 .message = "it was asked to end"},
		{.role = "worker",
		 .index = 1,
		 .recent_restarts = 2,
		 .restart_at = 1700000009500,
		 .exit_code = 0,
		 .state = REPLICA_PENDING},
	};
	return (struct status){
		.conditions = conditions,
		.n_conditions = 2,
		.roles = roles,
		.n_roles = 2,
		.replicas = replicas,
		.n_replicas = 2,
		.start_time = 1700000000000,
		.completion_time = 1700000004000,
		.restarts = 2,
		.recent_restarts = 1,
		.machines = "2, 3",
		.failure = &failure,
		.exit_code = 3,
	};
}

/* The status that is read from the JSON of another; it lives in the arena. */
static struct status read_again(const struct status *status, struct arena *arena)
{
	struct json *json CLEANUP(json_cleanup) = status_write(status);
	struct status again;

	assert_int_equal(status_read(json, arena, &again, NULL), 0);
	return again;
}

TEST(what_is_written_is_read_again)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct status status = full_status();
	struct status again = read_again(&status, arena);

	assert_true(status_equals(&status, &again));
}

TEST(a_status_of_nothing_is_read_from_null)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct status status;

	assert_int_equal(status_read(NULL, arena, &status, NULL), 0);
	assert_int_equal(status.n_conditions, 0);
	assert_int_equal(status.exit_code, -1);
	assert_false(status_is_finished(&status));

	struct status again = read_again(&status, arena);

	assert_true(status_equals(&status, &again));
}

TEST(what_is_not_set_is_not_written)
{
	struct replica_status replica = {
		.role = "ps", .attempt = 1, .state = REPLICA_STARTING, .exit_code = -1};
	struct status status = {.replicas = &replica, .n_replicas = 1, .exit_code = -1};
	struct json *json CLEANUP(json_cleanup) = status_write(&status);
	struct text text CLEANUP(text_done) = {0};

	json_add_compact(&text, json);
	assert_string_equal(text_of(&text),
			    "{\"conditions\":[],\"replicas\":[{\"role\":"
			    "\"ps\",\"index\":0,\"attempt\":1,\"state\":\"Starting\",\"restarts\":"
			    "0}]}");
}

/* Changes one thing of a full status at a time; none may be overlooked. */
TEST(every_difference_is_seen)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct status status = full_status();

#define ASSERT_SEEN(member, other_value)                                                           \
	do {                                                                                       \
		struct status other = read_again(&status, arena);                                  \
		other.member = (other_value);                                                      \
		assert_false(status_equals(&status, &other));                                      \
		assert_false(status_equals(&other, &status));                                      \
	} while (0)

	ASSERT_SEEN(n_conditions, 1);
	ASSERT_SEEN(n_roles, 1);
	ASSERT_SEEN(n_replicas, 1);
	ASSERT_SEEN(start_time, 1);
	ASSERT_SEEN(completion_time, 1);
	ASSERT_SEEN(ending_since, 7);
	ASSERT_SEEN(restarts, 7);
	ASSERT_SEEN(recent_restarts, 7);
	ASSERT_SEEN(machines, NULL);
	ASSERT_SEEN(exit_code, 0);
	ASSERT_SEEN(failure, NULL);
	ASSERT_SEEN(conditions[0].type, CONDITION_FAILED);
	ASSERT_SEEN(conditions[0].is_true, false);
	ASSERT_SEEN(conditions[0].reason, "X");
	ASSERT_SEEN(conditions[0].message, NULL);
	ASSERT_SEEN(conditions[0].last_update, 7);
	ASSERT_SEEN(conditions[0].last_transition, 7);
	ASSERT_SEEN(roles[1].title, "X");
	ASSERT_SEEN(roles[1].active, 7);
	ASSERT_SEEN(roles[1].succeeded, 7);
	ASSERT_SEEN(roles[1].failed, 7);
	ASSERT_SEEN(replicas[0].role, "ps");
	ASSERT_SEEN(replicas[0].index, 7);
	ASSERT_SEEN(replicas[0].attempt, 7);
	ASSERT_SEEN(replicas[0].restarts, 7);
	ASSERT_SEEN(replicas[0].recent_restarts, 7);
	ASSERT_SEEN(replicas[1].restart_at, 7);
	ASSERT_SEEN(replicas[0].state, REPLICA_RUNNING);
	ASSERT_SEEN(replicas[0].pid, 7);
	ASSERT_SEEN(replicas[0].address, NULL);
	ASSERT_SEEN(replicas[0].exit_code, 7);
	ASSERT_SEEN(replicas[0].signal, 7);
	ASSERT_SEEN(replicas[0].reason, "X");
	ASSERT_SEEN(replicas[0].start_time, 7);
	ASSERT_SEEN(replicas[0].end_time, 7);
	ASSERT_SEEN(replicas[0].message, NULL);
	ASSERT_SEEN(replicas[0].log, NULL);
	ASSERT_SEEN(replicas[0].gpus, "1");
	ASSERT_SEEN(replicas[0].pod, NULL);
	ASSERT_SEEN(replicas[0].node, NULL);
	ASSERT_SEEN(replicas[0].ip, NULL);
	ASSERT_SEEN(failure->role, "ps");
	ASSERT_SEEN(failure->index, 7);
	ASSERT_SEEN(failure->attempt, 7);
	ASSERT_SEEN(failure->exit_code, 7);
	ASSERT_SEEN(failure->signal, 7);
	ASSERT_SEEN(failure->reason, "X");
	ASSERT_SEEN(failure->message, "X");
	ASSERT_SEEN(failure->cause, NULL);
	ASSERT_SEEN(failure->time, 7);
	ASSERT_SEEN(failure->lived, 7);
	ASSERT_SEEN(failure->n_last_lines, 1);
	ASSERT_SEEN(failure->last_lines[1], "X");
	ASSERT_SEEN(failure->n_stacks, 0);
	ASSERT_SEEN(failure->stacks[0], "X");
	ASSERT_SEEN(failure->n_consequences, 0);
	ASSERT_SEEN(failure->consequences[0].role, "X");
	ASSERT_SEEN(failure->consequences[0].index, 7);
	ASSERT_SEEN(failure->consequences[0].attempt, 7);
	ASSERT_SEEN(failure->consequences[0].what, "X");
}

TEST(a_copy_outlives_what_was_copied)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct arena *other = arena_new();
	struct status status = full_status();
	struct status read = read_again(&status, other);
	struct status copy = status_copy(&read, arena);

	arena_free(other);
	assert_true(status_equals(&status, &copy));
}

/* Those of types that another controller has. */
TEST(moments_move_with_the_clock_and_what_is_not_set_stays)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct status full = full_status();
	struct status moved = status_copy(&full, arena);

	status_move_times(&moved, -500);
	assert_int_equal(moved.conditions[1].last_transition, 1500);
	assert_int_equal(moved.replicas[0].end_time, 1700000001501);
	assert_int_equal(moved.replicas[0].restart_at, MSEC_UNSET);
	assert_int_equal(moved.replicas[1].restart_at, 1700000009000);
	assert_int_equal(moved.replicas[1].start_time, MSEC_UNSET);
	assert_int_equal(moved.failure->time, 1700000002623);
	assert_int_equal(moved.failure->lived, 17);
	status_move_times(&moved, 500);
	assert_true(status_equals(&moved, &full));
}

TEST(foreign_conditions_are_kept)
{
	static const char text[] =
		"{\"conditions\":[{\"type\":\"Odd\",\"status\":\"Unknown\",\"more\":[1]},"
		"{\"type\":\"Created\",\"status\":\"True\"}]}";
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct json *json CLEANUP(json_cleanup) = NULL;
	struct status status, without;

	assert_int_equal(json_read(text, strlen(text), &json, NULL), 0);
	assert_int_equal(status_read(json, arena, &status, NULL), 0);
	assert_int_equal(status.n_conditions, 1);
	assert_true(status_condition_is_true(&status, CONDITION_CREATED));
	struct status copy = status_copy(&status, arena);
	struct json *written CLEANUP(json_cleanup) = status_write(&copy);
	const struct json *kept = json_at(json_get(written, "conditions"), 1);

	assert_int_equal(json_count(json_get(written, "conditions")), 2);
	assert_true(json_equals(kept, json_at(json_get(json, "conditions"), 0)));
	without = copy;
	without.foreign_conditions = NULL;
	assert_true(status_equals(&status, &copy));
	assert_false(status_equals(&status, &without));
}

TEST(a_wrong_field_is_named)
{
	static const struct {
		const char *json;
		const char *text;
	} rows[] = {
		{"7", "status: expected an object"},
		{"{\"conditions\":7}", "status.conditions: expected a list"},
		{"{\"conditions\":[{\"type\":\"Odd\"},{\"reason\":\"r\"}]}",
		 "status.conditions[0].type: expected one of Created, Running, Restarting, "
		 "Succeeded, "
		 "Suspended, Queued, Failed"},
		{"{\"startTime\":\"yesterday\"}", "status.startTime: expected a time (RFC 3339)"},
		{"{\"replicas\":[{\"role\":\"ps\",\"state\":\"Running\"},{\"state\":\"Running\"}]}",
		 "status.replicas[1].role: expected text"},
		{"{\"replicas\":[{\"role\":\"../ps\",\"state\":\"Running\"}]}",
		 "status.replicas[0].role: expected a name"},
		{"{\"failure\":{\"role\":\"../ps\"}}", "status.failure.role: expected a name"},
		{"{\"failure\":{\"reason\":\"r\",\"consequences\":[{\"role\":\"\\u001b[2J\","
		 "\"what\":\"w\"}]}}",
		 "status.failure.consequences[0].role: expected a name"},
		{"{\"replicas\":[{\"role\":\"ps\",\"state\":\"Running\",\"index\":\"1\"}]}",
		 "status.replicas[0].index: expected a whole number from 0 to 9999"},
		{"{\"restarts\":3000000000}",
		 "status.restarts: expected a whole number from 0 to 1000000000"},
		{"{\"recentRestarts\":-1}",
		 "status.recentRestarts: expected a whole number from 0 to 1000000000"},
		{"{\"exitCode\":-2}",
		 "status.exitCode: expected a whole number from -1 to 2147483647"},
		{"{\"replicas\":[{\"role\":\"ps\",\"state\":\"Running\",\"index\":-1}]}",
		 "status.replicas[0].index: expected a whole number from 0 to 9999"},
		{"{\"replicas\":[{\"role\":\"ps\",\"state\":\"Running\",\"index\":2147483647}]}",
		 "status.replicas[0].index: expected a whole number from 0 to 9999"},
		{"{\"replicas\":[{\"role\":\"ps\",\"state\":\"Running\",\"attempt\":2147483647}]}",
		 "status.replicas[0].attempt: expected a whole number from 0 to 1000000000"},
		{"{\"replicas\":[{\"role\":\"ps\",\"state\":\"Running\",\"pid\":-1}]}",
		 "status.replicas[0].pid: expected a whole number from 0 to 2147483647"},
		{"{\"replicas\":[{\"role\":\"ps\",\"state\":\"Running\",\"signal\":2147483647}]}",
		 "status.replicas[0].signal: expected a whole number from 0 to 127"},
		{"{\"replicaStatuses\":{\"PS\":{},\"Worker\":{\"active\":-1}}}",
		 "status.replicaStatuses[1].active: expected a whole number from 0 to 10000"},
		{"{\"conditions\":[{},{},{},{},{},{},{},{}]}",
		 "status.conditions: expected a shorter list"},
		{"{\"failure\":{}}", "status.failure.reason: expected text"},
		{"{\"failure\":{\"reason\":\"r\",\"livedMilliseconds\":-1}}",
		 "status.failure.livedMilliseconds: expected a whole number from 0 to "
		 "9223372036854775807"},
		{"{\"failure\":[]}", "status.failure: expected an object"},
		{"{\"failure\":{\"reason\":\"r\",\"consequences\":[{\"role\":\"ps\"}]}}",
		 "status.failure.consequences[0].what: expected text"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct arena *arena CLEANUP(arena_cleanup) = arena_new();
		struct json *json CLEANUP(json_cleanup) = NULL;
		struct status status = {.restarts = 77};
		struct err err;

		assert_int_equal(json_read(rows[i].json, strlen(rows[i].json), &json, NULL), 0);
		assert_int_equal(status_read(json, arena, &status, &err), ERR_INVALID);
		assert_string_equal(err.text, rows[i].text);
		assert_int_equal(status.restarts, 77);
	}
}

TEST(success_and_failure_both_finish_a_job)
{
	struct condition condition = {CONDITION_SUCCEEDED, true, NULL, NULL, 0, 0};
	struct status status = {.conditions = &condition, .n_conditions = 1};

	assert_true(status_is_finished(&status));
	condition.type = CONDITION_FAILED;
	assert_true(status_is_finished(&status));
	condition.is_true = false;
	assert_false(status_is_finished(&status));
	condition = (struct condition){.type = CONDITION_RUNNING, .is_true = true};
	assert_false(status_is_finished(&status));
}
