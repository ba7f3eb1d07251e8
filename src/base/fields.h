/* The fields of a struct in a table, by which it is written as JSON, read, compared and copied.
 *
 * What is read comes from other machines, or from files and objects that users can edit. Therefore
 * every number has a range, every list a limit, and every error names the field with its path:
 * "status.replicas[3].exitCode: expected a whole number from -1 to 255". Members that are in no
 * table are ignored. */
#pragma once

#include "base/err.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/msec.h"

enum field_kind {
	FIELD_TEXT, /* const char *; NULL: unset */
	FIELD_TIME, /* msec, in the JSON RFC 3339; MSEC_UNSET */
	FIELD_FLAG, /* bool */
	FIELD_TRUTH, /* bool, in the JSON "True" or "False"; anything else is false */
	FIELD_WORD, /* an enum, in the JSON one of `words` */
	FIELD_INT, /* int; `least`: unset */
	FIELD_LONG, /* int64_t or msec; `least`: unset */
	FIELD_LINES, /* const char ** with a count */
	FIELD_LIST, /* structs with a count */
	FIELD_MAP, /* the same, in the JSON an object; the first field is the key */
	FIELD_STRUCT, /* a struct inside this one */
	FIELD_PART, /* the same, but in the JSON its fields are members of this one's object */
	FIELD_POINTER, /* a struct; NULL: unset */
	FIELD_VALUE, /* by functions of its own; a pointer into the arena, or NULL */
};

enum field_presence {
	FIELD_OPTIONAL, /* is written if it is set */
	FIELD_SHOWN, /* is always written, and may be absent */
	FIELD_NEEDED, /* is always written, and must be there */
	FIELD_TOLERATED, /* optional, and a malformed one counts as absent */
	FIELD_HIDDEN, /* is not in the JSON, but compared and copied */
};

struct json_field {
	const char *key; /* NULL: end of the table */
	enum field_kind kind;
	enum field_presence presence;
	size_t offset;
	int64_t least; /* of a number */
	int64_t most; /* a number; the number of words; elements of a list */
	const char *const *words;
	bool (*accepts)(const char *text); /* NULL: any text */
	const char *wanted; /* what it accepts: "a name" */

	size_t count; /* offset of a list's count, a size_t */
	const struct json_field *fields; /* of the struct or structs */
	size_t size; /* of an element, or of the struct that a pointer points to */

	struct json *(*write)(const void *at); /* NULL: nothing */
	int (*read)(const struct json *value, struct arena *arena, void *at, struct err *err);
};

/* A row of a table, for a member of `struct owner_name`: FIELD(INT, SHOWN, "index", owner, index,
 * 0, 9). What follows are `least` and `most`, or members by their names. */
#define FIELD(kind_name, presence_name, key_text, owner_name, member_name, ...)                    \
	{                                                                                          \
		.key = (key_text), .kind = FIELD_##kind_name, .presence = FIELD_##presence_name,   \
		.offset = offsetof(struct owner_name, member_name), __VA_ARGS__                    \
	}
/* The words of an enum. */
#define FIELD_WORDS(table) .words = (table), .most = ARRAY_LEN(table)
/* A list `member` of `struct owner` with the count `n_member`, and its elements' fields. */
#define FIELD_ELEMENTS(owner, member, limit, table)                                                \
	.count = offsetof(struct owner, n_##member), .most = (limit), .fields = (table),           \
	.size = sizeof(*((struct owner *) 0)->member)

/* Sets members of the object. */
void fields_write(struct json *object, const struct json_field *fields, const void *from);
/* Reads members into a zeroed struct; texts and lists are in the arena. `path` names the object in
 * errors; NULL: it is not named. Returns ERR_INVALID; the struct is then partly set. */
int fields_read(const struct json *object, const char *path, const struct json_field *fields,
		struct arena *arena, void *into, struct err *err) MUST_USE;

bool fields_equal(const struct json_field *fields, const void *a, const void *b);
/* Makes a struct that was copied with its pointers independent of the other: all that it points to
 * is copied into the arena. A FIELD_VALUE remains shared. */
void fields_own(const struct json_field *fields, struct arena *arena, void *copy);
/* Moves all times that are set, after the wall clock was set. */
void fields_move_times(const struct json_field *fields, void *of, msec step);
