/* Claims in the file of store/store_sqlite.c, whose statements they share. */
#pragma once

#include "store/claims.h"
#include "store/database.h"

enum statement_number {
	CREATE_JOB,
	CREATE_BODY,
	GET,
	CHANGE_JOB,
	CHANGE_BODY,
	IS_THERE,
	REMOVE_JOB,
	REMOVE_BODY,
	REMEMBER_VERSION,
	LIST_SUMMARIES,
	LIST_ALL,
	LIST_CLAIMED,
	LIST_CLAIMS,
	CLAIM,
	RELEASE,
	RELEASE_OF_JOB,
	STATEMENT_COUNT,
};

struct sqlite_claims {
	struct claims base;
	struct database *database; /* borrowed */
};

struct sqlite_claims claims_sqlite_in(struct database *database);
/* The same as release, within a transaction. */
int claims_sqlite_delete(struct database *database, const char *kind, const char *owner_uid,
			 struct err *err) MUST_USE;
