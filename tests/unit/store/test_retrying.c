/* A full disk, as the supervisor of a job lives through it. */
#include "unit.h"

#include "base/mem.h"
#include "fake/store_memory.h"
#include "store/store.h"

/* The store in memory, whose disk can be full. */
static const struct store_functions *memory_functions;
static struct store_functions full_functions;

static int refuse_change(struct store *store, const char *name, int64_t version,
			 const struct store_change *change, int64_t *ret_version, struct err *err)
{
	(void) store;
	(void) name;
	(void) version;
	(void) change;
	(void) ret_version;
	return err_set(err, ERR_SPACE, "no space left");
}

static int refuse_get(struct store *store, const char *name, struct store_record *ret_record,
		      struct err *err)
{
	(void) store;
	(void) name;
	(void) ret_record;
	return err_set(err, ERR_IO, "cannot read");
}

struct situation {
	struct store *disk;
	struct store *store;
	int n_started, n_ended; /* troubles that were told */
	int64_t version;
};

static void count_trouble(const char *sentence, void *data)
{
	struct situation *situation = data;

	if (sentence)
		situation->n_started++;
	else
		situation->n_ended++;
}

static void set_full(struct situation *situation, bool is_full)
{
	full_functions = *memory_functions;
	full_functions.change = refuse_change;
	situation->disk->functions = is_full ? &full_functions : memory_functions;
}

static void set_unreadable(struct situation *situation)
{
	set_full(situation, true);
	full_functions.get = refuse_get;
}

static int make(void **state)
{
	struct situation *situation = mem_new(sizeof(*situation));
	const struct store_record record = {
		.name = (char *) "mnist",
		.uid = (char *) "uid-1",
		.document = (char *) "{}",
		.status = (char *) "0",
		.summary = (char *) "s0",
		.supervisor = (char *) "me",
	};

	situation->disk = store_memory_new();
	memory_functions = situation->disk->functions;
	situation->store = store_retrying_new(situation->disk, count_trouble, situation);
	*state = situation;
	return situation->store->functions->create(situation->store, &record, &situation->version,
						   NULL);
}

static int release(void **state)
{
	struct situation *situation = *state;

	situation->disk->functions = memory_functions;
	situation->store->functions->free(situation->store);
	free(situation);
	return 0;
}

static struct store_record read_from(struct store *store)
{
	struct store_record record = {0};

	assert_int_equal(store->functions->get(store, "mnist", &record, NULL), 0);
	return record;
}

static void write_status(struct situation *situation, const char *status)
{
	struct store_change change = {.status = status};

	assert_int_equal(situation->store->functions->change(situation->store, "mnist",
							     situation->version, &change,
							     &situation->version, NULL),
			 0);
}

#define SITUATION_TEST(name) TEST_IN(make, release, struct situation *situation, name)

SITUATION_TEST(what_cannot_be_written_is_read_all_the_same)
{
	set_full(situation, true);
	write_status(situation, "1");
	struct store_record record CLEANUP(store_record_done) = read_from(situation->store);
	assert_string_equal(record.status, "1");
	assert_string_equal(record.summary, "s0");
	assert_int_equal(record.version, situation->version);
	assert_true(store_retrying_is_behind(situation->store));
	struct store_record disk CLEANUP(store_record_done) = read_from(situation->disk);
	assert_string_equal(disk.status, "0");
}

SITUATION_TEST(trouble_is_told_once)
{
	set_full(situation, true);
	write_status(situation, "1");
	write_status(situation, "2");
	assert_int_equal(situation->n_started, 1);
	assert_int_equal(situation->n_ended, 0);
}

SITUATION_TEST(what_waits_is_written_as_soon_as_there_is_space)
{
	int64_t version_ahead;

	set_full(situation, true);
	write_status(situation, "1");
	write_status(situation, "2");
	version_ahead = situation->version;
	set_full(situation, false);
	struct store_record record CLEANUP(store_record_done) = read_from(situation->store);
	assert_string_equal(record.status, "2");
	assert_true(record.version != version_ahead);
	assert_false(store_retrying_is_behind(situation->store));
	assert_int_equal(situation->n_ended, 1);
	struct store_record disk CLEANUP(store_record_done) = read_from(situation->disk);
	assert_string_equal(disk.status, "2");
	assert_int_equal(disk.version, record.version);
}

SITUATION_TEST(a_change_by_others_meanwhile_is_kept)
{
	struct store_change change = {.document = "{\"stop\":1}"};
	int64_t first = situation->version, version;

	set_full(situation, true);
	write_status(situation, "1");
	set_full(situation, false);
	assert_int_equal(situation->disk->functions->change(situation->disk, "mnist", first,
							    &change, &version, NULL),
			 0);
	struct store_record record CLEANUP(store_record_done) = read_from(situation->store);
	assert_string_equal(record.document, "{\"stop\":1}");
	assert_string_equal(record.status, "1");
}

SITUATION_TEST(an_old_version_is_a_conflict_in_trouble_too)
{
	struct store_change change = {.status = "late"};
	int64_t old = situation->version;

	set_full(situation, true);
	write_status(situation, "1");
	assert_int_equal(situation->store->functions->change(situation->store, "mnist", old,
							     &change, &situation->version, NULL),
			 ERR_CONFLICT);
}

SITUATION_TEST(a_disk_that_cannot_be_read_is_remembered)
{
	set_unreadable(situation);
	write_status(situation, "1");
	struct store_record record CLEANUP(store_record_done) = read_from(situation->store);
	assert_string_equal(record.status, "1");
	assert_string_equal(record.document, "{}");
}
