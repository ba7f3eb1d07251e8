/* JSON values. Only this module uses the JSON library, jansson: a faster one can replace it.
 *
 * A `struct json *` is a counted reference. json_new_* give the caller a reference; json_get and
 * similar ones borrow it from the parent. Objects keep the order of insertion. */
#pragma once

#include "base/text.h"

struct json;

enum json_type {
	JSON_NULL,
	JSON_BOOL,
	JSON_INTEGER,
	JSON_REAL,
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT,
};

/* Limits on input. */
#define JSON_SIZE_LIMIT (16 * 1024 * 1024)
#define JSON_DEPTH_LIMIT 100

/* Reads one value; only white space may follow. Returns ERR_INVALID with line and column, also for
 * duplicate keys and U+0000, where texts end; ERR_LIMIT for excessive depth or size. */
int json_read(const char *bytes, size_t len, struct json **ret_value, struct err *err) MUST_USE;
/* The same for a server's objects of many authors, where one must not make the others unreadable.
 * What json_read rejects is replaced: U+0000 by U+FFFD, a value nested too deeply by null, an
 * integer beyond 64 bits by a real; of duplicate keys the last value counts. */
int json_read_repaired(const char *bytes, size_t len, struct json **ret_value,
		       struct err *err) MUST_USE;
/* Append on one line; or indented by two spaces, with a final line feed. */
void json_add_compact(struct text *text, const struct json *value);
void json_add_pretty(struct text *text, const struct json *value);
char *json_compact_text(const struct json *value) MUST_USE; /* caller frees */

struct json *json_new_null(void) MUST_USE;
struct json *json_new_bool(bool value) MUST_USE;
struct json *json_new_integer(int64_t value) MUST_USE;
struct json *json_new_real(double value) MUST_USE; /* null if not finite */
struct json *json_new_string(
	const char *value) MUST_USE; /* NULL gives null; bytes that are not UTF-8 become U+FFFD */
struct json *json_new_array(void) MUST_USE;
struct json *json_new_object(void) MUST_USE;
/* An object of texts: json_new_texts("name", name, "value", value, NULL). A NULL value gives no
 * member. */
struct json *json_new_texts(const char *key, ...) MUST_USE __attribute__((sentinel));
struct json *json_new_copy(const struct json *value) MUST_USE; /* deep */
/* Of the object or array alone: it has references to the same members. */
struct json *json_new_shallow_copy(const struct json *value) MUST_USE;
struct json *json_ref(struct json *value) MUST_USE; /* adds a reference */
void json_free(struct json *value); /* releases a reference; NULL is fine */
void json_cleanup(struct json **value);
/* The same, but overwrites every text in it first, even if there are other references. */
void json_free_secret(struct json *value);
void json_cleanup_secret(struct json **value);

enum json_type json_type_of(const struct json *value); /* NULL counts as JSON_NULL */
bool json_is(const struct json *value, enum json_type type);
bool json_equals(const struct json *a, const struct json *b); /* NULL equals null */

/* The value of a scalar; `otherwise` if the value is NULL or of another type. */
bool json_as_bool(const struct json *value, bool otherwise);
int64_t json_as_integer(const struct json *value, int64_t otherwise);
double json_as_real(const struct json *value, double otherwise); /* also for an integer */
const char *json_as_string(const struct json *value, const char *otherwise);
msec json_as_time(const struct json *value); /* from RFC 3339; MSEC_UNSET: invalid */

/* A member of an object, borrowed; NULL if absent, or `object` is no object. */
struct json *json_get(const struct json *object, const char *key);
/* The text of a member, borrowed; `otherwise` if there is none. */
const char *json_get_string(const struct json *object, const char *key, const char *otherwise);
/* Follows several keys: json_get_path(root, "spec", "runPolicy", NULL). */
struct json *json_get_path(const struct json *object, ...) __attribute__((sentinel));
/* Sets a member and takes the value's reference over. An existing member keeps its position. */
void json_set(struct json *object, const char *key, struct json *take_value);
/* Copies the member of that name from `source`, if it exists. */
void json_copy_member(struct json *object, const struct json *source, const char *key);
void json_set_string(struct json *object, const char *key,
		     const char *value); /* NULL: sets nothing */
void json_set_integer(struct json *object, const char *key, int64_t value);
void json_set_bool(struct json *object, const char *key, bool value);
void json_set_time(struct json *object, const char *key,
		   msec time); /* RFC 3339; MSEC_UNSET: sets nothing */
void json_remove(struct json *object, const char *key);
/* The member as an object, borrowed; it is created if absent. */
struct json *json_object_at(struct json *object, const char *key);
/* The same for an array. */
struct json *json_array_at(struct json *object, const char *key);

size_t json_count(const struct json *array_or_object); /* 0 for anything else */
struct json *json_at(const struct json *array, size_t index);
void json_append(struct json *array, struct json *take_value);

/* The next member, after the one whose key is `*key` (a key from this function; NULL to begin): for
 * (key = NULL; json_next(object, &key, &value);). O(1); the object must not change. */
bool json_next(const struct json *object, const char **key, struct json **ret_value);

/* JSON merge patch (RFC 7396), kubectl's --type=merge: returns `target` (NULL counts as absent)
 * changed by `patch`: objects are merged, a null removes a member, anything else replaces. Caller
 * frees; the arguments do not change. */
struct json *json_patched(const struct json *target, const struct json *patch) MUST_USE;

/* JSON patch (RFC 6902), kubectl's --type=json: appends a step to a patch, an array: "test", "add",
 * "replace" or "remove" (whose value is NULL) at a path ("/spec/replicas"). Takes the value over.
 */
void json_patch_add_step(struct json *patch, const char *op, const char *path, struct json *value);
