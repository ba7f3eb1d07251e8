/* What a cluster keeps of a status: nothing that is needed is lost, and ten thousand replicas have
 * room. */
#include "unit.h"

#include "base/json.h"
#include "base/mem.h"
#include "reconcile/compact_status.h"
#include "spec/limits.h"

#define NOW ((msec) 1700000000000)
#define CONFIG_MAP_SIZE (1024 * 1024) /* that of Kubernetes */

static char *small_text(const struct status *status)
{
	struct json *json CLEANUP(json_cleanup) = compact_status_write(status);
	struct text text CLEANUP(text_done) = {0};

	json_add_compact(&text, json);
	return text_take(&text);
}

static int read_text(const char *text, struct arena *arena, struct status *ret_status,
		     struct err *err)
{
	struct json *json CLEANUP(json_cleanup) = NULL;

	assert_int_equal(json_read(text, strlen(text), &json, err), 0);
	return compact_status_read(json, arena, ret_status, err);
}

static struct status read_again(const struct status *status, struct arena *arena)
{
	char *text CLEANUP(mem_free_text) = small_text(status);
	struct status again;
	struct err err = {0};

	if (read_text(text, arena, &again, &err) < 0)
		fail_msg("%s", err.text);
	return again;
}

TEST(what_pods_show_is_not_in_it)
{
	static struct replica_status replicas[] = {
		{.role = "ps", .state = REPLICA_RUNNING, .exit_code = -1, .start_time = NOW},
		{.role = "worker",
		 .state = REPLICA_RUNNING,
		 .exit_code = -1,
		 .start_time = NOW,
		 .address = "j-worker-0.j.ada.svc:2222",
		 .pod = "j-worker-0",
		 .node = "node-7",
		 .ip = "10.1.2.3"},
		{.role = "worker",
		 .index = 1,
		 .state = REPLICA_STARTING,
		 .exit_code = -1,
		 .reason = "ImagePullBackOff",
		 .message = "no such image"},
		{.role = "worker",
		 .index = 2,
		 .attempt = 2,
		 .restarts = 1,
		 .state = REPLICA_PENDING,
		 .exit_code = -1},
		{.role = "worker", .index = 3, .state = REPLICA_RUNNING, .exit_code = -1},
	};
	static struct role_status roles[] = {{"PS", 1, 0, 0}, {"Worker", 1, 0, 0}};
	const struct status status = {
		.replicas = replicas,
		.n_replicas = ARRAY_LEN(replicas),
		.roles = roles,
		.n_roles = 2,
		.exit_code = -1,
	};
	char *text CLEANUP(mem_free_text) = small_text(&status);

	assert_string_equal(text, "{\"conditions\":[],\"replicas\":["
				  "{\"role\":\"ps\",\"indices\":\"0\",\"attempt\":0,"
				  "\"state\":\"Started\",\"restarts\":0},"
				  "{\"role\":\"worker\",\"indices\":\"0-1,3\",\"attempt\":0,"
				  "\"state\":\"Started\",\"restarts\":0},"
				  "{\"role\":\"worker\",\"indices\":\"2\",\"attempt\":2,"
				  "\"state\":\"Pending\",\"restarts\":1}]}");
}

/* Everything that is kept, in every state. */
static struct status rich_status(void)
{
	static struct consequence consequences[] = {
		{"ps", 0, "was stopped by muster", 0},
		{"worker", 0, "exited with code 1", 2},
		{"worker", 3, "exited with code 1", 2},
	};
	static struct failure failure = {
		.role = "worker",
		.index = 1,
		.attempt = 2,
		.exit_code = 3,
		.reason = "Error",
		.message = "worker-1 exited with code 3",
		.time = NOW + 3123,
		.consequences = consequences,
		.n_consequences = 3,
	};
	static struct condition conditions[] = {
		{CONDITION_CREATED, true, "TFJobCreated", "TFJob j is created.", 1000, 1000},
	};
	static struct replica_status replicas[] = {
		{.role = "ps",
		 .attempt = 7,
		 .restarts = 7,
		 .recent_restarts = 3,
		 .restart_at = NOW + 9500,
		 .exit_code = -1},
		{.role = "worker",
		 .attempt = 1,
		 .state = REPLICA_FAILED,
		 .exit_code = -1,
		 .signal = 9,
		 .reason = "OOMKilled",
		 .message = "its memory limit is 1Gi",
		 .start_time = NOW + 2000,
		 .end_time = NOW + 3001},
		{.role = "worker",
		 .index = 1,
		 .state = REPLICA_SUCCEEDED,
		 .start_time = NOW + 1000,
		 .end_time = NOW + 2000},
		{.role = "worker",
		 .index = 2,
		 .state = REPLICA_STARTING,
		 .exit_code = -1,
		 .reason = "FailedMount",
		 .message = "no such volume",
		 .is_reason_from_elsewhere = true},
		{.role = "worker", .index = 4, .state = REPLICA_STOPPING, .exit_code = -1},
		{.role = "worker",
		 .index = 9,
		 .state = REPLICA_STOPPED,
		 .exit_code = 143,
		 .end_time = NOW},
		{.role = "gone", .state = REPLICA_STOPPED, .exit_code = -1},
	};
	return (struct status){
		.conditions = conditions,
		.n_conditions = 1,
		.replicas = replicas,
		.n_replicas = ARRAY_LEN(replicas),
		.start_time = NOW,
		.restarts = 8,
		.recent_restarts = 1,
		.failure = &failure,
		.exit_code = -1,
	};
}

TEST(what_decisions_need_is_read_again)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct status status = rich_status();
	struct status again = read_again(&status, arena);

	assert_true(status_equals(&status, &again));
}

TEST(counts_of_a_job_that_has_succeeded_stay)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct condition condition = {CONDITION_SUCCEEDED, true, "TFJobSucceeded", "Done.", 1, 1};
	struct role_status role = {"Worker", 0, 4, 0};
	struct status status = {.conditions = &condition,
				.n_conditions = 1,
				.roles = &role,
				.n_roles = 1,
				.exit_code = 0};
	struct status again = read_again(&status, arena);

	assert_int_equal(again.n_roles, 1);
	assert_int_equal(again.roles[0].succeeded, 4);
}

TEST(what_status_write_wrote_is_read_too)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct status status = rich_status(), again;
	struct json *json CLEANUP(json_cleanup) = status_write(&status);

	assert_int_equal(compact_status_read(json, arena, &again, NULL), 0);
	assert_true(status_equals(&status, &again));
	assert_int_equal(compact_status_read(NULL, arena, &again, NULL), 0);
	assert_int_equal(again.n_replicas, 0);
}

TEST(what_cannot_be_read_is_named)
{
	static const struct {
		const char *indices, *sentence;
	} cases[] = {
		{"3-1", "status.replicas[0].indices: expected ranges, as \"0-4,6\""},
		{"0-10000", "[0].indices: expected ranges"},
		{"1,", "[0].indices: expected ranges"},
		{"0 1", "[0].indices: expected ranges"},
		{"", "[0].indices: expected ranges"},
		{"0\",\"attempt\":-5,\"state\":\"Started",
		 "status.replicas[0].attempt: expected a whole number from 0"},
		{"0\",\"state\":\"Odd",
		 "status.replicas[0].state: expected one of Pending, Starting"},
	};
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char *text CLEANUP(mem_free_text) = mem_format(
			"{\"replicas\":[{\"role\":\"a\",\"indices\":\"%s\"}]}", cases[i].indices);
		struct status status;
		struct err err = {0};

		assert_int_equal(read_text(text, arena, &status, &err), ERR_INVALID);
		if (!strstr(err.text, cases[i].sentence))
			fail_msg("%s: %s", cases[i].indices, err.text);
	}
}

/* From whoever may write the status: a megabyte for each of ten thousand, and too many. */
TEST(a_group_stands_for_no_more_than_the_writer_writes)
{
	static const char *const indices[] = {"0-9999", "0-9999,5"};
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();

	for (size_t i = 0; i < ARRAY_LEN(indices); i++) {
		char *text CLEANUP(mem_free_text) =
			mem_format("{\"replicas\":[{\"role\":\"a\",\"indices\":\"%s\","
				   "\"message\":\"%0*d\"}]}",
				   indices[i], i == 0 ? 1000000 : 1, 1);
		struct status status;
		struct err err = {0};

		assert_int_equal(read_text(text, arena, &status, &err), ERR_INVALID);
		assert_string_equal(err.text, "status.replicas[0].indices: expected at most "
					      "10000 elements, of 64 MiB in all");
	}
}

/* Room. */

static struct status large_status(struct arena *arena)
{
	struct status status = {
		.replicas = arena_take_array(arena, LIMIT_REPLICAS, sizeof(*status.replicas)),
		.n_replicas = LIMIT_REPLICAS,
		.start_time = NOW,
		.exit_code = -1,
	};

	for (int i = 0; i < LIMIT_REPLICAS; i++)
		status.replicas[i] = (struct replica_status){.role = "worker",
							     .index = i,
							     .state = REPLICA_RUNNING,
							     .exit_code = -1,
							     .start_time = NOW + i};
	return status;
}

/* The rest of the record has a quarter of what there is room for. */
static void assert_has_room(const struct status *status)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	char *text CLEANUP(mem_free_text) = small_text(status);
	struct status again = read_again(status, arena);

	print_message("%d replicas: %zu bytes\n", (int) status->n_replicas, strlen(text));
	assert_int_equal(again.n_replicas, status->n_replicas);
	if (strlen(text) > CONFIG_MAP_SIZE / 4 * 3)
		fail_msg("%zu bytes", strlen(text));
}

TEST(ten_thousand_that_run_are_a_line)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct status status = large_status(arena);
	char *text CLEANUP(mem_free_text) = small_text(&status);

	assert_true(strlen(text) < 200);
}

TEST(five_thousand_that_were_restarted_each_so_often_have_room)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct status status = large_status(arena);

	status.n_replicas = LIMIT_REPLICAS / 2;
	for (int i = 0; i < LIMIT_REPLICAS / 2; i++) {
		struct replica_status *replica = &status.replicas[i];

		replica->attempt = i + 1;
		replica->restarts = i;
		replica->recent_restarts = i % 10;
		if (i % 2 == 0)
			continue;
		replica->state = REPLICA_PENDING;
		replica->restart_at = NOW + i * 7919 % 60000;
	}
	assert_has_room(&status);
}

static struct failure *large_failure(struct arena *arena)
{
	struct failure *failure = arena_take(arena, sizeof(*failure));

	*failure = (struct failure){.role = "worker", .reason = "Error", .message = "failed"};
	failure->consequences =
		arena_take_array(arena, LIMIT_REPLICAS, sizeof(*failure->consequences));
	for (int i = 0; i < LIMIT_REPLICAS; i++)
		failure->consequences[failure->n_consequences++] = (struct consequence){
			"worker", i,
			i % 3 ? "was stopped by muster"
			      : arena_format(arena, "was evicted: node-%d is low on memory", i),
			7};
	return failure;
}

TEST(ten_thousand_that_ended_each_in_its_own_way_have_room)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct status status = large_status(arena);

	status.failure = large_failure(arena);
	for (int i = 0; i < LIMIT_REPLICAS; i++) {
		struct replica_status *replica = &status.replicas[i];

		replica->attempt = replica->restarts = i % 3;
		replica->state = i % 2 ? REPLICA_FAILED : REPLICA_STOPPED;
		replica->exit_code = i % 2 ? 1 : 143;
		replica->reason = i % 2 ? "Evicted" : NULL;
		replica->message = arena_format(arena, "node-%d is low on memory", i);
		replica->start_time = NOW + i % 100 * 1000;
		replica->end_time = NOW + i * 7919 % 86400 * 1000;
	}
	assert_has_room(&status);
}

TEST(messages_have_an_end_and_reasons_stay)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct status status = large_status(arena);

	for (int i = 0; i < LIMIT_REPLICAS; i++) {
		status.replicas[i].state = REPLICA_FAILED;
		status.replicas[i].reason = i % 2 ? "Evicted" : "OOMKilled";
		status.replicas[i].message = arena_format(arena, "%0300d", i);
	}
	struct status again = read_again(&status, arena);
	const struct replica_status *last = &again.replicas[LIMIT_REPLICAS - 1];

	assert_string_equal(again.replicas[0].message, status.replicas[0].message);
	assert_null(last->message);
	assert_string_equal(last->reason, "Evicted");
	assert_has_room(&status);
}

TEST(the_longest_message_that_all_have_is_read_again)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct status status = large_status(arena);
	const char *message = arena_format(arena, "%0*d", COMPACT_STATUS_TEXT, 1);

	for (int i = 0; i < LIMIT_REPLICAS; i++) {
		status.replicas[i].state = i % 2 ? REPLICA_FAILED : REPLICA_SUCCEEDED;
		status.replicas[i].message = i == 0 ? arena_format(arena, "%s1", message) : message;
	}
	struct status again = read_again(&status, arena);

	assert_null(again.replicas[0].message);
	assert_string_equal(again.replicas[LIMIT_REPLICAS - 1].message, message);
}
