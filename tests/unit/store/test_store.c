/* What every store promises, asked of each of them; and what the SQLite file promises besides. */
#include "unit.h"

#include "base/mem.h"
#include "base/text.h"
#include "fake/store_memory.h"
#include "io/folder.h"
#include "store/store.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A new folder for one test, and the store in it. */
struct place_of_test {
	char folder[64];
	struct store *store;
};

static struct store *open_in(const char *folder)
{
	struct err err = {0};
	struct store *store = NULL;

	if (store_sqlite_open(folder, &store, &err) < 0)
		fail_msg("%s", err.text);
	return store;
}

static int make_folder(void **state)
{
	struct place_of_test *place = mem_new(sizeof(*place));

	strcpy(place->folder, "/tmp/muster-test-store-XXXXXX");
	*state = place;
	return mkdtemp(place->folder) ? 0 : -1;
}

static int make_sqlite(void **state)
{
	if (make_folder(state) < 0)
		return -1;
	struct place_of_test *place = *state;

	place->store = open_in(place->folder);
	return 0;
}

static int make_memory(void **state)
{
	struct place_of_test *place = mem_new(sizeof(*place));

	place->store = store_memory_new();
	*state = place;
	return 0;
}

static void fail_by_trouble(const char *sentence, void *data)
{
	(void) data;
	fail_msg("%s", sentence);
}

static int make_retrying(void **state)
{
	struct place_of_test *place = mem_new(sizeof(*place));

	place->store = store_retrying_new(store_memory_new(), fail_by_trouble, NULL);
	*state = place;
	return 0;
}

static int remove_all(void **state)
{
	struct place_of_test *place = *state;

	if (place->store)
		place->store->functions->free(place->store);
	int rc = place->folder[0] ? folder_remove(AT_FDCWD, place->folder, NULL) : 0;
	free(place);
	return rc;
}

static struct store *store_of(void **state)
{
	return ((struct place_of_test *) *state)->store;
}

static struct store_record record_named(const char *name, const char *uid, msec created)
{
	return (struct store_record){
		.name = (char *) name,
		.uid = (char *) uid,
		.document = (char *) "{\"a\":1}",
		.status = (char *) "{}",
		.summary = (char *) "{\"s\":1}",
		.supervisor = (char *) "",
		.created = created,
	};
}

static int64_t create(struct store *store, const char *name, const char *uid, msec created)
{
	struct store_record record = record_named(name, uid, created);
	struct err err = {0};
	int64_t version = 0;

	if (store->functions->create(store, &record, &version, &err) < 0)
		fail_msg("%s", err.text);
	return version;
}

static int64_t version_of(struct store *store, const char *name)
{
	struct store_record record = {0};

	assert_int_equal(store->functions->get(store, name, &record, NULL), 0);
	int64_t version = record.version;
	store_record_done(&record);
	return version;
}

static void a_job_reads_as_it_was_created(void **state)
{
	struct store *store = store_of(state);
	int64_t version = create(store, "mnist", "uid-1", 1234);
	struct store_record record = {0};

	assert_int_equal(store->functions->get(store, "mnist", &record, NULL), 0);
	assert_string_equal(record.name, "mnist");
	assert_string_equal(record.uid, "uid-1");
	assert_string_equal(record.document, "{\"a\":1}");
	assert_string_equal(record.status, "{}");
	assert_string_equal(record.summary, "{\"s\":1}");
	assert_string_equal(record.supervisor, "");
	assert_int_equal(record.created, 1234);
	assert_int_equal(record.version, version);
	store_record_done(&record);
}

static void an_unknown_job_is_not_found(void **state)
{
	struct store *store = store_of(state);
	struct store_record record = {0};
	struct store_change change = {.status = "{}"};
	struct err err = {0};
	int64_t version = 77;

	assert_int_equal(store->functions->get(store, "x", &record, &err), ERR_NOT_FOUND);
	assert_string_equal(err.text, "job 'x' not found");
	assert_int_equal(store->functions->change(store, "x", 1, &change, &version, &err),
			 ERR_NOT_FOUND);
	assert_int_equal(version, 77);
	assert_int_equal(store->functions->remove(store, "x", "uid", &err), ERR_NOT_FOUND);
}

static void a_name_is_given_once(void **state)
{
	struct store *store = store_of(state);
	struct store_record second = record_named("mnist", "uid-2", 2);
	struct err err = {0};
	int64_t version;

	create(store, "mnist", "uid-1", 1);
	assert_int_equal(store->functions->create(store, &second, &version, &err), ERR_EXISTS);
	assert_non_null(strstr(err.text, "mnist"));
}

static void a_change_raises_the_version_and_leaves_other_parts(void **state)
{
	struct store *store = store_of(state);
	int64_t first = create(store, "mnist", "uid-1", 1), second = 0;
	struct store_change change = {.status = "{\"x\":2}", .supervisor = "{\"pid\":1}"};
	struct store_record record = {0};

	assert_int_equal(store->functions->change(store, "mnist", first, &change, &second, NULL),
			 0);
	assert_true(second > first);
	assert_int_equal(store->functions->get(store, "mnist", &record, NULL), 0);
	assert_int_equal(record.version, second);
	assert_string_equal(record.status, "{\"x\":2}");
	assert_string_equal(record.supervisor, "{\"pid\":1}");
	assert_string_equal(record.document, "{\"a\":1}");
	assert_string_equal(record.summary, "{\"s\":1}");
	store_record_done(&record);
}

static void a_change_from_an_old_version_changes_nothing(void **state)
{
	struct store *store = store_of(state);
	int64_t first = create(store, "mnist", "uid-1", 1), second, third;
	struct store_change change = {.document = "new"}, late = {.document = "late"};
	struct store_record record = {0};
	struct err err = {0};

	assert_int_equal(store->functions->change(store, "mnist", first, &change, &second, NULL),
			 0);
	assert_int_equal(store->functions->change(store, "mnist", first, &late, &third, &err),
			 ERR_CONFLICT);
	assert_int_equal(store->functions->get(store, "mnist", &record, NULL), 0);
	assert_string_equal(record.document, "new");
	assert_int_equal(record.version, second);
	store_record_done(&record);
}

static void removing_names_the_uid_too(void **state)
{
	struct store *store = store_of(state);

	create(store, "mnist", "uid-1", 1);
	assert_int_equal(store->functions->remove(store, "mnist", "uid-0", NULL), ERR_NOT_FOUND);
	version_of(store, "mnist");
	assert_int_equal(store->functions->remove(store, "mnist", "uid-1", NULL), 0);
	struct store_record record = {0};
	assert_int_equal(store->functions->get(store, "mnist", &record, NULL), ERR_NOT_FOUND);
}

static void a_later_job_of_the_same_name_never_has_a_version_of_the_earlier_one(void **state)
{
	struct store *store = store_of(state);
	int64_t version = create(store, "mnist", "uid-1", 1);
	struct store_change change = {.status = "{}"};

	for (int i = 0; i < 5; i++)
		assert_int_equal(
			store->functions->change(store, "mnist", version, &change, &version, NULL),
			0);
	assert_int_equal(store->functions->remove(store, "mnist", "uid-1", NULL), 0);
	assert_true(create(store, "mnist", "uid-2", 2) > version);
}

static bool every_number(int number, void *data)
{
	(void) number;
	(void) data;
	return true;
}

static bool even_numbers(int number, void *data)
{
	(void) data;
	return number % 2 == 0;
}

static int claim(struct store *store, const char *owner, int low, int high, size_t count,
		 bool (*is_free)(int, void *), int *numbers)
{
	const struct claim_request request = {.kind = "port",
					      .owner_uid = owner,
					      .low = low,
					      .high = high,
					      .count = count,
					      .is_free = is_free};

	return store->claims->functions->claim(store->claims, &request, numbers, NULL);
}

static void replacing_takes_name_and_numbers_in_one_step(void **state)
{
	struct store *store = store_of(state);
	struct store_record next = record_named("mnist", "uid-2", 2);
	int64_t first = create(store, "mnist", "uid-1", 1), second = 0;
	int numbers[10];

	assert_int_equal(claim(store, "uid-1", 100, 109, 10, every_number, numbers), 0);
	assert_int_equal(store->functions->replace(store, "mnist", "uid-0", &next, &second, NULL),
			 ERR_NOT_FOUND);
	assert_int_equal(version_of(store, "mnist"), first);
	assert_int_equal(store->functions->replace(store, "mnist", "uid-1", &next, &second, NULL),
			 0);
	assert_true(second > first);
	assert_int_equal(version_of(store, "mnist"), second);
	assert_int_equal(claim(store, "uid-2", 100, 109, 10, every_number, numbers), 0);
}

static void replacing_gives_a_job_another_name_in_one_step(void **state)
{
	struct store *store = store_of(state);
	struct store_record ended = record_named("mnist", "uid-2", 2);
	int64_t of_other = create(store, "mnist", "uid-1", 1), version = 0;
	int64_t first = create(store, "kubernetes/bob/mnist", "uid-2", 2);
	struct store_record record = {0};

	assert_int_equal(store->functions->replace(store, "kubernetes/bob/mnist", "uid-2", &ended,
						   &version, NULL),
			 ERR_EXISTS);
	assert_int_equal(version_of(store, "mnist"), of_other);
	assert_int_equal(version_of(store, "kubernetes/bob/mnist"), first);
	assert_int_equal(store->functions->remove(store, "mnist", "uid-1", NULL), 0);
	assert_int_equal(store->functions->replace(store, "kubernetes/bob/mnist", "uid-2", &ended,
						   &version, NULL),
			 0);
	assert_true(version > first && version > of_other);
	assert_int_equal(store->functions->get(store, "kubernetes/bob/mnist", &record, NULL),
			 ERR_NOT_FOUND);
	assert_int_equal(version_of(store, "mnist"), version);
}

static void a_list_is_by_age_and_reads_what_was_asked(void **state)
{
	struct store *store = store_of(state);
	struct store_list list = {0};

	create(store, "oldest", "uid-1", 10);
	create(store, "middle", "uid-2", 9); /* clocks are set back now and then */
	create(store, "newest", "uid-3", 30);
	assert_int_equal(store->functions->list(store, STORE_SUMMARY, &list, NULL), 0);
	assert_int_equal(list.count, 3);
	assert_string_equal(list.records[0].name, "oldest");
	assert_string_equal(list.records[1].name, "middle");
	assert_string_equal(list.records[2].name, "newest");
	assert_string_equal(list.records[0].summary, "{\"s\":1}");
	assert_string_equal(list.records[0].supervisor, "");
	assert_string_equal(list.records[0].uid, "uid-1");
	assert_null(list.records[0].document);
	assert_null(list.records[0].status);
	store_list_done(&list);
	assert_int_equal(store->functions->list(store, STORE_STATUS, &list, NULL), 0);
	assert_string_equal(list.records[0].status, "{}");
	assert_null(list.records[0].summary);
	store_list_done(&list);
}

static void a_number_is_claimed_by_one_owner(void **state)
{
	struct store *store = store_of(state);
	int numbers[10];
	bool seen[10] = {false};

	create(store, "a", "uid-a", 1);
	create(store, "b", "uid-b", 1);
	assert_int_equal(claim(store, "uid-a", 100, 109, 6, every_number, numbers), 0);
	assert_int_equal(claim(store, "uid-b", 100, 109, 4, every_number, numbers + 6), 0);
	for (int i = 0; i < 10; i++) {
		assert_in_range(numbers[i], 100, 109);
		assert_false(seen[numbers[i] - 100]);
		seen[numbers[i] - 100] = true;
	}
}

static void numbers_in_use_elsewhere_are_passed_over(void **state)
{
	struct store *store = store_of(state);
	int numbers[5];

	create(store, "a", "uid-a", 1);
	assert_int_equal(claim(store, "uid-a", 100, 109, 5, even_numbers, numbers), 0);
	for (int i = 0; i < 5; i++)
		assert_int_equal(numbers[i] % 2, 0);
}

static void too_few_free_numbers_claim_none(void **state)
{
	struct store *store = store_of(state);
	int numbers[10] = {7};

	create(store, "a", "uid-a", 1);
	assert_int_equal(claim(store, "uid-a", 100, 109, 6, even_numbers, numbers), ERR_LIMIT);
	assert_int_equal(numbers[0], 7);
	assert_int_equal(claim(store, "uid-a", 100, 109, 10, every_number, numbers), 0);
}

static void released_numbers_can_be_claimed_again(void **state)
{
	struct store *store = store_of(state);
	int numbers[10];

	create(store, "a", "uid-a", 1);
	create(store, "b", "uid-b", 1);
	assert_int_equal(claim(store, "uid-a", 100, 109, 10, every_number, numbers), 0);
	assert_int_equal(claim(store, "uid-b", 100, 109, 1, every_number, numbers), ERR_LIMIT);
	assert_int_equal(store->claims->functions->release(store->claims, "port", "uid-a", NULL),
			 0);
	assert_int_equal(claim(store, "uid-b", 100, 109, 10, every_number, numbers), 0);
}

static void numbers_are_released_with_the_supervisor(void **state)
{
	struct store *store = store_of(state);
	const struct store_functions *functions = store->functions;
	const struct store_change changes[] = {{.supervisor = "s"}, {.status = "t"}};
	int64_t version = create(store, "a", "uid-a", 1);
	int numbers[10];

	create(store, "b", "uid-b", 1);
	assert_int_equal(claim(store, "uid-a", 100, 109, 10, every_number, numbers), 0);
	for (size_t i = 0; i < ARRAY_LEN(changes); i++)
		assert_int_equal(
			functions->change(store, "a", version, &changes[i], &version, NULL), 0);
	assert_int_equal(claim(store, "uid-b", 100, 109, 1, every_number, numbers), ERR_LIMIT);
	const struct store_change end = {.supervisor = ""};
	assert_int_equal(functions->change(store, "a", version - 1, &end, &version, NULL),
			 ERR_CONFLICT);
	assert_int_equal(claim(store, "uid-b", 100, 109, 1, every_number, numbers), ERR_LIMIT);
	assert_int_equal(functions->change(store, "a", version, &end, &version, NULL), 0);
	assert_int_equal(claim(store, "uid-b", 100, 109, 10, every_number, numbers), 0);
}

static void removing_a_job_releases_its_numbers(void **state)
{
	struct store *store = store_of(state);
	int numbers[10];

	create(store, "a", "uid-a", 1);
	create(store, "b", "uid-b", 1);
	assert_int_equal(claim(store, "uid-a", 100, 109, 10, every_number, numbers), 0);
	assert_int_equal(store->functions->remove(store, "a", "uid-a", NULL), 0);
	assert_int_equal(claim(store, "uid-b", 100, 109, 10, every_number, numbers), 0);
}

static void held_numbers_are_exactly_those_that_were_named(void **state)
{
	struct store *store = store_of(state);
	struct claim_list claims = {0};
	struct err err = {0};

	create(store, "a", "uid-a", 1);
	create(store, "b", "uid-b", 1);
	const struct claims_functions *functions = store->claims->functions;

	assert_int_equal(functions->hold(store->claims, "gpu", "uid-a", (int[]){0, 2}, 2, NULL), 0);
	assert_int_equal(functions->hold(store->claims, "gpu", "uid-b", (int[]){3, 2}, 2, &err),
			 ERR_CONFLICT);
	assert_string_equal(err.text, "gpu 2 is held by another job");
	assert_int_equal(functions->hold(store->claims, "port", "uid-b", (int[]){2}, 1, NULL), 0);
	assert_int_equal(functions->hold(store->claims, "gpu", "uid-a", (int[]){0, 1}, 2, NULL), 0);
	assert_int_equal(functions->hold(store->claims, "gpu", "uid-b", (int[]){3, 2}, 2, NULL), 0);
	assert_int_equal(functions->list(store->claims, "gpu", &claims, NULL), 0);
	assert_int_equal(claims.count, 4);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(claims.list[i].number, i);
		assert_string_equal(claims.list[i].owner_uid, i < 2 ? "uid-a" : "uid-b");
		assert_string_equal(claims.list[i].job_name, i < 2 ? "a" : "b");
	}
	claim_list_done(&claims);
}

static void all_kinds_are_released_at_once(void **state)
{
	struct store *store = store_of(state);
	const struct claims_functions *functions = store->claims->functions;
	struct claim_list claims = {0};
	int numbers[10];

	create(store, "a", "uid-a", 1);
	create(store, "b", "uid-b", 1);
	assert_int_equal(claim(store, "uid-a", 100, 109, 10, every_number, numbers), 0);
	assert_int_equal(functions->hold(store->claims, "gpu", "uid-a", (int[]){0}, 1, NULL), 0);
	assert_int_equal(functions->hold(store->claims, "gpu", "uid-b", (int[]){1}, 1, NULL), 0);
	assert_int_equal(functions->release(store->claims, NULL, "uid-a", NULL), 0);
	assert_int_equal(claim(store, "uid-b", 100, 109, 10, every_number, numbers), 0);
	assert_int_equal(functions->list(store->claims, "gpu", &claims, NULL), 0);
	assert_int_equal(claims.count, 1);
	claim_list_done(&claims);
}

/* SQLite alone. */

static void enqueue(struct store *store, const char *uid, size_t count)
{
	assert_int_equal(store->claims->functions->enqueue(store->claims, "gpu", uid, count,
							   UINT64_MAX, NULL),
			 0);
}

/* "uid-a 2 passed 1; uid-b 1 passed 0" */
static void assert_queue(struct store *store, const char *expected)
{
	struct text text CLEANUP(text_done) = {0};
	struct claim_queue queue CLEANUP(claim_queue_done) = {0};

	assert_int_equal(store->claims->functions->list_queue(store->claims, "gpu", &queue, NULL),
			 0);
	for (size_t i = 0; i < queue.count; i++) {
		const struct claim_waiter *waiter = &queue.list[i];

		text_addf(&text, "%s%s %zu passed %d", i ? "; " : "", waiter->job_name,
			  waiter->count, waiter->n_passed);
		assert_true(waiter->usable == UINT64_MAX);
	}
	assert_string_equal(text_of(&text), expected);
}

static void a_queue_has_the_first_comer_first_and_counts_who_passed(void **state)
{
	struct store *store = store_of(state);
	const struct claims_functions *functions = store->claims->functions;

	create(store, "a", "uid-a", 1);
	create(store, "b", "uid-b", 1);
	create(store, "c", "uid-c", 1);
	enqueue(store, "uid-b", 4);
	enqueue(store, "uid-a", 1);
	enqueue(store, "uid-c", 1);
	enqueue(store, "uid-b", 3);
	assert_queue(store, "b 3 passed 0; a 1 passed 0; c 1 passed 0");
	assert_int_equal(functions->hold(store->claims, "gpu", "uid-c", (int[]){0}, 1, NULL), 0);
	assert_queue(store, "b 3 passed 1; a 1 passed 1");
	assert_int_equal(functions->hold(store->claims, "gpu", "uid-a", (int[]){0}, 1, NULL),
			 ERR_CONFLICT);
	assert_int_equal(functions->hold(store->claims, "gpu", "uid-c", (int[]){1}, 1, NULL), 0);
	assert_queue(store, "b 3 passed 1; a 1 passed 1");
	assert_int_equal(functions->hold(store->claims, "gpu", "uid-b", (int[]){0}, 1, NULL), 0);
	assert_queue(store, "a 1 passed 1");
	assert_int_equal(functions->release(store->claims, NULL, "uid-a", NULL), 0);
	assert_queue(store, "");
}

static void who_ends_or_is_removed_leaves_the_queue(void **state)
{
	struct store *store = store_of(state);
	const struct store_change end = {.supervisor = ""};
	int64_t version = create(store, "a", "uid-a", 1);

	create(store, "b", "uid-b", 1);
	enqueue(store, "uid-a", 1);
	enqueue(store, "uid-b", 1);
	assert_int_equal(store->functions->change(store, "a", version, &end, &version, NULL), 0);
	assert_queue(store, "b 1 passed 0");
	assert_int_equal(store->functions->remove(store, "b", "uid-b", NULL), 0);
	assert_queue(store, "");
}

static void the_file_is_for_this_user_alone_and_keeps_what_was_written(void **state)
{
	struct place_of_test *place = *state;
	char *folder CLEANUP(mem_free_text) = mem_format("%s/state/muster", place->folder);
	char *file CLEANUP(mem_free_text) = mem_format("%s/muster.db", folder);
	struct stat status;
	struct store *store = open_in(folder);
	int64_t version = create(store, "mnist", "uid-1", 1);

	store->functions->free(store);
	assert_int_equal(stat(folder, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0700);
	assert_int_equal(stat(file, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	store = open_in(folder);
	assert_int_equal(version_of(store, "mnist"), version);
	store->functions->free(store);
}

/* One of many processes that find no file, make it, and write at the same time. */
static int write_much(const char *folder, int number)
{
	struct store *store = NULL;
	struct store_change change = {.status = "{\"n\":1}", .summary = "{}"};
	char name[32];
	int64_t version;
	int numbers[3];

	snprintf(name, sizeof(name), "job-%d", number);
	struct store_record record = record_named(name, name, number);

	if (store_sqlite_open(folder, &store, NULL) < 0)
		return 1;
	int rc = store->functions->create(store, &record, &version, NULL);
	if (rc == 0)
		rc = claim(store, name, 100, 199, 3, every_number, numbers);
	for (int i = 0; rc == 0 && i < 20; i++)
		rc = store->functions->change(store, name, version, &change, &version, NULL);
	store->functions->free(store);
	return rc == 0 ? 0 : 2;
}

static void twenty_processes_make_and_write_one_store_at_once(void **state)
{
	struct place_of_test *place = *state;
	struct store_list list = {0};
	int status;

	for (int i = 0; i < 20; i++)
		if (fork() == 0)
			_exit(write_much(place->folder, i));
	for (int i = 0; i < 20; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	place->store = open_in(place->folder);
	assert_int_equal(place->store->functions->list(place->store, STORE_SUMMARY, &list, NULL),
			 0);
	assert_int_equal(list.count, 20);
	for (size_t i = 0; i < list.count; i++)
		assert_int_equal(list.records[i].version, 21);
	store_list_done(&list);
}

static void write_file(const char *folder, const char *bytes, size_t len, off_t offset)
{
	char *path CLEANUP(mem_free_text) = mem_format("%s/muster.db", folder);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes, len, offset), len);
	close(fd);
}

static void a_damaged_file_is_named_with_what_to_do(void **state)
{
	struct place_of_test *place = *state;
	struct store *store;
	struct err err = {0};
	char noise[5000];

	memset(noise, 'x', sizeof(noise));
	write_file(place->folder, noise, sizeof(noise), 0);
	assert_int_equal(store_sqlite_open(place->folder, &store, &err), ERR_IO);
	assert_non_null(strstr(err.text, "muster.db' is damaged"));
	assert_non_null(strstr(err.text, "move it away, with its -wal and -shm"));
}

static void a_file_of_a_newer_muster_is_left_alone(void **state)
{
	struct place_of_test *place = *state;
	struct store *store = open_in(place->folder);
	struct err err = {0};

	store->functions->free(store);
	/* user_version: four bytes, big-endian, at offset 60 (sqlite.org/fileformat.html). */
	write_file(place->folder, "\0\0\0\x09", 4, 60);
	assert_int_equal(store_sqlite_open(place->folder, &store, &err), ERR_UNSUPPORTED);
	assert_non_null(strstr(err.text, "newer muster (format 9"));
}

static void a_folder_that_cannot_be_made_is_named(void **state)
{
	struct place_of_test *place = *state;
	char *folder CLEANUP(mem_free_text) = mem_format("%s/file/muster", place->folder);
	char *file CLEANUP(mem_free_text) = mem_format("%s/file", place->folder);
	struct store *store;
	struct err err = {0};

	close(open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	assert_int_equal(store_sqlite_open(folder, &store, &err), ERR_IO);
	assert_non_null(strstr(err.text, folder));
}

#define TESTS_OF(make)                                                                             \
	cmocka_unit_test_setup_teardown(a_job_reads_as_it_was_created, make, remove_all),          \
		cmocka_unit_test_setup_teardown(an_unknown_job_is_not_found, make, remove_all),    \
		cmocka_unit_test_setup_teardown(a_name_is_given_once, make, remove_all),           \
		cmocka_unit_test_setup_teardown(                                                   \
			a_change_raises_the_version_and_leaves_other_parts, make, remove_all),     \
		cmocka_unit_test_setup_teardown(a_change_from_an_old_version_changes_nothing,      \
						make, remove_all),                                 \
		cmocka_unit_test_setup_teardown(removing_names_the_uid_too, make, remove_all),     \
		cmocka_unit_test_setup_teardown(                                                   \
			a_later_job_of_the_same_name_never_has_a_version_of_the_earlier_one, make, \
			remove_all),                                                               \
		cmocka_unit_test_setup_teardown(replacing_takes_name_and_numbers_in_one_step,      \
						make, remove_all),                                 \
		cmocka_unit_test_setup_teardown(replacing_gives_a_job_another_name_in_one_step,    \
						make, remove_all),                                 \
		cmocka_unit_test_setup_teardown(a_list_is_by_age_and_reads_what_was_asked, make,   \
						remove_all),                                       \
		cmocka_unit_test_setup_teardown(a_number_is_claimed_by_one_owner, make,            \
						remove_all),                                       \
		cmocka_unit_test_setup_teardown(numbers_in_use_elsewhere_are_passed_over, make,    \
						remove_all),                                       \
		cmocka_unit_test_setup_teardown(too_few_free_numbers_claim_none, make,             \
						remove_all),                                       \
		cmocka_unit_test_setup_teardown(numbers_are_released_with_the_supervisor, make,    \
						remove_all),                                       \
		cmocka_unit_test_setup_teardown(released_numbers_can_be_claimed_again, make,       \
						remove_all),                                       \
		cmocka_unit_test_setup_teardown(held_numbers_are_exactly_those_that_were_named,    \
						make, remove_all),                                 \
		cmocka_unit_test_setup_teardown(all_kinds_are_released_at_once, make, remove_all), \
		cmocka_unit_test_setup_teardown(removing_a_job_releases_its_numbers, make,         \
						remove_all)

#define FILE_TEST(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_all)

int main(void)
{
	const struct CMUnitTest memory_tests[] = {TESTS_OF(make_memory)};
	const struct CMUnitTest retrying_tests[] = {TESTS_OF(make_retrying)};
	const struct CMUnitTest sqlite_tests[] = {
		TESTS_OF(make_sqlite),
		cmocka_unit_test_setup_teardown(
			a_queue_has_the_first_comer_first_and_counts_who_passed, make_sqlite,
			remove_all),
		cmocka_unit_test_setup_teardown(who_ends_or_is_removed_leaves_the_queue,
						make_sqlite, remove_all),
		FILE_TEST(the_file_is_for_this_user_alone_and_keeps_what_was_written),
		FILE_TEST(twenty_processes_make_and_write_one_store_at_once),
		FILE_TEST(a_damaged_file_is_named_with_what_to_do),
		FILE_TEST(a_file_of_a_newer_muster_is_left_alone),
		FILE_TEST(a_folder_that_cannot_be_made_is_named),
	};

	return cmocka_run_group_tests(memory_tests, NULL, NULL) +
	       cmocka_run_group_tests(retrying_tests, NULL, NULL) +
	       cmocka_run_group_tests(sqlite_tests, NULL, NULL);
}
