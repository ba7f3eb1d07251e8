/* Tables of the fields of each status struct, used to write and read JSON (status/json.c), to
 * compare and to copy. Lists and a role's title are not in the tables. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum status_field_kind {
	STATUS_TEXT,
	STATUS_NEEDED_TEXT,
	STATUS_TIME,
	STATUS_TRUTH, /* a bool, as "True" or "False" */
	STATUS_WORD, /* an enum, with its word table */
	STATUS_NUMBER, /* an int */
	STATUS_PLAIN_NUMBER, /* an int that is written even if it is the least */
	STATUS_LONG_NUMBER, /* an int64_t */
};

/* Every number has a range: users can edit a stored status, and decisions compute with these
 * numbers. */
struct status_field {
	const char *key; /* NULL: end of the table */
	enum status_field_kind kind;
	size_t offset;
	int64_t least, most; /* range of a number; the least means unset */
	const char *const *words; /* for a STATUS_WORD, `most` of them */
	bool (*accepts)(const char *text); /* for a text that is set; NULL: any */
};

extern const struct status_field status_condition_fields[];
extern const struct status_field status_role_fields[];
extern const struct status_field status_replica_fields[];
extern const struct status_field status_consequence_fields[];
/* A failure's replica; a failure of the job itself (a deadline, a stop request) has none. */
extern const struct status_field status_failed_replica_fields[];
extern const struct status_field status_failure_fields[]; /* the other fields */
extern const struct status_field status_fields[];

/* Whether the field has the same value in both structs. */
bool status_field_is_equal(const struct status_field *field, const void *a, const void *b);
