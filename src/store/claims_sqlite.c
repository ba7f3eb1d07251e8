#include "store/claims_sqlite.h"

#include "base/mem.h"
#include "store/statements.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static struct database *database_of(struct claims *claims)
{
	return ((struct sqlite_claims *) claims)->database;
}

int claims_sqlite_delete(struct database *database, const char *kind, const char *owner_uid,
			 struct err *err)
{
	struct statement *statement;
	int rc = database_statement(database, RELEASE, &statement, err);

	if (rc < 0)
		return rc;
	statement_bind_text(statement, 1, kind);
	statement_bind_text(statement, 2, owner_uid);
	return statement_run(statement, err);
}

/* Marks the numbers of low..high that are already claimed. */
static int read_claimed(struct database *database, const struct claim_request *request,
			bool *is_claimed, struct err *err)
{
	struct statement *row;
	int rc = database_statement(database, LIST_CLAIMED, &row, err);

	if (rc < 0)
		return rc;
	statement_bind_text(row, 1, request->kind);
	statement_bind_integer(row, 2, request->low);
	statement_bind_integer(row, 3, request->high);
	while ((rc = statement_next(row, err)) == 1)
		is_claimed[statement_integer(row, 0) - request->low] = true;
	statement_finish(row);
	return rc;
}

static int insert_claim(struct database *database, const char *kind, const char *owner_uid,
			int number, struct err *err)
{
	struct statement *statement;
	int rc = database_statement(database, CLAIM, &statement, err);

	if (rc < 0)
		return rc;
	statement_bind_text(statement, 1, kind);
	statement_bind_integer(statement, 2, number);
	statement_bind_text(statement, 3, owner_uid);
	rc = statement_next(statement, err);
	statement_finish(statement);
	return rc == ERR_EXISTS
		       ? err_set(err, ERR_CONFLICT, "%s %d is held by another job", kind, number)
		       : rc;
}

/* Where the search for free numbers starts: a place that depends on the owner (FNV-1a). Users of
 * one machine have separate stores; otherwise they would all try the same first ports. */
static int first_offset(const char *owner_uid, int range)
{
	uint32_t hash = 2166136261u;

	for (const char *c = owner_uid; *c; c++)
		hash = (hash ^ (unsigned char) *c) * 16777619u;
	return (int) (hash % (uint32_t) range);
}

static int insert_claims(struct database *database, const struct claim_request *request,
			 int *numbers, struct err *err)
{
	int range = request->high - request->low + 1;
	bool *is_claimed CLEANUP(mem_free_any) = mem_new_array((size_t) range, sizeof(bool));
	int rc = read_claimed(database, request, is_claimed, err);
	int first = first_offset(request->owner_uid, range);
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
	struct database *database = database_of(claims);
	int *numbers CLEANUP(mem_free_any) = mem_new_array(request->count, sizeof(*numbers));
	int rc = database_begin(database, LATER, err);

	if (rc < 0)
		return rc;
	rc = database_end(database, insert_claims(database, request, numbers, err), err);
	if (rc == 0)
		memcpy(ret_numbers, numbers, request->count * sizeof(*numbers));
	return rc;
}

static int sqlite_replace_claims(struct claims *claims, const char *kind, const char *owner_uid,
				 const int *numbers, size_t count, struct err *err)
{
	struct database *database = database_of(claims);
	int rc = database_begin(database, LATER, err);

	if (rc < 0)
		return rc;
	rc = claims_sqlite_delete(database, kind, owner_uid, err);
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = insert_claim(database, kind, owner_uid, numbers[i], err);
	return database_end(database, rc, err);
}

static void add_claim(struct statement *row, struct claim_list *claims, size_t *capacity)
{
	mem_grow(&claims->list, capacity, claims->count, sizeof(*claims->list));
	claims->list[claims->count++] = (struct claim){
		.number = (int) statement_integer(row, 0),
		.owner_uid = mem_copy_text(statement_text(row, 1)),
		.job_name = mem_copy_text(statement_text(row, 2)),
	};
}

static int sqlite_list(struct claims *claims, const char *kind, struct claim_list *ret_list,
		       struct err *err)
{
	struct claim_list list = {0};
	size_t capacity = 0;
	struct statement *row;
	int rc = database_statement(database_of(claims), LIST_CLAIMS, &row, err);

	if (rc < 0)
		return rc;
	statement_bind_text(row, 1, kind);
	while ((rc = statement_next(row, err)) == 1)
		add_claim(row, &list, &capacity);
	statement_finish(row);
	if (rc < 0) {
		claim_list_done(&list);
		return rc;
	}
	*ret_list = list;
	return 0;
}

static int sqlite_release(struct claims *claims, const char *kind, const char *owner_uid,
			  struct err *err)
{
	struct database *database = database_of(claims);
	int rc = database_begin(database, LATER, err);

	if (rc < 0)
		return rc;
	return database_end(database, claims_sqlite_delete(database, kind, owner_uid, err), err);
}

struct sqlite_claims claims_sqlite_in(struct database *database)
{
	static const struct claims_functions functions = {
		.claim = sqlite_claim,
		.hold = sqlite_replace_claims,
		.list = sqlite_list,
		.release = sqlite_release,
	};

	return (struct sqlite_claims){.base.functions = &functions, .database = database};
}
