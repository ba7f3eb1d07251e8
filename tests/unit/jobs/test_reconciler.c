/* The reconciler's order of effects and what it does when something outside fails. Whole stories
 * stand in tests/scenario. */
#include "unit.h"

#include "base/mem.h"
#include "fake/backend_fake.h"
#include "fake/store_memory.h"
#include "jobs/reconciler.h"
#include "jobs/record.h"
#include "reconcile/output_idle.h"
#include "spec/job_build.h"

#define NOW ((msec) 1700000000000)
#define HOUR (3600 * MSEC_PER_SECOND)

struct scene {
	struct store *store;
	struct backend *backend;
	struct reconciler *reconciler;
	int n_statuses;
	int n_replicas_told; /* of the job whose status was told last */
	int n_notes;
	int n_passes;
	struct reconciler_outcome outcome; /* of the last pass */
	struct err err;

	/* A store that is far away: what it was asked to change, and nobody answered yet. */
	struct store far;
	char *far_document, *far_status;
	int64_t far_version;
	store_done_fn far_done;
	void *far_data;
};

static void count_note(const struct job *job, const struct note *note, void *data)
{
	struct scene *world = data;

	assert_string_equal(job->uid, "u-1");
	assert_non_null(note->sentence);
	world->n_notes++;
}

static void count_status(const struct job *job, const struct status *status, void *data)
{
	struct scene *world = data;

	assert_string_equal(job->name, "j");
	assert_true(status->n_conditions > 0);
	world->n_statuses++;
	world->n_replicas_told = job_replica_count(job);
}

static void count_pass(const struct reconciler_outcome *outcome, const struct err *err, void *data)
{
	struct scene *world = data;

	world->n_passes++;
	world->outcome = *outcome;
	world->err = err ? *err : (struct err){0};
}

/* `job` as it was read from `document`; or NULL. */
static struct reconciler *make_driver_of(struct scene *world, struct store *store,
					 const struct job *job, const char *document)
{
	const struct reconciler_settings settings = {
		.store = store,
		.backend = world->backend,
		.job_name = "j",
		.job = job,
		.document = document,
		.listener = {.on_note = count_note, .on_status = count_status, .data = world},
		.on_passed = count_pass,
		.data = world,
	};

	return reconciler_new(&settings);
}

static struct reconciler *make_driver(struct scene *world, struct store *store)
{
	return make_driver_of(world, store, NULL, NULL);
}

static int world_begin(void **state)
{
	struct scene *world = mem_new(sizeof(*world));

	world->store = store_memory_new();
	world->backend = backend_fake_new(&backend_fake_like_local, NOW);
	world->reconciler = make_driver(world, world->store);
	*state = world;
	return 0;
}

static int world_end(void **state)
{
	struct scene *world = *state;

	reconciler_free(world->reconciler);
	free(world->far_document);
	free(world->far_status);
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

static void create(struct scene *world, int workers)
{
	struct job *job CLEANUP(job_cleanup) = job_new(workers);

	assert_int_equal(reconciler_create_job(world->store, job, NULL, "{}", NULL, NOW, NULL), 0);
	assert_int_equal(reconciler_create_job(world->store, job, NULL, "{}", NULL, NOW, NULL),
			 ERR_EXISTS);
}

static int pass_at(struct scene *world, msec now)
{
	int n_passes = world->n_passes;

	reconciler_run_pass(world->reconciler, now);
	assert_int_equal(world->n_passes, n_passes + 1);
	return world->err.code;
}

static int pass(struct scene *world)
{
	return pass_at(world, NOW);
}

static void pass_until_quiet(struct scene *world, msec now)
{
	int n_passes = 0;

	do {
		assert_int_equal(pass_at(world, now), 0);
		assert_true(++n_passes < 20);
	} while (world->outcome.wake_at <= now);
}

static void settle(struct scene *world)
{
	pass_until_quiet(world, NOW);
}

static void settle_at(struct scene *world, msec now)
{
	backend_fake_advance(world->backend, now);
	pass_until_quiet(world, now);
}

#define WORLD_TEST(name) TEST_IN(world_begin, world_end, struct scene *world, name)

WORLD_TEST(a_job_that_is_not_there_is_gone)
{
	assert_int_equal(pass(world), 0);
	assert_true(world->outcome.is_gone);
	assert_true(world->outcome.wake_at == MSEC_NEVER);
}

WORLD_TEST(sixty_four_replicas_start_after_one_write)
{
	create(world, 64);
	assert_int_equal(pass(world), 0);
	assert_int_equal(world->n_statuses, 0); /* addresses were published */
	assert_int_equal(pass(world), 0);
	assert_int_equal(world->n_statuses, 1); /* and 64 were started */
	settle(world);
	assert_int_equal(world->n_statuses, 2); /* and seen to run */
	assert_true(world->outcome.wake_at == MSEC_NEVER);
}

WORLD_TEST(what_was_decided_when_the_record_was_made_is_not_written_again)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct job *job CLEANUP(job_cleanup) = job_new(3);
	struct observed observed;

	create(world, 3);
	assert_int_equal(pass(world), 0);
	assert_int_equal(
		world->backend->functions->observe(world->backend, job, arena, &observed, NULL), 0);
	assert_int_equal(observed.n_addresses, 3);
	assert_int_equal(observed.n_replicas, 0);
	assert_int_equal(world->store->functions->remove(world->store, "j", "u-1", NULL), 0);
	assert_int_equal(reconciler_create_job(world->store, job, NULL, "{}", &observed, NOW, NULL),
			 0);
	assert_int_equal(pass(world), 0);
	assert_int_equal(world->n_statuses, 0);
	assert_int_equal(
		world->backend->functions->observe(world->backend, job, arena, &observed, NULL), 0);
	assert_int_equal(observed.n_replicas, 3); /* but they were started */
}

WORLD_TEST(a_pass_without_news_writes_nothing)
{
	struct store_record before CLEANUP(store_record_done) = {0};
	struct store_record after CLEANUP(store_record_done) = {0};

	create(world, 2);
	settle(world);
	assert_int_equal(world->store->functions->get(world->store, "j", &before, NULL), 0);
	settle(world);
	assert_int_equal(world->store->functions->get(world->store, "j", &after, NULL), 0);
	assert_int_equal(before.version, after.version);
}

/* Linked in the place of those of status/json.c, which they call. */
struct json *__real_status_write(const struct status *status);
struct json *__wrap_status_write(const struct status *status);
int __real_status_read(const struct json *value, struct arena *arena, struct status *ret_status,
		       struct err *err);
int __wrap_status_read(const struct json *value, struct arena *arena, struct status *ret_status,
		       struct err *err);

static int n_written, n_read;

struct json *__wrap_status_write(const struct status *status)
{
	n_written++;
	return __real_status_write(status);
}

int __wrap_status_read(const struct json *value, struct arena *arena, struct status *ret_status,
		       struct err *err)
{
	n_read++;
	return __real_status_read(value, arena, ret_status, err);
}

WORLD_TEST(a_changed_status_becomes_a_text_once_and_is_never_read_again)
{
	create(world, 10);
	settle(world);
	int n_statuses = world->n_statuses;

	n_written = n_read = 0;
	for (int index = 0; index < 10; index++) {
		assert_true(backend_fake_kill(world->backend, "worker", index, 9));
		settle(world);
	}
	assert_true(world->n_statuses > n_statuses);
	assert_int_equal(n_written, world->n_statuses - n_statuses);
	assert_int_equal(n_read, 0);
}

WORLD_TEST(the_last_lines_are_written_with_the_failure)
{
	struct store_record record CLEANUP(store_record_done) = {0};
	const struct fake_behaviour bad = {.exit_code = 3};

	backend_fake_set_behaviour(world->backend, "worker", 0, 0, &bad);
	create(world, 1);
	do {
		assert_int_equal(pass(world), 0);
		backend_fake_advance(world->backend, NOW);
	} while (!world->outcome.is_finished);
	assert_int_equal(world->store->functions->get(world->store, "j", &record, NULL), 0);
	assert_non_null(strstr(record.status, "last words of worker-0.0"));
	assert_non_null(strstr(record.summary, "exited with code 3"));
	assert_int_equal(world->n_notes, 1);
}

static bool is_written(const struct scene *world, const char *words)
{
	struct store_record record CLEANUP(store_record_done) = {0};

	assert_int_equal(world->store->functions->get(world->store, "j", &record, NULL), 0);
	return strstr(record.status, words);
}

/* It was silent for long: what it said before is read before the signal, where it was later. */
WORLD_TEST(where_a_silent_job_was_is_written_with_its_stop)
{
	const struct fake_behaviour silent = {.runs_for = MSEC_NEVER, .ignores_stops = true};

	backend_fake_set_behaviour(world->backend, NULL, -1, 0, &silent);
	create(world, 2);
	settle(world);
	backend_fake_advance(world->backend, NOW + 2 * OUTPUT_IDLE_FIRST);
	reconciler_request_stop(world->reconciler, STOP_REQUESTED, OUTPUT_IDLE_FIRST);
	assert_int_equal(pass_at(world, NOW + 2 * OUTPUT_IDLE_FIRST), 0);
	assert_int_equal(pass_at(world, NOW + 2 * OUTPUT_IDLE_FIRST), 0);
	assert_false(is_written(world, "stacks"));

	backend_fake_set_stacks(world->backend, "worker-0, worker-1: wait (train.py:4)");
	assert_true(backend_fake_kill(world->backend, "worker", 0, 15));
	assert_true(backend_fake_kill(world->backend, "worker", 1, 15));
	do {
		assert_int_equal(pass_at(world, NOW + 2 * OUTPUT_IDLE_FIRST), 0);
	} while (!world->outcome.is_finished);
	assert_true(is_written(world, "\"stacks\":[\"worker-0, worker-1: wait (train.py:4)\"]"));
	assert_true(is_written(world, "\"worker-1 | last words of worker-1.0\""));
}

WORLD_TEST(a_record_that_cannot_be_read_is_an_error)
{
	struct store_record record CLEANUP(store_record_done) = {0};
	const struct store_change change = {.document = "{\"kind\":"};
	int64_t version;

	create(world, 1);
	assert_int_equal(world->store->functions->get(world->store, "j", &record, NULL), 0);
	assert_int_equal(world->store->functions->change(world->store, "j", record.version, &change,
							 &version, NULL),
			 0);
	assert_int_equal(pass(world), ERR_INVALID);
	assert_int_equal(world->outcome.wake_at, NOW + 1000);
	assert_false(world->outcome.is_finished);
	assert_string_not_equal(world->err.text, "");
}

WORLD_TEST(a_later_job_of_the_same_name_is_another_one)
{
	create(world, 2);
	settle(world);
	assert_int_equal(world->store->functions->remove(world->store, "j", "u-1", NULL), 0);
	assert_int_equal(pass(world), 0);
	assert_true(world->outcome.is_gone);
	create(world, 1);
	assert_int_equal(pass(world), 0);
	assert_false(world->outcome.is_gone);
}

/* A store that keeps statuses small, as a cluster does: each write is a version. */

static int64_t version_of(struct scene *world)
{
	struct store_record record CLEANUP(store_record_done) = {0};

	assert_int_equal(world->store->functions->get(world->store, "j", &record, NULL), 0);
	return record.version;
}

WORLD_TEST(a_start_is_written_when_the_job_runs_and_when_nothing_changes_any_more)
{
	const struct fake_behaviour first = {.start_takes = 1000, .runs_for = MSEC_NEVER};
	const struct fake_behaviour second = {.start_takes = 3000, .runs_for = MSEC_NEVER};

	world->store->is_small = true;
	backend_fake_set_behaviour(world->backend, "worker", 0, 0, &first);
	backend_fake_set_behaviour(world->backend, "worker", 1, 0, &second);
	create(world, 2);
	int64_t created = version_of(world);

	settle(world);
	assert_int_equal(version_of(world), created + 1); /* the first attempts */
	settle_at(world, NOW + 1000);
	assert_int_equal(version_of(world), created + 2); /* the job runs */
	settle_at(world, NOW + 2000);
	assert_int_equal(version_of(world), created + 2);
	settle_at(world, NOW + 3000); /* all run */
	assert_int_equal(version_of(world), created + 2);
	assert_true(world->outcome.wake_at == NOW + 3000 + WRITE_QUIET);
	settle_at(world, NOW + 3000 + WRITE_QUIET);
	assert_int_equal(version_of(world), created + 3);
	assert_true(world->outcome.wake_at == MSEC_NEVER);
	settle_at(world, NOW + 100000);
	assert_int_equal(version_of(world), created + 3);
	assert_true(world->n_statuses > 3); /* but all was told */
}

WORLD_TEST(what_nothing_hangs_on_is_written_every_few_seconds)
{
	msec now = NOW;

	for (int index = 0; index < 100; index++) {
		const struct fake_behaviour behaviour = {.start_takes = 100 * (index + 1),
							 .runs_for = MSEC_NEVER};

		backend_fake_set_behaviour(world->backend, "worker", index, 0, &behaviour);
	}
	world->store->is_small = true;
	create(world, 100);
	settle(world);
	int64_t started = version_of(world);

	for (; now <= NOW + 11000; now += 100)
		settle_at(world, now);
	/* That the job runs, at 0.1 s; how many do, at 5.1 s; and at 10.1 s, when all run. */
	assert_int_equal(version_of(world), started + 3);
}

WORLD_TEST(ten_thousand_replicas_have_room_and_are_few_writes)
{
	struct store_record record CLEANUP(store_record_done) = {0};
	const struct fake_behaviour lasting = {.start_takes = 100, .runs_for = MSEC_NEVER};

	world->store->is_small = true;
	backend_fake_set_behaviour(world->backend, NULL, -1, 0, &lasting);
	create(world, 10000);
	settle(world);
	int64_t started = version_of(world);

	settle_at(world, NOW + 100);
	assert_int_equal(version_of(world), started + 1); /* all run */
	assert_int_equal(world->store->functions->get(world->store, "j", &record, NULL), 0);
	assert_true(strlen(record.status) < 1000);
	reconciler_free(world->reconciler);
	world->reconciler = make_driver(world, world->store);
	settle_at(world, NOW + 200);
	settle_at(world, NOW + 20000);
	assert_int_equal(version_of(world), started + 1);
}

WORLD_TEST(a_new_driver_writes_nothing_that_stands_there)
{
	world->store->is_small = true;
	create(world, 2);
	settle(world);
	int64_t version = version_of(world);

	reconciler_free(world->reconciler);
	world->reconciler = make_driver(world, world->store);
	settle_at(world, NOW + 1000);
	settle_at(world, NOW + 60000);
	assert_int_equal(version_of(world), version);
}

WORLD_TEST(what_another_writes_into_the_document_forgets_no_pod)
{
	const struct fake_behaviour slow = {.start_takes = 60000};
	struct store_record record CLEANUP(store_record_done) = {0};
	int64_t version;

	world->store->is_small = true;
	backend_fake_set_behaviour(world->backend, "worker", 0, 0, &slow);
	create(world, 2);
	settle(world);
	assert_int_equal(world->store->functions->get(world->store, "j", &record, NULL), 0);
	const struct store_change change = {.document = record.document};

	assert_int_equal(world->store->functions->change(world->store, "j", record.version, &change,
							 &version, NULL),
			 0);
	n_read = 0;
	settle_at(world, NOW + 1000);
	assert_int_equal(n_read, 0);
	assert_int_equal(version_of(world), version);
}

/* A store that is far away. */

static struct scene *world_of(struct store *far)
{
	return (struct scene *) ((char *) far - offsetof(struct scene, far));
}

static int far_get(struct store *far, const char *name, struct store_record *ret_record,
		   struct err *err)
{
	struct store *store = world_of(far)->store;

	return store->functions->get(store, name, ret_record, err);
}

static void far_begin_change(struct store *far, const char *name, int64_t version,
			     const struct store_change *change, store_done_fn done, void *data)
{
	struct scene *world = world_of(far);

	assert_string_equal(name, "j");
	assert_null(world->far_done);
	free(world->far_document);
	free(world->far_status);
	world->far_document = mem_copy_text(change->document);
	world->far_status = mem_copy_text(change->status);
	world->far_version = version;
	world->far_done = done;
	world->far_data = data;
}

static void far_let_go(struct store *far, const void *data)
{
	struct scene *world = world_of(far);

	if (world->far_data == data)
		world->far_done = NULL;
}

static void answer(struct scene *world, const struct err *err)
{
	const struct store_change change = {.document = world->far_document,
					    .status = world->far_status};
	store_done_fn done = world->far_done;
	int64_t version = 0;

	world->far_done = NULL;
	if (!err)
		assert_int_equal(world->store->functions->change(world->store, "j",
								 world->far_version, &change,
								 &version, NULL),
				 0);
	done(version, err, world->far_data);
}

static void move_far_away(struct scene *world)
{
	static const struct store_functions far_functions = {
		.get = far_get, .begin_change = far_begin_change, .let_go = far_let_go};

	world->far.functions = &far_functions;
	reconciler_free(world->reconciler);
	world->reconciler = make_driver(world, &world->far);
}

static size_t count_replicas(struct scene *world)
{
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct job *job CLEANUP(job_cleanup) = job_new(2);
	struct observed observed;

	assert_int_equal(
		world->backend->functions->observe(world->backend, job, arena, &observed, NULL), 0);
	return observed.n_replicas;
}

/* The record has two workers, and the job that the reconciler is given three. */
static void assert_told_of(struct scene *world, const char *document, int n_replicas)
{
	struct job *given CLEANUP(job_cleanup) = job_new(3);

	reconciler_free(world->reconciler);
	world->reconciler = make_driver_of(world, world->store, given, document);
	settle(world);
	assert_int_equal(world->n_replicas_told, n_replicas);
}

WORLD_TEST(a_job_that_is_known_already_is_not_read_again)
{
	struct store_record record CLEANUP(store_record_done) = {0};

	create(world, 2);
	assert_int_equal(world->store->functions->get(world->store, "j", &record, NULL), 0);
	assert_told_of(world, record.document, 3);
}

TEST_WITH(world_begin, world_end, a_job_that_was_known_by_another_document_is_read)
{
	create(*state, 2);
	assert_told_of(*state, "{}", 2);
}

/* Up to the write of the status with the first attempts. */
static void begin_to_start(struct scene *world)
{
	create(world, 2);
	move_far_away(world);
	reconciler_run_pass(world->reconciler, NOW); /* publishes addresses */
	reconciler_run_pass(world->reconciler, NOW);
	assert_non_null(world->far_done);
	assert_int_equal(world->n_passes, 1);
}

WORLD_TEST(nothing_is_done_before_the_write_is_answered)
{
	begin_to_start(world);
	reconciler_run_pass(world->reconciler, NOW);
	reconciler_run_pass(world->reconciler, NOW); /* neither begins another write */
	assert_int_equal(count_replicas(world), 0);
	assert_int_equal(world->n_statuses, 0);
	answer(world, NULL);
	assert_int_equal(count_replicas(world), 2);
	assert_int_equal(world->n_statuses, 1);
	assert_int_equal(world->n_passes, 2);
	assert_int_equal(world->outcome.wake_at, NOW); /* what was asked for meanwhile */
}

WORLD_TEST(a_write_that_met_another_change_acts_on_nothing)
{
	const struct err conflict = {.code = ERR_CONFLICT, .text = "changed"};

	begin_to_start(world);
	answer(world, &conflict);
	assert_int_equal(count_replicas(world), 0);
	assert_int_equal(world->err.code, 0);
	assert_int_equal(world->outcome.wake_at, NOW);
}

WORLD_TEST(a_write_whose_answer_was_lost_is_told_when_it_is_seen)
{
	const struct err lost = {.code = ERR_UNREACHABLE, .text = "lost"};
	struct store_change change = {0};
	int64_t version;

	begin_to_start(world);
	change.status = world->far_status;
	assert_int_equal(world->store->functions->change(world->store, "j", world->far_version,
							 &change, &version, NULL),
			 0);
	answer(world, &lost);
	assert_int_equal(world->err.code, ERR_UNREACHABLE);
	assert_int_equal(world->outcome.wake_at, NOW + 1000);
	assert_int_equal(count_replicas(world), 0);
	assert_int_equal(pass(world), 0);
	assert_int_equal(count_replicas(world), 2);
	assert_int_equal(world->n_statuses, 1);
}

WORLD_TEST(a_driver_may_go_while_its_write_is_on_its_way)
{
	begin_to_start(world);
	reconciler_free(TAKE(world->reconciler));
	assert_null(world->far_done); /* nobody is to be told any more */
	world->reconciler = make_driver(world, world->store);
	settle(world);
	assert_int_equal(count_replicas(world), 2);
}

WORLD_TEST(a_request_to_stop_is_written_with_the_status)
{
	struct store_record record CLEANUP(store_record_done) = {0};

	create(world, 2);
	settle(world);
	world->n_statuses = 0;
	reconciler_request_stop(world->reconciler, STOP_TERMINATED, -1);
	assert_int_equal(pass(world), 0);
	assert_int_equal(world->n_statuses, 1);
	assert_int_equal(world->store->functions->get(world->store, "j", &record, NULL), 0);
	assert_non_null(strstr(record.document, stop_reason_words[STOP_TERMINATED]));
	backend_fake_advance(world->backend, NOW);
	settle(world);
	assert_true(world->outcome.is_finished);
}

WORLD_TEST(a_request_that_met_another_change_is_written_again)
{
	const struct err conflict = {.code = ERR_CONFLICT, .text = "changed"};

	create(world, 2);
	settle(world);
	move_far_away(world);
	reconciler_request_stop(world->reconciler, STOP_INTERRUPTED, -1);
	reconciler_run_pass(world->reconciler, NOW);
	answer(world, &conflict);
	reconciler_run_pass(world->reconciler, NOW);
	assert_non_null(strstr(world->far_document, stop_reason_words[STOP_INTERRUPTED]));
	reconciler_request_stop(world->reconciler, STOP_INTERRUPTED,
				0); /* while the write is on its way */
	answer(world, NULL);
	reconciler_run_pass(world->reconciler, NOW);
	assert_non_null(strstr(world->far_document, JOB_ANNOTATION_STOP_GRACE));
}

/* The other change is one of the status, whose times are those of the clock as it was. */
WORLD_TEST(a_clock_that_is_set_is_written_after_another_change)
{
	const struct err conflict = {.code = ERR_CONFLICT, .text = "changed"};
	const struct fake_behaviour lasting = {.runs_for = MSEC_NEVER};
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct store_record record CLEANUP(store_record_done) = {0};
	struct status status;
	int64_t version;

	backend_fake_set_behaviour(world->backend, NULL, -1, 0, &lasting);
	create(world, 2);
	settle(world);
	move_far_away(world);
	reconciler_run_pass(world->reconciler, NOW);
	assert_null(world->far_done);
	backend_fake_set_clock(world->backend, HOUR);
	assert_true(backend_fake_kill(world->backend, "worker", 0, 9));
	reconciler_run_pass(world->reconciler, NOW + HOUR);

	assert_int_equal(world->store->functions->get(world->store, "j", &record, NULL), 0);
	const struct store_change change = {.status = arena_format(arena, "%s ", record.status)};

	assert_int_equal(world->store->functions->change(world->store, "j", record.version, &change,
							 &version, NULL),
			 0);
	answer(world, &conflict);
	reconciler_run_pass(world->reconciler, NOW + HOUR);
	assert_int_equal(world->far_version, version);
	const struct store_record written = {.status = world->far_status};

	assert_int_equal(record_read_status(&written, arena, &status, NULL), 0);
	assert_int_equal(status.start_time, NOW + HOUR);
}
