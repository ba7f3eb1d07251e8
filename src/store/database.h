/* One SQLite file: created completely or not at all, and used with prepared statements and short
 * transactions. database.c is the only file that uses SQLite.
 *
 * Many processes use one file at the same time. So every transaction takes the write lock at its
 * beginning (an upgrade from reading to writing fails without waiting when another process has
 * written). */
#pragma once

#include "base/err.h"
#include "base/own.h"

/* The design of a file: its name and its tables. */
struct database_design {
	const char *file_name;
	int format; /* of the tables; a file with a higher one is rejected */
	const char *schema; /* statements that create the tables of a new file */
	const char *additions; /* tables that files of this format may lack; harmless if they are
				  there */
};

struct database;

/* Opens folder/file_name, for this user alone; creates both if missing. If it cannot be written, an
 * existing file is opened for reading, and changes fail with ERR_IO. Errors name the file and say
 * what to do: ERR_IO (no permission, damaged), ERR_SPACE, ERR_UNSUPPORTED (of a newer muster).
 * `design` must outlive the database. */
int database_open(const char *folder, const struct database_design *design,
		  struct database **ret_database, struct err *err) MUST_USE;
void database_free(struct database *database); /* NULL is fine */

/* Reads the whole file, if it exists, and changes nothing. Returns the error of database_open or a
 * later call, or that the file cannot be written. */
int database_check(const char *folder, const struct database_design *design,
		   struct err *err) MUST_USE;

/* When a transaction is on disk. */
enum durability {
	LATER, /* with the next flushed one; a power failure before that undoes it */
	AT_ONCE,
};

int database_begin(struct database *database, enum durability durability, struct err *err) MUST_USE;
/* Ends the transaction: commits if rc is 0, else rolls back what was begun. Returns rc, or the
 * error of the commit. */
int database_end(struct database *database, int rc, struct err *err) MUST_USE;

/* A statement, prepared when its text is first used. Finish it after each run. `values` are those
 * of its parameters, a letter for each: "t" for a const char *, borrowed until the run is finished
 * (NULL is null), "i" for an int64_t. */
struct sqlite3_stmt;
int database_statement(struct database *database, const char *text,
		       struct sqlite3_stmt **ret_statement, struct err *err, const char *values,
		       ...) MUST_USE;

/* Advances to the next row: 1: there is one, 0: there is none left, ERR_EXISTS: a UNIQUE constraint
 * rejects it, or another error. A change is done only when this has returned 0. */
int statement_next(struct database *database, struct sqlite3_stmt *statement,
		   struct err *err) MUST_USE;
/* Columns of the row, counted from 0. The text is borrowed until the next call. */
const char *statement_text(struct sqlite3_stmt *statement, int column);
int64_t statement_integer(struct sqlite3_stmt *statement, int column);

/* Finishes the run, so that it holds no lock and no borrowed text. */
void statement_finish(struct sqlite3_stmt *statement);

/* Runs a statement, and finishes it. 1: it returned a row, which begins with these two whole
 * numbers; 0: none; or an error as above. */
int database_run(struct database *database, const char *text, int64_t ret_row[2], struct err *err,
		 const char *values, ...) MUST_USE;
