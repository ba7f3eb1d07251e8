/* The only file that uses SQLite.
 *
 * On a local disk a write-ahead log is used: readers never wait for writers. A change that need not
 * be on disk immediately is written with the next flush; the log stays consistent without it. On a
 * network file system a rollback journal is used, and every transaction is flushed.
 *
 * The log is not checkpointed when the last process closes the file: that would cost each short
 * `muster ps` two flushes and the next one a new log. It is checkpointed every hundred pages,
 * which also limits what the first reader after a pause has to read. */
#include "store/database.h"

#include "base/mem.h"
#include "base/text.h"
#include "io/file.h"
#include "io/folder.h"
#include "io/log.h"

#include <sqlite3.h>
#include <sys/vfs.h>

#define BUSY_LIMIT_MS 10000
#define HOW_TO_MOVE "set MUSTER_STATE_DIR to a writable directory"
#define HOW_TO_BEGIN "move it away, with its -wal and -shm files, to start with an empty job list"
/* "must", the application id that distinguishes a file from those of other programs. */
#define APPLICATION 0x6d757374

/* None of these touches the file. The log is checkpointed every hundred pages; the cache has at
 * most 256 KiB. */
static const char settings[] = "PRAGMA synchronous = FULL;"
			       "PRAGMA wal_autocheckpoint = 100;"
			       "PRAGMA cache_size = -256;"
			       "PRAGMA mmap_size = 0;"
			       "PRAGMA temp_store = MEMORY;";

struct database {
	const struct database_design *design;
	sqlite3 *connection;
	char *path;
	bool may_flush_later; /* the journal is a write-ahead log */
	enum durability durability; /* of the following transactions */
};

/* Errors. */

static int fail_by_system(const struct database *database, struct err *err)
{
	int number = sqlite3_system_errno(database->connection);

	if (number)
		return err_set_errno(err, number, "cannot use '%s'", database->path);
	return err_set(err, ERR_IO, "cannot use '%s': %s", database->path,
		       sqlite3_errmsg(database->connection));
}

static int fail_damaged(const struct database *database, const char *why, struct err *err)
{
	return err_set(err, ERR_IO, "'%s' is damaged (%s); " HOW_TO_BEGIN, database->path, why);
}

/* The sentence for what SQLite just answered. */
static int set_database_error(const struct database *database, struct err *err)
{
	const char *path = database->path;

	switch (sqlite3_errcode(database->connection) & 0xff) {
	case SQLITE_FULL:
		return err_set(err, ERR_SPACE, "cannot write '%s': no space left on device", path);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_PROTOCOL:
		return err_set(err, ERR_IO,
			       "'%s' was locked by another process for %d s; look for a paused "
			       "muster process",
			       path, BUSY_LIMIT_MS / 1000);
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return fail_damaged(database, sqlite3_errmsg(database->connection), err);
	case SQLITE_READONLY:
	case SQLITE_PERM:
		return err_set(err, ERR_IO, "'%s' cannot be written (" HOW_TO_MOVE ")", path);
	default:
		return fail_by_system(database, err);
	}
}

/* Statements. */

static int execute(struct database *database, const char *statements, struct err *err)
{
	if (sqlite3_exec(database->connection, statements, NULL, NULL, NULL) != SQLITE_OK)
		return set_database_error(database, err);
	return 0;
}

/* The connection keeps its prepared statements, which are few. Binding fails only by internal
 * errors and for lack of memory: the run reports those. */
static int bind_statement(struct database *database, const char *text, sqlite3_stmt **ret_statement,
			  struct err *err, const char *values, va_list list)
{
	int rc = 0;

	*ret_statement = NULL;
	while ((*ret_statement = sqlite3_next_stmt(database->connection, *ret_statement)) &&
	       strcmp(sqlite3_sql(*ret_statement), text) != 0)
		continue;
	if (!*ret_statement &&
	    sqlite3_prepare_v3(database->connection, text, -1, SQLITE_PREPARE_PERSISTENT,
			       ret_statement, NULL) != SQLITE_OK)
		rc = set_database_error(database, err);

	for (int position = 1; rc == 0 && values[position - 1]; position++)
		if (values[position - 1] == 't')
			sqlite3_bind_text(*ret_statement, position, va_arg(list, const char *), -1,
					  SQLITE_STATIC);
		else
			sqlite3_bind_int64(*ret_statement, position, va_arg(list, int64_t));
	return rc;
}

int database_statement(struct database *database, const char *text, sqlite3_stmt **ret_statement,
		       struct err *err, const char *values, ...)
{
	va_list list;

	va_start(list, values);
	int rc = bind_statement(database, text, ret_statement, err, values, list);

	va_end(list);
	return rc;
}

int statement_next(struct database *database, sqlite3_stmt *statement, struct err *err)
{
	switch (sqlite3_step(statement)) {
	case SQLITE_ROW:
		return 1;
	case SQLITE_DONE:
		return 0;
	case SQLITE_CONSTRAINT:
		fail_by_system(database, err);
		return ERR_EXISTS;
	default:
		return set_database_error(database, err);
	}
}

const char *statement_text(sqlite3_stmt *statement, int column)
{
	return (const char *) sqlite3_column_text(statement, column);
}

int64_t statement_integer(sqlite3_stmt *statement, int column)
{
	return sqlite3_column_int64(statement, column);
}

void statement_finish(sqlite3_stmt *statement)
{
	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
}

int database_run(struct database *database, const char *text, int64_t ret_row[2], struct err *err,
		 const char *values, ...)
{
	sqlite3_stmt *statement;
	va_list list;

	va_start(list, values);
	int rc = bind_statement(database, text, &statement, err, values, list);

	va_end(list);
	if (rc < 0)
		return rc;
	rc = statement_next(database, statement, err);
	bool has_row = rc == 1;

	for (int column = 0; has_row && column < 2; column++)
		ret_row[column] = statement_integer(statement, column);
	if (has_row)
		rc = statement_next(database, statement, err);
	statement_finish(statement);
	return rc == 0 ? has_row : rc;
}

/* Transactions. */

static int choose_durability(struct database *database, enum durability durability, struct err *err)
{
	if (!database->may_flush_later)
		durability = AT_ONCE;
	if (durability == database->durability)
		return 0;
	int rc = execute(database,
			 durability == AT_ONCE ? "PRAGMA synchronous = FULL"
					       : "PRAGMA synchronous = NORMAL",
			 err);
	if (rc == 0)
		database->durability = durability;
	return rc;
}

int database_begin(struct database *database, enum durability durability, struct err *err)
{
	int rc = choose_durability(database, durability, err);

	return rc < 0 ? rc : execute(database, "BEGIN IMMEDIATE", err);
}

int database_end(struct database *database, int rc, struct err *err)
{
	if (rc == 0)
		rc = execute(database, "COMMIT", err);
	/* SQLite itself has rolled back after some errors (disk full, I/O). */
	if (rc < 0 && !sqlite3_get_autocommit(database->connection)) {
		(void) execute(database, "ROLLBACK", NULL);
	}
	return rc;
}

/* Opening. */

static struct database *new_database(const struct database_design *design, char *take_path)
{
	struct database *database = mem_new(sizeof(*database));

	*database = (struct database){
		.design = design, .path = take_path, .durability = AT_ONCE, /* as in `settings` */
	};
	return database;
}

static void close_connection(struct database *database)
{
	sqlite3_stmt *statement;

	while (database->connection && (statement = sqlite3_next_stmt(database->connection, NULL)))
		sqlite3_finalize(statement);
	sqlite3_close(database->connection);
	database->connection = NULL;
}

void database_free(struct database *database)
{
	if (!database)
		return;
	close_connection(database);
	free(database->path);
	free(database);
}

static void database_cleanup(struct database **database)
{
	database_free(*database);
}

/* File systems whose memory maps are not shared between machines: the write-ahead log needs such a
 * map (sqlite.org/wal.html), a rollback journal does not. Numbers from Linux' magic.h and the file
 * systems' own sources. */
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

/* A path in a URI (RFC 3986), for options that only a URI can have. */
static char *uri_of(const char *path, const char *question)
{
	struct text uri = {0};

	text_add(&uri, "file:");
	for (const char *c = path; *c; c++) {
		if (strchr("?#%", *c))
			text_addf(&uri, "%%%02X", (unsigned char) *c);
		else
			text_add_char(&uri, *c);
	}
	text_addf(&uri, "?%s", question);
	return text_take(&uri);
}

/* A foreign file can only do what muster's statements say: its own triggers and views are disabled,
 * and it cannot call functions with side effects. */
static int open_connection(struct database *database, const char *name, int flags, struct err *err)
{
	sqlite3 **connection = &database->connection;

	close_connection(database);
	if (sqlite3_open_v2(name, connection, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
		return set_database_error(database, err);
	sqlite3_busy_timeout(*connection, BUSY_LIMIT_MS);
	sqlite3_db_config(*connection, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(*connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(*connection, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(*connection, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	return execute(database, settings, err);
}

/* SQLite itself falls back to reading if it may not write. */
static int open_database_file(struct database *database, struct err *err)
{
	return open_connection(database, database->path, SQLITE_OPEN_READWRITE, err);
}

/* Size of a file with the database's name and this ending, 0 if there is none. */
static int64_t database_side_file_size(const struct database *database, const char *ending)
{
	char *path CLEANUP(mem_free_text) = mem_format("%s%s", database->path, ending);
	struct stat found;

	return stat(path, &found) == 0 ? found.st_size : 0;
}

/* Reads the file alone and creates nothing next to it. That is correct only if no process writes,
 * and if the write-ahead log contains nothing that the file lacks. */
static int open_as_it_lies(struct database *database, struct err *err)
{
	char *uri CLEANUP(mem_free_text) = uri_of(database->path, "immutable=1");

	if (database_side_file_size(database, "-wal") > 0)
		return err_set(
			err, ERR_IO,
			"'%s-wal' cannot be read, because no file can be written next to it; copy "
			"the directory to a place with free space, and set MUSTER_STATE_DIR to it",
			database->path);
	return open_connection(database, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, err);
}

/* The kind of journal is stored in the file; setting the present one again costs nothing. */
static int choose_journal(struct database *database, const char *folder, struct err *err)
{
	database->may_flush_later = !is_on_network(folder);
	return execute(database,
		       database->may_flush_later ? "PRAGMA journal_mode = WAL"
						 : "PRAGMA journal_mode = TRUNCATE",
		       err);
}

/* Fills an empty file and closes it. Nothing is flushed: no other process knows it yet. */
static int write_schema(const char *folder, const char *path, const struct database_design *design,
			struct err *err)
{
	struct database *database CLEANUP(database_cleanup) =
		new_database(design, mem_copy_text(path));
	char *schema CLEANUP(mem_free_text) = mem_format(
		"BEGIN; %s; %s; PRAGMA user_version = %d; PRAGMA application_id = %d; COMMIT",
		design->schema, design->additions, design->format, APPLICATION);
	int rc = open_database_file(database, err);

	if (rc == 0)
		rc = execute(database, "PRAGMA synchronous = OFF", err);
	if (rc == 0)
		rc = choose_journal(database, folder, err);
	if (rc == 0)
		rc = execute(database, schema, err);
	return rc;
}

/* Several processes may find no file at the same moment, and each may be killed at any point. So
 * each creates a complete file under its own name and links it to the real one: the first wins, and
 * no process ever sees a file without its tables. */
static int make_file(const char *folder, const char *path, const struct database_design *design,
		     struct err *err)
{
	char *new_path CLEANUP(mem_free_text) = mem_format("%s/new-XXXXXX", folder);
	int fd CLEANUP(file_close) = mkostemp(new_path, O_CLOEXEC);

	if (fd < 0)
		return err_set_errno(err, errno, "cannot write in '%s' (" HOW_TO_MOVE ")", folder);
	int rc = write_schema(folder, new_path, design, err);

	if (rc == 0 && fdatasync(fd) < 0)
		rc = err_set_errno(err, errno, "cannot write '%s'", new_path);
	if (rc == 0 && link(new_path, path) < 0 && errno != EEXIST)
		rc = err_set_errno(err, errno, "cannot make '%s'", path);
	unlink(new_path);
	return rc;
}

/* The first reading of the file. */
static int check_format(struct database *database, struct err *err)
{
	int known = database->design->format;
	int64_t row[2] = {0};
	int rc = database_run(database, "SELECT * FROM pragma_user_version, pragma_application_id",
			      row, err, "");
	int format = (int) row[0];

	if (rc < 0)
		return rc;
	if (format <= 0 || row[1] != APPLICATION)
		return err_set(err, ERR_IO, "'%s' was not written by muster; " HOW_TO_BEGIN,
			       database->path);
	if (format > known)
		return err_set(
			err, ERR_UNSUPPORTED,
			"'%s' was written by a newer muster (format %d, this version reads %d); "
			"use that version, or set MUSTER_STATE_DIR to another directory",
			database->path, format, known);
	return 0;
}

/* An interrupted program or a full disk may leave an empty file where a file was copied. SQLite
 * would take it for a new database. */
static int check_database_not_empty(const struct database *database, struct err *err)
{
	struct stat found;

	if (stat(database->path, &found) < 0)
		return err_set_errno(err, errno, "cannot read '%s'", database->path);
	if (found.st_size > 0)
		return 0;
	return err_set(err, ERR_IO, "'%s' is empty, so it was damaged; " HOW_TO_BEGIN,
		       database->path);
}

/* A write-ahead log needs memory that is shared through a file. If that cannot be created, because
 * the directory is read-only or the disk is full, the database may still be read. */
static bool may_be_read_otherwise(const struct database *database)
{
	switch (sqlite3_errcode(database->connection) & 0xff) {
	case SQLITE_CANTOPEN:
	case SQLITE_READONLY:
	case SQLITE_PERM:
	case SQLITE_FULL:
	case SQLITE_IOERR:
		return true;
	default:
		return false;
	}
}

int database_open(const char *folder, const struct database_design *design,
		  struct database **ret_database, struct err *err)
{
	struct err why = {0};
	int rc = folder_create(folder, &why);

	if (rc < 0)
		return err_set(err, (enum err_code) rc, "%s (" HOW_TO_MOVE ")", why.text);
	rc = folder_check_own(folder, FOLDER_ADVICE_STATE, err);
	if (rc < 0)
		return rc;
	struct database *database CLEANUP(database_cleanup) =
		new_database(design, mem_format("%s/%s", folder, design->file_name));
	if (access(database->path, F_OK) < 0) {
		rc = make_file(folder, database->path, design, err);
		if (rc < 0)
			return rc;
	}
	rc = check_database_not_empty(database, err);
	if (rc < 0)
		return rc;
	rc = open_database_file(database, err);
	if (rc == 0)
		rc = check_format(database, err);
	if (rc < 0 && may_be_read_otherwise(database)) {
		rc = open_as_it_lies(database, err);
		if (rc == 0)
			rc = check_format(database, err);
	}
	if (rc == 0 && sqlite3_db_readonly(database->connection, "main") != 1)
		rc = choose_journal(database, folder, err);
	if (rc == 0 && execute(database, design->additions, NULL) < 0)
		log_info("'%s': no tables could be added", database->path);
	if (rc < 0)
		return rc;
	sqlite3_db_config(database->connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	*ret_database = TAKE(database);
	return 0;
}

int database_check(const char *folder, const struct database_design *design, struct err *err)
{
	struct database *database CLEANUP(database_cleanup) =
		new_database(design, mem_format("%s/%s", folder, design->file_name));
	sqlite3_stmt *row;

	int rc = folder_check_own(folder, FOLDER_ADVICE_STATE, err);
	if (rc < 0 || access(database->path, F_OK) < 0)
		return rc;
	rc = check_database_not_empty(database, err);
	if (rc == 0)
		rc = database_side_file_size(database, "-wal") > 0
			     ? open_connection(database, database->path, SQLITE_OPEN_READONLY, err)
			     : open_as_it_lies(database, err);
	if (rc == 0)
		rc = check_format(database, err);
	if (rc == 0)
		rc = database_statement(database, "PRAGMA quick_check(1)", &row, err, "");
	if (rc == 0 && (rc = statement_next(database, row, err)) == 1)
		rc = text_equals(statement_text(row, 0), "ok")
			     ? 0
			     : fail_damaged(database, statement_text(row, 0), err);
	if (rc == 0 && access(database->path, W_OK) < 0)
		rc = err_set_errno(err, errno, "cannot write '%s'", database->path);
	return rc;
}
