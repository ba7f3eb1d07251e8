/* Claims in the file of store/sqlite.c, which shares the statements (store/statements.h). */
#pragma once

#include "store/claims.h"
#include "store/database.h"

struct sqlite_claims {
	struct claims base;
	struct database *database; /* borrowed */
};

struct sqlite_claims claims_sqlite_in(struct database *database);
/* The same as release, within a transaction. */
int claims_sqlite_delete(struct database *database, const char *kind, const char *owner_uid,
			 struct err *err) MUST_USE;
