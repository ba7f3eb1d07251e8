/* One SQLite file: made whole or not at all, and spoken to in prepared statements and short
 * transactions. database.c is the only file that knows SQLite.
 *
 * Many processes use one file at once. So every transaction takes the write lock at its beginning
 * (an upgrade from reading to writing fails under others' writes, without waiting). */
#pragma once

#include "base/err.h"
#include "base/own.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a file is: its name, its tables, and what is said to it. */
struct database_design {
	const char *file_name;
	int format; /* of the tables; a file with a higher one is left alone */
	const char *schema; /* statements that make the tables of a new file */
	const char *const *statements; /* texts, by the number that database_statement gets */
	size_t n_statements;
};

struct database;

/* Opens folder/file_name, for this user alone; makes both when they are not there. Where nothing
 * can be written, a file that is there is opened for reading, and changes end with ERR_IO. Errors
 * name the file and say what to do: ERR_IO (no rights, damaged), ERR_SPACE, ERR_UNSUPPORTED (of a
 * newer muster). `design` must outlive the database. */
int database_open(const char *folder, const struct database_design *design,
		  struct database **ret_database, struct err *err) MUST_USE;
void database_free(struct database *database); /* NULL is fine */

/* Reads the whole file, where there is one, and changes nothing: an error is what is wrong with it,
 * as database_open or a later call would tell it, or that it cannot be written. */
int database_check(const char *folder, const struct database_design *design,
		   struct err *err) MUST_USE;

/* When a transaction is on disk. */
enum durability {
	LATER, /* with the next one that is flushed; a failure of power before that undoes it */
	AT_ONCE,
};

int database_begin(struct database *database, enum durability durability, struct err *err) MUST_USE;
/* Ends the transaction: with its changes when rc is 0, without them otherwise. Gives rc, or the
 * error of the commit. */
int database_end(struct database *database, int rc, struct err *err) MUST_USE;

/* A statement of the design, prepared on its first use. It is to be finished after each run. */
struct statement;
int database_statement(struct database *database, size_t which, struct statement **ret_statement,
		       struct err *err) MUST_USE;

/* Values for its parameters, counted from 1. The text is borrowed until the end of the run; NULL is
 * null. */
void statement_bind_text(struct statement *statement, int position, const char *text);
void statement_bind_integer(struct statement *statement, int position, int64_t number);

/* Goes to the next row: 1 there is one, 0 there is none any more, ERR_EXISTS a UNIQUE stands
 * against it (without a sentence), or another error. A change is done only when this has given
 * 0. */
int statement_next(struct statement *statement, struct err *err) MUST_USE;
/* Columns of the row, counted from 0. The text is borrowed until the next call. */
const char *statement_text(struct statement *statement, int column);
int64_t statement_integer(struct statement *statement, int column);

/* Ends the run, so that it holds no lock and no borrowed text. */
void statement_finish(struct statement *statement);

/* Runs a statement that gives no rows, from its bound parameters to its finish. */
int statement_run(struct statement *statement, struct err *err) MUST_USE;
