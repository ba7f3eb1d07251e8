/* The store in one SQLite file, muster.db: the only file that knows SQLite.
 *
 * Many muster processes use it at once: every supervisor writes its own job, `ps` reads all. So
 * each call is one short transaction that takes the write lock at its beginning (an upgrade from
 * reading to writing fails under others' writes, without waiting), and every change names the
 * version it was made from.
 *
 * What a list shows (jobs) lies apart from the documents (bodies): `ps` over a thousand jobs reads
 * half a megabyte and not ten.
 *
 * What has to be on disk before somebody acts on it is a change of a record: it is flushed. What
 * only prepares one (a new record, claims) goes to disk with the next flush, or is lost with the
 * machine's power, and then with every process it was made for. That takes three flushes out of
 * the start of a job. A rollback journal always flushes: only the log stays whole without.
 *
 * The write-ahead log is not folded back when the last process closes the file: that would cost
 * each short `muster ps` two flushes and the next one a new log. It is folded back every
 * CHECKPOINT_PAGES, which also bounds what the first reader after a pause has to go through. */
#include "store/store.h"

#include "base/mem.h"
#include "io/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define FILE_NAME "muster.db"
#define FORMAT 1 /* PRAGMA user_version of the file */
#define BUSY_LIMIT_MS 10000
#define CHECKPOINT_PAGES 100
#define CACHE_KIB 256
#define HOW_TO_MOVE "set MUSTER_STATE_DIR to a folder that can be written"
#define STRING_OF(number) STRING_OF_TOKEN(number)
#define STRING_OF_TOKEN(token) #token

/* A record's first version is higher than any version that an earlier record had: a change meant
 * for a job that was removed can never hit a later one of the same name. */
static const char schema[] =
	"CREATE TABLE jobs (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
	" uid TEXT NOT NULL UNIQUE, version INTEGER NOT NULL, created INTEGER NOT NULL,"
	" summary TEXT NOT NULL, supervisor TEXT NOT NULL);"
	"CREATE TABLE bodies (id INTEGER PRIMARY KEY REFERENCES jobs, document TEXT NOT NULL,"
	" status TEXT NOT NULL);"
	"CREATE TABLE claims (kind TEXT NOT NULL, number INTEGER NOT NULL, owner TEXT NOT NULL,"
	" PRIMARY KEY (kind, number)) WITHOUT ROWID;"
	"CREATE TABLE removed (last_version INTEGER NOT NULL);"
	"INSERT INTO removed VALUES (0);"
	"PRAGMA user_version = " STRING_OF(FORMAT) ";";

/* None of these touches the file. */
static const char settings[] =
	"PRAGMA synchronous = FULL;"
	"PRAGMA wal_autocheckpoint = " STRING_OF(
		CHECKPOINT_PAGES) ";"
				  "PRAGMA cache_size = -" STRING_OF(
					  CACHE_KIB) ";"
						     "PRAGMA mmap_size = 0;"
						     "PRAGMA temp_store = MEMORY;";

enum statement {
	BEGIN,
	COMMIT,
	ROLLBACK,
	CREATE_JOB,
	CREATE_BODY,
	GET,
	CHANGE_JOB,
	CHANGE_BODY,
	IS_THERE,
	REMOVE_JOB,
	REMOVE_BODY,
	REMOVE_CLAIMS,
	REMEMBER_VERSION,
	LIST_SUMMARIES,
	LIST_ALL,
	LIST_CLAIMS,
	CLAIM,
	RELEASE,
	STATEMENT_COUNT,
};

/* Columns of every reading statement, in the order of read_record. */
#define JOB_COLUMNS "name, uid, version, created, summary, supervisor"

static const char *const statement_texts[STATEMENT_COUNT] = {
	[BEGIN] = "BEGIN IMMEDIATE",
	[COMMIT] = "COMMIT",
	[ROLLBACK] = "ROLLBACK",
	[CREATE_JOB] = "INSERT INTO jobs (name, uid, version, created, summary, supervisor)"
		       " SELECT ?, ?, last_version + 1, ?, ?, ? FROM removed RETURNING id, version",
	[CREATE_BODY] = "INSERT INTO bodies (id, document, status) VALUES (?, ?, ?)",
	[GET] = "SELECT " JOB_COLUMNS ", document, status FROM jobs JOIN bodies USING (id)"
		" WHERE name = ?",
	[CHANGE_JOB] = "UPDATE jobs SET version = version + 1, summary = coalesce(?3, summary),"
		       " supervisor = coalesce(?4, supervisor)"
		       " WHERE name = ?1 AND version = ?2 RETURNING id, version",
	[CHANGE_BODY] = "UPDATE bodies SET document = coalesce(?2, document),"
			" status = coalesce(?3, status) WHERE id = ?1",
	[IS_THERE] = "SELECT 1 FROM jobs WHERE name = ?",
	[REMOVE_JOB] = "DELETE FROM jobs WHERE name = ? AND uid = ? RETURNING id, version",
	[REMOVE_BODY] = "DELETE FROM bodies WHERE id = ?",
	[REMOVE_CLAIMS] = "DELETE FROM claims WHERE owner = ?",
	[REMEMBER_VERSION] = "UPDATE removed SET last_version = max(last_version, ?)",
	[LIST_SUMMARIES] = "SELECT " JOB_COLUMNS " FROM jobs ORDER BY id",
	[LIST_ALL] = "SELECT " JOB_COLUMNS ", document, status FROM jobs JOIN bodies USING (id)"
		     " ORDER BY id",
	[LIST_CLAIMS] = "SELECT number FROM claims WHERE kind = ? AND number BETWEEN ? AND ?",
	[CLAIM] = "INSERT INTO claims (kind, number, owner) VALUES (?, ?, ?)",
	[RELEASE] = "DELETE FROM claims WHERE kind = ? AND owner = ?",
};

/* When a transaction is on disk. */
enum durability {
	LATER, /* with the next one that is flushed */
	AT_ONCE,
};

struct sqlite_store {
	struct store base;
	sqlite3 *database;
	bool may_flush_later;
	enum durability durability; /* of the transactions to come */
	char *path;
	sqlite3_stmt *statements[STATEMENT_COUNT]; /* prepared on first use */
};

static const struct store_functions sqlite_functions;

static struct sqlite_store *of(struct store *store)
{
	return (struct sqlite_store *) store;
}

/* Errors. */

static int fail_by_system(const char *path, sqlite3 *database, struct err *err)
{
	int number = sqlite3_system_errno(database);

	if (number)
		return err_set_errno(err, number, "cannot use '%s'", path);
	return err_set(err, ERR_IO, "cannot use '%s': %s", path, sqlite3_errmsg(database));
}

/* The sentence for what SQLite just answered. */
static int fail(const struct sqlite_store *store, struct err *err)
{
	switch (sqlite3_errcode(store->database) & 0xff) {
	case SQLITE_FULL:
		return err_set(err, ERR_SPACE, "cannot write '%s': no space left on device",
			       store->path);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_PROTOCOL:
		return err_set(err, ERR_IO,
			       "'%s' was locked by another process for %d s; is a muster process "
			       "stopped in the middle?",
			       store->path, BUSY_LIMIT_MS / 1000);
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return err_set(err, ERR_IO,
			       "'%s' is damaged (%s); move it away to begin with an empty list of "
			       "jobs",
			       store->path, sqlite3_errmsg(store->database));
	case SQLITE_READONLY:
	case SQLITE_PERM:
		return err_set(err, ERR_IO, "'%s' cannot be written (" HOW_TO_MOVE ")",
			       store->path);
	default:
		return fail_by_system(store->path, store->database, err);
	}
}

/* Statements. */

static int execute(struct sqlite_store *store, const char *statements, struct err *err)
{
	if (sqlite3_exec(store->database, statements, NULL, NULL, NULL) != SQLITE_OK)
		return fail(store, err);
	return 0;
}

/* Prepares a statement on its first use; NULL when that fails. */
static sqlite3_stmt *statement(struct sqlite_store *store, enum statement which)
{
	if (!store->statements[which])
		sqlite3_prepare_v3(store->database, statement_texts[which], -1,
				   SQLITE_PREPARE_PERSISTENT, &store->statements[which], NULL);
	return store->statements[which];
}

/* Binding cannot fail but for our own mistakes and memory: step tells of those. NULL binds null. */
static void bind_text(sqlite3_stmt *prepared, int position, const char *text)
{
	sqlite3_bind_text(prepared, position, text, -1, SQLITE_STATIC);
}

/* Ends a statement's run, so that it holds no lock and no borrowed text. */
static void finish(sqlite3_stmt *prepared)
{
	sqlite3_reset(prepared);
	sqlite3_clear_bindings(prepared);
}

/* Runs a statement that gives no rows. */
static int run(struct sqlite_store *store, sqlite3_stmt *prepared, struct err *err)
{
	int rc = sqlite3_step(prepared) == SQLITE_DONE ? 0 : fail(store, err);

	finish(prepared);
	return rc;
}

static int run_plain(struct sqlite_store *store, enum statement which, struct err *err)
{
	sqlite3_stmt *prepared = statement(store, which);

	return prepared ? run(store, prepared, err) : fail(store, err);
}

/* Runs a change that gives back (id, version) of the row it hit. ERR_NOT_FOUND without a sentence
 * when it hit none; ERR_EXISTS when it broke a UNIQUE. */
static int run_for_version(struct sqlite_store *store, sqlite3_stmt *prepared, int64_t *ret_id,
			   int64_t *ret_version, struct err *err)
{
	int rc = 0;

	switch (sqlite3_step(prepared)) {
	case SQLITE_ROW:
		*ret_id = sqlite3_column_int64(prepared, 0);
		*ret_version = sqlite3_column_int64(prepared, 1);
		/* Only the step after the last row brings the change to its end. */
		if (sqlite3_step(prepared) != SQLITE_DONE)
			rc = fail(store, err);
		break;
	case SQLITE_DONE:
		rc = ERR_NOT_FOUND;
		break;
	case SQLITE_CONSTRAINT:
		rc = ERR_EXISTS;
		break;
	default:
		rc = fail(store, err);
	}
	finish(prepared);
	return rc;
}

static int begin(struct sqlite_store *store, enum durability durability, struct err *err)
{
	if (!store->may_flush_later)
		durability = AT_ONCE;
	if (durability != store->durability) {
		int rc = execute(store,
				 durability == AT_ONCE ? "PRAGMA synchronous = FULL"
						       : "PRAGMA synchronous = NORMAL",
				 err);

		if (rc < 0)
			return rc;
		store->durability = durability;
	}
	return run_plain(store, BEGIN, err);
}

/* Ends the transaction: with its changes when rc is 0, without them otherwise. */
static int end_transaction(struct sqlite_store *store, int rc, struct err *err)
{
	if (rc == 0)
		rc = run_plain(store, COMMIT, err);
	/* SQLite itself has rolled back after some errors (disk full, I/O). */
	if (rc < 0 && !sqlite3_get_autocommit(store->database)) {
		int ignored = run_plain(store, ROLLBACK, NULL);

		(void) ignored;
	}
	return rc;
}

/* Records. */

static char *column_text(sqlite3_stmt *row, int column)
{
	return mem_copy_text((const char *) sqlite3_column_text(row, column));
}

static void read_job(sqlite3_stmt *row, struct store_record *record)
{
	record->name = column_text(row, 0);
	record->uid = column_text(row, 1);
	record->version = sqlite3_column_int64(row, 2);
	record->created = sqlite3_column_int64(row, 3);
	record->summary = column_text(row, 4);
	record->supervisor = column_text(row, 5);
}

static int insert_job(struct sqlite_store *store, const struct store_record *record,
		      int64_t *ret_version, struct err *err)
{
	sqlite3_stmt *job = statement(store, CREATE_JOB), *body = statement(store, CREATE_BODY);
	int64_t id, version;

	if (!job || !body)
		return fail(store, err);
	bind_text(job, 1, record->name);
	bind_text(job, 2, record->uid);
	sqlite3_bind_int64(job, 3, record->created);
	bind_text(job, 4, record->summary);
	bind_text(job, 5, record->supervisor);
	int rc = run_for_version(store, job, &id, &version, err);
	if (rc == ERR_EXISTS)
		return err_set(err, ERR_EXISTS, "a job named '%s' is there already", record->name);
	if (rc < 0)
		return rc;
	sqlite3_bind_int64(body, 1, id);
	bind_text(body, 2, record->document);
	bind_text(body, 3, record->status);
	rc = run(store, body, err);
	if (rc == 0)
		*ret_version = version;
	return rc;
}

static int sqlite_create(struct store *base, const struct store_record *record,
			 int64_t *ret_version, struct err *err)
{
	struct sqlite_store *store = of(base);
	int64_t version = 0;
	int rc = begin(store, LATER, err);

	if (rc < 0)
		return rc;
	rc = end_transaction(store, insert_job(store, record, &version, err), err);
	if (rc == 0)
		*ret_version = version;
	return rc;
}

static int fail_not_found(const char *name, struct err *err)
{
	return err_set(err, ERR_NOT_FOUND, "job '%s' not found", name);
}

static int sqlite_get(struct store *base, const char *name, struct store_record *ret_record,
		      struct err *err)
{
	struct sqlite_store *store = of(base);
	sqlite3_stmt *row = statement(store, GET);
	int rc = 0;

	if (!row)
		return fail(store, err);
	bind_text(row, 1, name);
	switch (sqlite3_step(row)) {
	case SQLITE_ROW:
		read_job(row, ret_record);
		ret_record->document = column_text(row, 6);
		ret_record->status = column_text(row, 7);
		break;
	case SQLITE_DONE:
		rc = fail_not_found(name, err);
		break;
	default:
		rc = fail(store, err);
	}
	finish(row);
	return rc;
}

/* No row had this name and version: which of the two was it? */
static int fail_not_changed(struct sqlite_store *store, const char *name, struct err *err)
{
	sqlite3_stmt *row = statement(store, IS_THERE);

	if (!row)
		return fail(store, err);
	bind_text(row, 1, name);
	int answer = sqlite3_step(row);
	int rc = answer == SQLITE_ROW
			 ? err_set(err, ERR_CONFLICT, "job '%s' changed since it was read", name)
		 : answer == SQLITE_DONE ? fail_not_found(name, err)
					 : fail(store, err);
	finish(row);
	return rc;
}

static int update_body(struct sqlite_store *store, int64_t id, const struct store_change *change,
		       struct err *err)
{
	sqlite3_stmt *body = statement(store, CHANGE_BODY);

	if (!body)
		return fail(store, err);
	sqlite3_bind_int64(body, 1, id);
	bind_text(body, 2, change->document);
	bind_text(body, 3, change->status);
	return run(store, body, err);
}

static int update_job(struct sqlite_store *store, const char *name, int64_t version,
		      const struct store_change *change, int64_t *ret_version, struct err *err)
{
	sqlite3_stmt *job = statement(store, CHANGE_JOB);
	int64_t id;

	if (!job)
		return fail(store, err);
	bind_text(job, 1, name);
	sqlite3_bind_int64(job, 2, version);
	bind_text(job, 3, change->summary);
	bind_text(job, 4, change->supervisor);
	int rc = run_for_version(store, job, &id, ret_version, err);
	if (rc == ERR_NOT_FOUND)
		return fail_not_changed(store, name, err);
	if (rc == 0 && (change->document || change->status))
		rc = update_body(store, id, change, err);
	return rc;
}

static int sqlite_change(struct store *base, const char *name, int64_t version,
			 const struct store_change *change, int64_t *ret_version, struct err *err)
{
	struct sqlite_store *store = of(base);
	int64_t changed_version = 0;
	int rc = begin(store, AT_ONCE, err);

	if (rc < 0)
		return rc;
	rc = end_transaction(store, update_job(store, name, version, change, &changed_version, err),
			     err);
	if (rc == 0)
		*ret_version = changed_version;
	return rc;
}

static int run_with_number(struct sqlite_store *store, enum statement which, int64_t number,
			   struct err *err)
{
	sqlite3_stmt *prepared = statement(store, which);

	if (!prepared)
		return fail(store, err);
	sqlite3_bind_int64(prepared, 1, number);
	return run(store, prepared, err);
}

static int delete_all_claims(struct sqlite_store *store, const char *uid, struct err *err)
{
	sqlite3_stmt *prepared = statement(store, REMOVE_CLAIMS);

	if (!prepared)
		return fail(store, err);
	bind_text(prepared, 1, uid);
	return run(store, prepared, err);
}

static int delete_job(struct sqlite_store *store, const char *name, const char *uid,
		      struct err *err)
{
	sqlite3_stmt *job = statement(store, REMOVE_JOB);
	int64_t id, version;

	if (!job)
		return fail(store, err);
	bind_text(job, 1, name);
	bind_text(job, 2, uid);
	int rc = run_for_version(store, job, &id, &version, err);
	if (rc == ERR_NOT_FOUND)
		return fail_not_found(name, err);
	if (rc == 0)
		rc = run_with_number(store, REMOVE_BODY, id, err);
	if (rc == 0)
		rc = delete_all_claims(store, uid, err);
	if (rc == 0)
		rc = run_with_number(store, REMEMBER_VERSION, version, err);
	return rc;
}

static int sqlite_remove(struct store *base, const char *name, const char *uid, struct err *err)
{
	struct sqlite_store *store = of(base);
	int rc = begin(store, LATER, err);

	if (rc < 0)
		return rc;
	return end_transaction(store, delete_job(store, name, uid, err), err);
}

static int sqlite_replace(struct store *base, const char *old_uid,
			  const struct store_record *record, int64_t *ret_version, struct err *err)
{
	struct sqlite_store *store = of(base);
	int64_t version = 0;
	int rc = begin(store, LATER, err);

	if (rc < 0)
		return rc;
	rc = delete_job(store, record->name, old_uid, err);
	if (rc == 0)
		rc = insert_job(store, record, &version, err);
	rc = end_transaction(store, rc, err);
	if (rc == 0)
		*ret_version = version;
	return rc;
}

/* Appends the row that was read; the parts that were not asked for stay NULL. */
static void add_row(sqlite3_stmt *row, enum store_parts parts, struct store_list *list,
		    size_t *capacity)
{
	mem_grow(&list->records, capacity, list->count, sizeof(*list->records));
	struct store_record *record = &list->records[list->count++];

	*record = (struct store_record){0};
	read_job(row, record);
	if (!(parts & STORE_SUMMARY)) {
		free(record->summary);
		record->summary = NULL;
	}
	if (parts & STORE_DOCUMENT)
		record->document = column_text(row, 6);
	if (parts & STORE_STATUS)
		record->status = column_text(row, 7);
}

static int sqlite_list(struct store *base, enum store_parts parts, struct store_list *ret_list,
		       struct err *err)
{
	struct sqlite_store *store = of(base);
	bool needs_bodies = parts & (STORE_DOCUMENT | STORE_STATUS);
	sqlite3_stmt *row = statement(store, needs_bodies ? LIST_ALL : LIST_SUMMARIES);
	struct store_list list = {0};
	size_t capacity = 0;
	int answer, rc = 0;

	if (!row)
		return fail(store, err);
	while ((answer = sqlite3_step(row)) == SQLITE_ROW)
		add_row(row, parts, &list, &capacity);
	if (answer != SQLITE_DONE)
		rc = fail(store, err);
	finish(row);
	if (rc < 0) {
		store_list_done(&list);
		return rc;
	}
	*ret_list = list;
	return 0;
}

/* Claims. */

/* Marks the numbers of low..high that are claimed already. */
static int read_claimed(struct sqlite_store *store, const char *kind, int low, int high,
			bool *is_claimed, struct err *err)
{
	sqlite3_stmt *row = statement(store, LIST_CLAIMS);
	int answer, rc = 0;

	if (!row)
		return fail(store, err);
	bind_text(row, 1, kind);
	sqlite3_bind_int(row, 2, low);
	sqlite3_bind_int(row, 3, high);
	while ((answer = sqlite3_step(row)) == SQLITE_ROW)
		is_claimed[sqlite3_column_int(row, 0) - low] = true;
	if (answer != SQLITE_DONE)
		rc = fail(store, err);
	finish(row);
	return rc;
}

static int insert_claim(struct sqlite_store *store, const char *kind, int number,
			const char *owner_uid, struct err *err)
{
	sqlite3_stmt *prepared = statement(store, CLAIM);

	if (!prepared)
		return fail(store, err);
	bind_text(prepared, 1, kind);
	sqlite3_bind_int(prepared, 2, number);
	bind_text(prepared, 3, owner_uid);
	return run(store, prepared, err);
}

/* Where the search for free numbers begins: a place that depends on the owner (FNV-1a). Users of
 * one machine have stores of their own; they would all try the same first ports otherwise. */
static int first_candidate(const char *owner_uid, int low, int high)
{
	uint32_t hash = 2166136261u;

	for (const char *c = owner_uid; *c; c++)
		hash = (hash ^ (unsigned char) *c) * 16777619u;
	return low + (int) (hash % (uint32_t) (high - low + 1));
}

struct claim {
	const char *kind;
	const char *owner_uid;
	int low, high;
	size_t count;
	bool (*is_free)(int number, void *data);
	void *data;
	int *numbers;
};

static int insert_claims(struct sqlite_store *store, const struct claim *claim, struct err *err)
{
	int range = claim->high - claim->low + 1;
	bool *is_claimed CLEANUP(mem_free_any) = mem_new_array((size_t) range, sizeof(bool));
	int rc = read_claimed(store, claim->kind, claim->low, claim->high, is_claimed, err);
	int first = first_candidate(claim->owner_uid, claim->low, claim->high) - claim->low;
	size_t found = 0;

	for (int step = 0; rc == 0 && found < claim->count && step < range; step++) {
		int offset = (first + step) % range, number = claim->low + offset;

		if (is_claimed[offset] || !claim->is_free(number, claim->data))
			continue;
		claim->numbers[found++] = number;
		rc = insert_claim(store, claim->kind, number, claim->owner_uid, err);
	}
	if (rc == 0 && found < claim->count)
		return err_set(err, ERR_LIMIT, "only %zu of %zu %ss are free between %d and %d",
			       found, claim->count, claim->kind, claim->low, claim->high);
	return rc;
}

static int sqlite_claim_numbers(struct store *base, const char *kind, const char *owner_uid,
				int low, int high, size_t count,
				bool (*is_free)(int number, void *data), void *data,
				int *ret_numbers, struct err *err)
{
	struct sqlite_store *store = of(base);
	int *numbers CLEANUP(mem_free_any) = mem_new_array(count, sizeof(*numbers));
	const struct claim claim = {
		.kind = kind,
		.owner_uid = owner_uid,
		.low = low,
		.high = high,
		.count = count,
		.is_free = is_free,
		.data = data,
		.numbers = numbers,
	};
	int rc = begin(store, LATER, err);

	if (rc < 0)
		return rc;
	rc = end_transaction(store, insert_claims(store, &claim, err), err);
	if (rc == 0)
		memcpy(ret_numbers, numbers, count * sizeof(*numbers));
	return rc;
}

static int delete_claims(struct sqlite_store *store, const char *kind, const char *owner_uid,
			 struct err *err)
{
	sqlite3_stmt *prepared = statement(store, RELEASE);

	if (!prepared)
		return fail(store, err);
	bind_text(prepared, 1, kind);
	bind_text(prepared, 2, owner_uid);
	return run(store, prepared, err);
}

static int sqlite_release_numbers(struct store *base, const char *kind, const char *owner_uid,
				  struct err *err)
{
	struct sqlite_store *store = of(base);
	int rc = begin(store, LATER, err);

	return rc < 0 ? rc
		      : end_transaction(store, delete_claims(store, kind, owner_uid, err), err);
}

/* Opening. */

static void sqlite_free(struct store *base)
{
	struct sqlite_store *store = of(base);

	if (!store)
		return;
	for (size_t i = 0; i < STATEMENT_COUNT; i++)
		sqlite3_finalize(store->statements[i]);
	sqlite3_close(store->database);
	free(store->path);
	free(store);
}

static void sqlite_cleanup(struct sqlite_store **store)
{
	if (*store)
		sqlite_free(&(*store)->base);
}

/* File systems whose memory maps are not shared between machines: the write-ahead log needs such a
 * map (sqlite.org/wal.html), a rollback journal does not. Numbers from Linux' magic.h and the
 * file systems' own sources. */
static bool is_on_network(const char *folder)
{
	static const unsigned int network_types[] = {
		0x6969, /* NFS */
		0x517b, /* SMB */
		0xfe534d42, /* SMB2 */
		0xff534d42, /* CIFS */
		0x5346414f, /* AFS */
		0x73757245, /* Coda */
		0x01021997, /* 9p */
		0x65735546, /* FUSE: sshfs and others */
		0x00c36400, /* Ceph */
		0x0bd00bd0, /* Lustre */
		0x47504653, /* GPFS */
		0x19830326, /* BeeGFS */
	};
	struct statfs state;

	if (statfs(folder, &state) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(network_types); i++)
		if ((unsigned int) state.f_type == network_types[i])
			return true;
	return false;
}

static int open_file(struct sqlite_store *store, struct err *err)
{
	int answer = sqlite3_open_v2(store->path, &store->database,
				     SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);

	if (answer != SQLITE_OK)
		return fail(store, err);
	sqlite3_busy_timeout(store->database, BUSY_LIMIT_MS);
	/* SQLite falls back to reading by itself where it may not write. */
	if (sqlite3_db_readonly(store->database, "main") == 1)
		return err_set(err, ERR_IO, "'%s' cannot be written (" HOW_TO_MOVE ")",
			       store->path);
	return execute(store, settings, err);
}

/* The kind of journal is kept in the file; asking for what it has already costs nothing. */
static int choose_journal(struct sqlite_store *store, const char *folder, struct err *err)
{
	store->may_flush_later = !is_on_network(folder);
	return execute(store,
		       store->may_flush_later ? "PRAGMA journal_mode = WAL"
					      : "PRAGMA journal_mode = TRUNCATE",
		       err);
}

static struct sqlite_store *new_store(char *take_path)
{
	struct sqlite_store *store = mem_new(sizeof(*store));

	store->base.functions = &sqlite_functions;
	store->path = take_path;
	store->durability = AT_ONCE; /* as `settings` say */
	return store;
}

/* Fills an empty file, flushes and closes it. */
static int write_schema(const char *folder, const char *path, struct err *err)
{
	struct sqlite_store *store CLEANUP(sqlite_cleanup) = new_store(mem_copy_text(path));
	int rc = open_file(store, err);

	if (rc == 0)
		rc = choose_journal(store, folder, err);
	if (rc == 0)
		rc = execute(store, schema, err);
	return rc;
}

/* Several processes may find no file in the same instant, and each may be killed at any point. So
 * each makes a whole file under a name of its own and links it to the real one: the first wins, and
 * nobody ever sees a file without its tables. */
static int make_file(const char *folder, const char *path, struct err *err)
{
	char *new_path CLEANUP(mem_free_text) = mem_format("%s/new-XXXXXX", folder);
	int fd = mkostemp(new_path, O_CLOEXEC);

	if (fd < 0)
		return err_set_errno(err, errno,
				     "cannot write in '%s' (set MUSTER_STATE_DIR to a folder that "
				     "can be written)",
				     folder);
	close(fd);
	int rc = write_schema(folder, new_path, err);
	if (rc == 0 && link(new_path, path) < 0 && errno != EEXIST)
		rc = err_set_errno(err, errno, "cannot make '%s'", path);
	unlink(new_path);
	return rc;
}

static int check_format(struct sqlite_store *store, struct err *err)
{
	sqlite3_stmt *row;

	if (sqlite3_prepare_v2(store->database, "PRAGMA user_version", -1, &row, NULL) != SQLITE_OK)
		return fail(store, err);
	int rc = sqlite3_step(row) == SQLITE_ROW ? 0 : fail(store, err);
	int format = sqlite3_column_int(row, 0);
	sqlite3_finalize(row);
	if (rc < 0 || format == FORMAT)
		return rc;
	if (format > FORMAT)
		return err_set(err, ERR_UNSUPPORTED,
			       "'%s' was written by a newer muster (format %d, this one knows %d)",
			       store->path, format, FORMAT);
	return err_set(err, ERR_IO, "'%s' is not a file of muster; move it away", store->path);
}

static int make_folder(const char *folder, struct err *err)
{
	struct err why = {0};
	int rc = folder_make(folder, &why);

	return rc == 0 ? 0 : err_set(err, (enum err_code) rc, "%s (" HOW_TO_MOVE ")", why.text);
}

int store_sqlite_open(const char *folder, struct store **ret_store, struct err *err)
{
	int rc = make_folder(folder, err);

	if (rc < 0)
		return rc;
	struct sqlite_store *store CLEANUP(sqlite_cleanup) =
		new_store(mem_format("%s/" FILE_NAME, folder));
	if (access(store->path, F_OK) < 0) {
		rc = make_file(folder, store->path, err);
		if (rc < 0)
			return rc;
	}
	rc = open_file(store, err);
	if (rc == 0)
		rc = choose_journal(store, folder, err);
	if (rc == 0)
		rc = check_format(store, err);
	if (rc < 0)
		return rc;
	sqlite3_db_config(store->database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	*ret_store = &TAKE(store)->base;
	return 0;
}

static const struct store_functions sqlite_functions = {
	.create = sqlite_create,
	.replace = sqlite_replace,
	.get = sqlite_get,
	.change = sqlite_change,
	.remove = sqlite_remove,
	.list = sqlite_list,
	.claim_numbers = sqlite_claim_numbers,
	.release_numbers = sqlite_release_numbers,
	.free = sqlite_free,
};
