/* The store in one SQLite file, muster.db.
 *
 * The columns of a list (jobs) are separate from the documents (bodies): `ps` over a thousand jobs
 * reads half a megabyte and not ten.
 *
 * A change that has to last is flushed to the disk; all others are written with the next flush. If
 * a power failure undoes a change, the processes that it was about are lost, too. A job that had
 * not finished before is cleaned up by the next reader, whatever its status was. */
#include "store/database.h"

#include "base/hash.h"
#include "base/mem.h"
#include "store/store.h"

#include <string.h>

/* The claims of one owner, of one kind or of all. */
#define RELEASE "DELETE FROM claims WHERE kind = coalesce(?1, kind) AND owner = ?2"
/* Of every statement that reads jobs, in the order of read_job_row. */
#define JOB_COLUMNS "name, uid, version, created, summary, supervisor"
/* And its places in the queue. */
#define DEQUEUE "DELETE FROM queue WHERE kind = coalesce(?1, kind) AND owner = ?2"

/* Claims, in the same file. */

struct sqlite_claims {
	struct claims base;
	struct database *database; /* borrowed */
};

static struct database *database_of_claims(struct claims *claims)
{
	return ((struct sqlite_claims *) claims)->database;
}

/* Marks the numbers of low..high that are already claimed. */
static int read_claimed(struct database *database, const struct claim_request *request,
			bool *is_claimed, struct err *err)
{
	struct sqlite3_stmt *row;
	int rc = database_statement(
		database, "SELECT number FROM claims WHERE kind = ? AND number BETWEEN ? AND ?",
		&row, err, "tii", request->kind, (int64_t) request->low, (int64_t) request->high);

	if (rc < 0)
		return rc;
	while ((rc = statement_next(database, row, err)) == 1)
		is_claimed[statement_integer(row, 0) - request->low] = true;
	statement_finish(row);
	return rc;
}

static int insert_claim(struct database *database, const char *kind, const char *owner_uid,
			int number, struct err *err)
{
	int rc = database_run(database, "INSERT INTO claims (kind, number, owner) VALUES (?, ?, ?)",
			      NULL, err, "tit", kind, (int64_t) number, owner_uid);

	return rc == ERR_EXISTS
		       ? err_set(err, ERR_CONFLICT, "%s %d is held by another job", kind, number)
		       : rc;
}

static int insert_claims(struct database *database, const struct claim_request *request,
			 int *numbers, struct err *err)
{
	int range = request->high - request->low + 1;
	bool *is_claimed CLEANUP(mem_free_any) = mem_new_array((size_t) range, sizeof(bool));
	int rc = read_claimed(database, request, is_claimed, err);
	/* A place that depends on the owner: users of one machine have separate stores, and would
	 * otherwise all try the same first ports. */
	int first = (int) (hash_short(request->owner_uid) % (uint32_t) range);
	size_t found = 0;

	for (int step = 0; rc == 0 && found < request->count && step < range; step++) {
		int offset = (first + step) % range, number = request->low + offset;

		if (is_claimed[offset] || !request->is_free(number, request->data))
			continue;
		numbers[found++] = number;
		rc = insert_claim(database, request->kind, request->owner_uid, number, err);
	}
	if (rc == 0 && found < request->count)
		return err_set(err, ERR_LIMIT, "only %zu of %zu %ss are free between %d and %d",
			       found, request->count, request->kind, request->low, request->high);
	return rc;
}

static int sqlite_claim(struct claims *claims, const struct claim_request *request,
			int *ret_numbers, struct err *err)
{
	struct database *database = database_of_claims(claims);
	int *numbers CLEANUP(mem_free_any) = mem_new_array(request->count, sizeof(*numbers));
	int rc = database_begin(database, LATER, err);

	if (rc == 0)
		rc = insert_claims(database, request, numbers, err);
	rc = database_end(database, rc, err);
	if (rc == 0)
		memcpy(ret_numbers, numbers, request->count * sizeof(*numbers));
	return rc;
}

/* The owner also leaves the queue. */
static int release(struct database *database, const char *kind, const char *owner_uid,
		   struct err *err)
{
	int rc = database_run(database,
			      "DELETE FROM claims WHERE kind = coalesce(?1, kind) AND owner = ?2",
			      NULL, err, "tt", kind, owner_uid);

	return rc < 0 ? rc
		      : database_run(
				database,
				"DELETE FROM queue WHERE kind = coalesce(?1, kind) AND owner = ?2",
				NULL, err, "tt", kind, owner_uid);
}

static int release_of_job(struct database *database, int64_t id, struct err *err)
{
	int rc = database_run(
		database, "DELETE FROM claims WHERE owner = (SELECT uid FROM jobs WHERE id = ?)",
		NULL, err, "i", id);

	return rc < 0 ? rc
		      : database_run(database,
				     "DELETE FROM queue WHERE owner = (SELECT uid FROM jobs WHERE "
				     "id = ?)",
				     NULL, err, "i", id);
}

static int sqlite_replace_claims(struct claims *claims, const char *kind, const char *owner_uid,
				 const int *numbers, size_t count, struct err *err)
{
	struct database *database = database_of_claims(claims);
	int rc = database_begin(database, LATER, err);

	if (rc == 0)
		rc = database_run(database,
				  "UPDATE queue SET passed = passed + 1 WHERE kind = ?1 AND place <"
				  " (SELECT place FROM queue WHERE kind = ?1 AND owner = ?2)",
				  NULL, err, "tt", kind, owner_uid);
	if (rc == 0)
		rc = release(database, kind, owner_uid, err);
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = insert_claim(database, kind, owner_uid, numbers[i], err);
	return database_end(database, rc, err);
}

static int sqlite_list_claims(struct claims *claims, const char *kind, struct claim_list *ret_list,
			      struct err *err)
{
	struct database *database = database_of_claims(claims);
	struct claim_list list CLEANUP(claim_list_done) = {0};
	size_t capacity = 0;
	struct sqlite3_stmt *row;
	int rc = database_statement(
		database,
		"SELECT number, owner, name FROM claims LEFT JOIN jobs ON uid = owner"
		" WHERE kind = ? ORDER BY number",
		&row, err, "t", kind);

	if (rc < 0)
		return rc;
	while ((rc = statement_next(database, row, err)) == 1) {
		mem_grow(&list.list, &capacity, list.count, sizeof(*list.list));
		list.list[list.count++] = (struct claim){
			.number = (int) statement_integer(row, 0),
			.owner_uid = mem_copy_text(statement_text(row, 1)),
			.job_name = mem_copy_text(statement_text(row, 2)),
		};
	}
	statement_finish(row);
	if (rc < 0)
		return rc;
	*ret_list = list;
	list = (struct claim_list){0};
	return 0;
}

static int sqlite_release(struct claims *claims, const char *kind, const char *owner_uid,
			  struct err *err)
{
	struct database *database = database_of_claims(claims);
	int rc = database_begin(database, LATER, err);

	if (rc == 0)
		rc = release(database, kind, owner_uid, err);
	return database_end(database, rc, err);
}

static int sqlite_enqueue(struct claims *claims, const char *kind, const char *owner_uid,
			  size_t count, uint64_t usable, struct err *err)
{
	struct database *database = database_of_claims(claims);
	int rc = database_begin(database, LATER, err);

	if (rc == 0)
		rc = database_run(
			database,
			"INSERT INTO queue (kind, owner, count, usable) VALUES (?, ?, ?, ?)"
			" ON CONFLICT DO UPDATE SET count = excluded.count,"
			" usable = excluded.usable",
			NULL, err, "ttii", kind, owner_uid, (int64_t) count, (int64_t) usable);
	return database_end(database, rc, err);
}

static int sqlite_list_queue(struct claims *claims, const char *kind, struct claim_queue *ret_queue,
			     struct err *err)
{
	struct database *database = database_of_claims(claims);
	struct claim_queue queue CLEANUP(claim_queue_done) = {0};
	size_t capacity = 0;
	struct sqlite3_stmt *row;
	int rc = database_statement(database,
				    "SELECT owner, name, count, usable, passed FROM queue"
				    " LEFT JOIN jobs ON uid = owner WHERE kind = ? ORDER BY place",
				    &row, err, "t", kind);

	if (rc < 0)
		return rc;
	while ((rc = statement_next(database, row, err)) == 1) {
		mem_grow(&queue.list, &capacity, queue.count, sizeof(*queue.list));
		queue.list[queue.count++] = (struct claim_waiter){
			.owner_uid = mem_copy_text(statement_text(row, 0)),
			.job_name = mem_copy_text(statement_text(row, 1)),
			.count = (size_t) statement_integer(row, 2),
			.usable = (uint64_t) statement_integer(row, 3),
			.n_passed = (int) statement_integer(row, 4),
		};
	}
	statement_finish(row);
	if (rc < 0)
		return rc;
	*ret_queue = queue;
	queue = (struct claim_queue){0};
	return 0;
}

static const struct claims_functions claims_functions = {
	.claim = sqlite_claim,
	.hold = sqlite_replace_claims,
	.list = sqlite_list_claims,
	.release = sqlite_release,
	.enqueue = sqlite_enqueue,
	.list_queue = sqlite_list_queue,
};

/* A record's first version is higher than any version of an earlier record: a change meant for a
 * deleted job can never hit a later one of the same name. */
static const char schema[] =
	"CREATE TABLE jobs (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
	" uid TEXT NOT NULL UNIQUE, version INTEGER NOT NULL, created INTEGER NOT NULL,"
	" summary TEXT NOT NULL, supervisor TEXT NOT NULL);"
	"CREATE TABLE bodies (id INTEGER PRIMARY KEY REFERENCES jobs, document TEXT NOT NULL,"
	" status TEXT NOT NULL);"
	"CREATE TABLE claims (kind TEXT NOT NULL, number INTEGER NOT NULL, owner TEXT NOT NULL,"
	" PRIMARY KEY (kind, number)) WITHOUT ROWID;"
	"CREATE TABLE removed (last_version INTEGER NOT NULL);"
	"INSERT INTO removed VALUES (0)";

static const char additions[] =
	"CREATE TABLE IF NOT EXISTS queue (place INTEGER PRIMARY KEY AUTOINCREMENT,"
	" kind TEXT NOT NULL, owner TEXT NOT NULL, count INTEGER NOT NULL, usable INTEGER NOT NULL,"
	" passed INTEGER NOT NULL DEFAULT 0, UNIQUE (kind, owner))";

static const struct database_design design = {
	.file_name = "muster.db",
	.format = 1,
	.schema = schema,
	.additions = additions,
};

struct sqlite_store {
	struct store base;
	struct sqlite_claims claims;
	struct database *database;
};

static struct database *database_of(struct store *store)
{
	return ((struct sqlite_store *) store)->database;
}

/* Records. */

/* The parts that were not requested are NULL. */
static void read_job_row(struct sqlite3_stmt *row, enum store_parts parts,
			 struct store_record *record)
{
	*record = (struct store_record){0};
	record->name = mem_copy_text(statement_text(row, 0));
	record->uid = mem_copy_text(statement_text(row, 1));
	record->version = statement_integer(row, 2);
	record->created = statement_integer(row, 3);
	if (parts & STORE_SUMMARY)
		record->summary = mem_copy_text(statement_text(row, 4));
	record->supervisor = mem_copy_text(statement_text(row, 5));
	if (parts & STORE_DOCUMENT)
		record->document = mem_copy_text(statement_text(row, 6));
	if (parts & STORE_STATUS)
		record->status = mem_copy_text(statement_text(row, 7));
}

/* Statements of single jobs return (id, version). */

static int insert_job(struct database *database, const struct store_record *record,
		      int64_t *ret_version, struct err *err)
{
	int64_t row[2] = {0};
	int rc = database_run(
		database,
		"INSERT INTO jobs (name, uid, version, created, summary, supervisor)"
		" SELECT ?, ?, last_version + 1, ?, ?, ? FROM removed RETURNING id, version",
		row, err, "ttitt", record->name, record->uid, (int64_t) record->created,
		record->summary, record->supervisor);

	if (rc == ERR_EXISTS)
		return err_set(err, ERR_EXISTS, "a job named '%s' already exists", record->name);
	if (rc <= 0)
		return rc < 0 ? rc : ERR_NOT_FOUND;
	*ret_version = row[1];
	return database_run(database, "INSERT INTO bodies (id, document, status) VALUES (?, ?, ?)",
			    NULL, err, "itt", row[0], record->document, record->status);
}

static int fail_not_found(const char *name, struct err *err)
{
	return err_set(err, ERR_NOT_FOUND, "job '%s' not found", name);
}

static int sqlite_get(struct store *store, const char *name, struct store_record *ret_record,
		      struct err *err)
{
	struct database *database = database_of(store);
	struct sqlite3_stmt *row;
	int rc = database_statement(database,
				    "SELECT " JOB_COLUMNS
				    ", document, status FROM jobs JOIN bodies USING (id)"
				    " WHERE name = ?",
				    &row, err, "t", name);

	if (rc < 0)
		return rc;
	rc = statement_next(database, row, err);
	if (rc == 1)
		read_job_row(row, STORE_ALL, ret_record);
	statement_finish(row);
	return rc == 0 ? fail_not_found(name, err) : rc == 1 ? 0 : rc;
}

/* No row had this name and version: finds which of the two was wrong. */
static int fail_not_changed(struct database *database, const char *name, struct err *err)
{
	int64_t row[2];
	int rc = database_run(database, "SELECT id, version FROM jobs WHERE name = ?", row, err,
			      "t", name);

	if (rc == 0)
		return fail_not_found(name, err);
	return rc < 0 ? rc : err_set(err, ERR_CONFLICT, "job '%s' changed since it was read", name);
}

static int update_job(struct database *database, const char *name, int64_t version,
		      const struct store_change *change, int64_t *ret_version, struct err *err)
{
	int64_t row[2] = {0};
	int rc = database_run(
		database,
		"UPDATE jobs SET version = version + 1, summary = coalesce(?3, summary),"
		" supervisor = coalesce(?4, supervisor)"
		" WHERE name = ?1 AND version = ?2 RETURNING id, version",
		row, err, "titt", name, version, change->summary, change->supervisor);

	if (rc <= 0)
		return rc < 0 ? rc : fail_not_changed(database, name, err);
	rc = 0;
	*ret_version = row[1];
	if (change->document || change->status)
		rc = database_run(database,
				  "UPDATE bodies SET document = coalesce(?2, document),"
				  " status = coalesce(?3, status) WHERE id = ?1",
				  NULL, err, "itt", row[0], change->document, change->status);
	if (rc == 0 && change->supervisor && !*change->supervisor)
		rc = release_of_job(database, row[0], err);
	return rc;
}

static int sqlite_change(struct store *store, const char *name, int64_t version,
			 const struct store_change *change, int64_t *ret_version, struct err *err)
{
	struct database *database = database_of(store);
	int64_t changed_version = 0;
	int rc = database_begin(database, change->is_lasting ? AT_ONCE : LATER, err);

	if (rc == 0)
		rc = update_job(database, name, version, change, &changed_version, err);
	rc = database_end(database, rc, err);
	if (rc == 0)
		*ret_version = changed_version;
	return rc;
}

static int delete_job(struct database *database, const char *name, const char *uid, struct err *err)
{
	int64_t row[2] = {0};
	int rc = database_run(database,
			      "DELETE FROM jobs WHERE name = ? AND uid = ? RETURNING id, version",
			      row, err, "tt", name, uid);

	if (rc <= 0)
		return rc < 0 ? rc : fail_not_found(name, err);
	rc = database_run(database, "DELETE FROM bodies WHERE id = ?", NULL, err, "i", row[0]);
	if (rc == 0)
		rc = release(database, NULL, uid, err);
	if (rc == 0)
		rc = database_run(database,
				  "UPDATE removed SET last_version = max(last_version, ?)", NULL,
				  err, "i", row[1]);
	return rc;
}

static int sqlite_remove(struct store *store, const char *name, const char *uid, struct err *err)
{
	struct database *database = database_of(store);
	int rc = database_begin(database, LATER, err);

	if (rc == 0)
		rc = delete_job(database, name, uid, err);
	return database_end(database, rc, err);
}

static int sqlite_replace(struct store *store, const char *old_name, const char *old_uid,
			  const struct store_record *record, int64_t *ret_version, struct err *err)
{
	struct database *database = database_of(store);
	int64_t version = 0;
	int rc = database_begin(database, record->is_lasting ? AT_ONCE : LATER, err);

	if (rc == 0 && old_name)
		rc = delete_job(database, old_name, old_uid, err);
	if (rc == 0)
		rc = insert_job(database, record, &version, err);
	rc = database_end(database, rc, err);
	if (rc == 0)
		*ret_version = version;
	return rc;
}

static int sqlite_create(struct store *store, const struct store_record *record,
			 int64_t *ret_version, struct err *err)
{
	return sqlite_replace(store, NULL, NULL, record, ret_version, err);
}

static int sqlite_list(struct store *store, enum store_parts parts, struct store_list *ret_list,
		       struct err *err)
{
	bool needs_bodies = parts & (STORE_DOCUMENT | STORE_STATUS);
	struct store_list list CLEANUP(store_list_done) = {0};
	size_t capacity = 0;
	struct sqlite3_stmt *row;
	struct database *database = database_of(store);
	int rc = database_statement(database,
				    needs_bodies ? "SELECT " JOB_COLUMNS
						   ", document, status FROM jobs"
						   " JOIN bodies USING (id) ORDER BY id"
						 : "SELECT " JOB_COLUMNS " FROM jobs ORDER BY id",
				    &row, err, "");

	if (rc < 0)
		return rc;
	while ((rc = statement_next(database, row, err)) == 1) {
		mem_grow(&list.records, &capacity, list.count, sizeof(*list.records));
		read_job_row(row, parts, &list.records[list.count++]);
	}
	statement_finish(row);
	if (rc < 0)
		return rc;
	*ret_list = list;
	list = (struct store_list){0};
	return 0;
}

static void sqlite_free(struct store *store)
{
	if (!store)
		return;
	database_free(database_of(store));
	free(store);
}

static const struct store_functions sqlite_functions = {
	.create = sqlite_create,
	.replace = sqlite_replace,
	.get = sqlite_get,
	.change = sqlite_change,
	.remove = sqlite_remove,
	.list = sqlite_list,
	.free = sqlite_free,
};

int store_sqlite_open(const char *folder, struct store **ret_store, struct err *err)
{
	struct database *database;
	int rc = database_open(folder, &design, &database, err);

	if (rc < 0)
		return rc;
	struct sqlite_store *store = mem_new(sizeof(*store));
	store->base.functions = &sqlite_functions;
	store->claims = (struct sqlite_claims){{&claims_functions}, database};
	store->base.claims = &store->claims.base;
	store->database = database;
	*ret_store = &store->base;
	return 0;
}

int store_sqlite_check(const char *folder, struct err *err)
{
	return database_check(folder, &design, err);
}
