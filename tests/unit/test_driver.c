/* The driver's order of effects and what it does when something outside fails. Whole stories stand
 * in tests/scenario. */
#include "unit.h"

#include "base/mem.h"
#include "core/job_build.h"
#include "engine/backend_fake.h"
#include "engine/driver.h"

#define NOW ((msec) 1700000000000)

struct world {
	struct store *store;
	struct backend *backend;
	struct driver *driver;
	int n_statuses;
	int n_notes;
};

static void count_note(const struct job *job, const struct note *note, void *data)
{
	struct world *world = data;

	assert_string_equal(job->uid, "u-1");
	assert_non_null(note->sentence);
	world->n_notes++;
}

static void count_status(const struct job *job, const struct status *status, void *data)
{
	struct world *world = data;

	assert_string_equal(job->name, "j");
	assert_true(status->n_conditions > 0);
	world->n_statuses++;
}

static int world_begin(void **state)
{
	struct world *world = mem_new(sizeof(*world));
	const struct driver_listener listener = {
		.on_note = count_note, .on_status = count_status, .data = world};

	world->store = store_memory_new();
	world->backend = backend_fake_new(&backend_fake_like_local, NOW);
	world->driver = driver_new(world->store, world->backend, &listener);
	*state = world;
	return 0;
}

static int world_end(void **state)
{
	struct world *world = *state;

	driver_free(world->driver);
	world->backend->functions->free(world->backend);
	world->store->functions->free(world->store);
	free(world);
	return 0;
}

static struct job *job_new(int workers)
{
	const char *const command[] = {"true", NULL};
	const struct job_build build = {
		.name = "j", .workers = workers, .command = command, .grace = -1, .timeout = -1};
	struct json *document CLEANUP(json_cleanup) = job_document_new(&build);
	struct faults faults CLEANUP(faults_done) = {0};
	struct job *job;

	assert_int_equal(job_read(document, NULL, JOB_STRICT, &faults, &job), 0);
	job_set_uid(job, "u-1");
	return job;
}

static void create(struct world *world, int workers)
{
	struct job *job CLEANUP(job_cleanup) = job_new(workers);

	assert_int_equal(driver_create_job(world->store, job, "{}", NULL, NOW, NULL), 0);
	assert_int_equal(driver_create_job(world->store, job, "{}", NULL, NOW, NULL), ERR_EXISTS);
}

static int settle(struct world *world, struct driver_outcome *outcome)
{
	int n_passes = 0;

	do {
		assert_int_equal(driver_pass(world->driver, "j", NOW, outcome, NULL), 0);
		assert_true(++n_passes < 20);
	} while (outcome->wake_at <= NOW);
	return n_passes;
}

static void a_job_that_is_not_there_is_gone(void **state)
{
	struct world *world = *state;
	struct driver_outcome outcome;

	assert_int_equal(driver_pass(world->driver, "j", NOW, &outcome, NULL), 0);
	assert_true(outcome.is_gone);
	assert_true(outcome.wake_at == MSEC_NEVER);
}

static void sixty_four_replicas_start_after_one_write(void **state)
{
	struct world *world = *state;
	struct driver_outcome outcome;

	create(world, 64);
	assert_int_equal(driver_pass(world->driver, "j", NOW, &outcome, NULL), 0);
	assert_int_equal(world->n_statuses, 0); /* addresses were published */
	assert_int_equal(driver_pass(world->driver, "j", NOW, &outcome, NULL), 0);
	assert_int_equal(world->n_statuses, 1); /* and 64 were started */
	settle(world, &outcome);
	assert_int_equal(world->n_statuses, 2); /* and seen to run */
	assert_true(outcome.wake_at == MSEC_NEVER);
}

static void what_was_decided_when_the_record_was_made_is_not_written_again(void **state)
{
	struct world *world = *state;
	struct driver_outcome outcome;
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct job *job CLEANUP(job_cleanup) = job_new(3);
	struct observed observed;

	create(world, 3);
	assert_int_equal(driver_pass(world->driver, "j", NOW, &outcome, NULL), 0);
	assert_int_equal(
		world->backend->functions->observe(world->backend, job, arena, &observed, NULL), 0);
	assert_int_equal(observed.n_addresses, 3);
	assert_int_equal(observed.n_replicas, 0);
	assert_int_equal(world->store->functions->remove(world->store, "j", "u-1", NULL), 0);
	assert_int_equal(driver_create_job(world->store, job, "{}", &observed, NOW, NULL), 0);
	assert_int_equal(driver_pass(world->driver, "j", NOW, &outcome, NULL), 0);
	assert_int_equal(world->n_statuses, 0);
	assert_int_equal(
		world->backend->functions->observe(world->backend, job, arena, &observed, NULL), 0);
	assert_int_equal(observed.n_replicas, 3); /* but they were started */
}

static void a_pass_without_news_writes_nothing(void **state)
{
	struct world *world = *state;
	struct driver_outcome outcome;
	struct store_record before CLEANUP(store_record_done) = {0};
	struct store_record after CLEANUP(store_record_done) = {0};

	create(world, 2);
	settle(world, &outcome);
	assert_int_equal(world->store->functions->get(world->store, "j", &before, NULL), 0);
	settle(world, &outcome);
	assert_int_equal(world->store->functions->get(world->store, "j", &after, NULL), 0);
	assert_int_equal(before.version, after.version);
}

static void the_last_lines_are_written_with_the_failure(void **state)
{
	struct world *world = *state;
	struct driver_outcome outcome;
	struct store_record record CLEANUP(store_record_done) = {0};
	const struct fake_behaviour bad = {.exit_code = 3};

	backend_fake_set_behaviour(world->backend, "worker", 0, 0, &bad);
	create(world, 1);
	do {
		assert_int_equal(driver_pass(world->driver, "j", NOW, &outcome, NULL), 0);
		backend_fake_advance(world->backend, NOW);
	} while (!outcome.is_finished);
	assert_int_equal(world->store->functions->get(world->store, "j", &record, NULL), 0);
	assert_non_null(strstr(record.status, "last words of worker-0.0"));
	assert_non_null(strstr(record.summary, "exited with code 3"));
	assert_int_equal(world->n_notes, 1);
}

static void a_record_that_cannot_be_read_is_an_error(void **state)
{
	struct world *world = *state;
	struct driver_outcome outcome;
	struct store_record record CLEANUP(store_record_done) = {0};
	const struct store_change change = {.document = "{\"kind\":"};
	struct err err = {0};
	int64_t version;

	create(world, 1);
	assert_int_equal(world->store->functions->get(world->store, "j", &record, NULL), 0);
	assert_int_equal(world->store->functions->change(world->store, "j", record.version, &change,
							 &version, NULL),
			 0);
	assert_int_equal(driver_pass(world->driver, "j", NOW, &outcome, &err), ERR_INVALID);
	assert_int_equal(outcome.wake_at, NOW + 1000);
	assert_false(outcome.is_finished);
	assert_string_not_equal(err.text, "");
}

static void a_later_job_of_the_same_name_is_another_one(void **state)
{
	struct world *world = *state;
	struct driver_outcome outcome;

	create(world, 2);
	settle(world, &outcome);
	assert_int_equal(world->store->functions->remove(world->store, "j", "u-1", NULL), 0);
	assert_int_equal(driver_pass(world->driver, "j", NOW, &outcome, NULL), 0);
	assert_true(outcome.is_gone);
	create(world, 1);
	assert_int_equal(driver_pass(world->driver, "j", NOW, &outcome, NULL), 0);
	assert_false(outcome.is_gone);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define WORLD_TEST(name) cmocka_unit_test_setup_teardown(name, world_begin, world_end)
		WORLD_TEST(a_job_that_is_not_there_is_gone),
		WORLD_TEST(sixty_four_replicas_start_after_one_write),
		WORLD_TEST(what_was_decided_when_the_record_was_made_is_not_written_again),
		WORLD_TEST(a_pass_without_news_writes_nothing),
		WORLD_TEST(the_last_lines_are_written_with_the_failure),
		WORLD_TEST(a_record_that_cannot_be_read_is_an_error),
		WORLD_TEST(a_later_job_of_the_same_name_is_another_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
