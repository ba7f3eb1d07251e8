/* The fields of each struct of a status, in tables: by these it is written and read as JSON
 * (status/json.c), compared and copied. Not in the tables are lists and a role's title. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum status_field_kind {
	STATUS_TEXT,
	STATUS_NEEDED_TEXT,
	STATUS_TIME,
	STATUS_TRUTH, /* a bool, as "True" or "False" */
	STATUS_WORD, /* an enum, by its table */
	STATUS_NUMBER, /* an int */
	STATUS_PLAIN_NUMBER, /* the same, which is written also when it is the least */
	STATUS_LONG_NUMBER, /* an int64_t */
};

/* Every number has a range: a status lies on disk, where hands can reach it, and a decision counts
 * on with these. */
struct status_field {
	const char *key; /* NULL: behind the last */
	enum status_field_kind kind;
	size_t offset;
	int64_t least, most; /* of a number; the least is that of one which is not set */
	const char *const *words; /* of a STATUS_WORD, `most` of them */
	bool (*accepts)(const char *text); /* of a text that is set; NULL: any */
};

extern const struct status_field status_condition_fields[];
extern const struct status_field status_role_fields[];
extern const struct status_field status_replica_fields[];
extern const struct status_field status_consequence_fields[];
/* A failure's replica; one of the job's own (a deadline, a request to stop) has none. */
extern const struct status_field status_failed_replica_fields[];
extern const struct status_field status_failure_fields[]; /* the others */
extern const struct status_field status_fields[];

/* Whether the field has the same value at both places. */
bool status_field_is_equal(const struct status_field *field, const void *a, const void *b);
