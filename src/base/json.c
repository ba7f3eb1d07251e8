/* JSON values on jansson. The only file that includes it. */

/* Names that jansson's header and ours share. Its macros that name types (json_is_object and
 * similar) would see our values and are not used; json_typeof is. */
#define JSON_OBJECT JANSSON_OBJECT
#define JSON_ARRAY JANSSON_ARRAY
#define JSON_STRING JANSSON_STRING
#define JSON_INTEGER JANSSON_INTEGER
#define JSON_REAL JANSSON_REAL
#define JSON_NULL JANSSON_NULL
#include <jansson.h>
#undef JSON_OBJECT
#undef JSON_ARRAY
#undef JSON_STRING
#undef JSON_INTEGER
#undef JSON_REAL
#undef JSON_NULL

#include "base/json.h"
#include "base/mem.h"

#include <assert.h>
#include <inttypes.h>

/* A `struct json` is jansson's json_t under our name: never defined, only pointed to. */
static json_t *theirs(const struct json *value)
{
	return (json_t *) (uintptr_t) value;
}

static struct json *ours(json_t *value)
{
	return (struct json *) value;
}

/* Jansson returns NULL for valid input only if memory is lacking. */
static struct json *require_json_memory(json_t *value)
{
	if (!value)
		mem_abort();
	return ours(value);
}

/* Jansson would accept 2048 levels, but our functions walk values by recursion. */
static int check_depth(const char *bytes, size_t len, struct err *err)
{
	int depth = 0;
	int line = 1;
	bool is_in_string = false;
	size_t line_start = 0;

	for (size_t i = 0; i < len; i++) {
		char byte = bytes[i];

		if (byte == '\n') {
			line++;
			line_start = i + 1;
		} else if (is_in_string && byte == '\\') {
			i++;
		} else if (byte == '"') {
			is_in_string = !is_in_string;
		} else if (!is_in_string && (byte == ']' || byte == '}')) {
			depth--;
		} else if (!is_in_string && (byte == '[' || byte == '{')) {
			if (++depth > JSON_DEPTH_LIMIT)
				return err_set(
					err, ERR_LIMIT,
					"line %d, column %zu: nested more than %d levels deep",
					line, i - line_start + 1, JSON_DEPTH_LIMIT);
		}
	}
	return 0;
}

int json_read(const char *bytes, size_t len, struct json **ret_value, struct err *err)
{
	json_error_t error;

	if (len > JSON_SIZE_LIMIT)
		return err_set(err, ERR_LIMIT, "JSON of %zu bytes is larger than %d MiB", len,
			       JSON_SIZE_LIMIT / 1024 / 1024);
	int rc = check_depth(bytes, len, err);

	if (rc < 0)
		return rc;
	json_t *value = json_loadb(bytes, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);

	if (!value)
		return err_set(err, ERR_INVALID, "line %d, column %d: %s", error.line, error.column,
			       error.text);
	*ret_value = ours(value);
	return 0;
}

/* The replacements of json_read_repaired for what json_read rejects. */

static void add_mended_string(struct text *text, const char *string, size_t len)
{
	for (size_t i = 0, step; i < len; i += step) {
		step = string[i] == '\\' && len - i > 1 ? 2 : 1;
		if (len - i >= 6 && memcmp(string + i, "\\u0000", 6) == 0) {
			text_add(text, "\\ufffd");
			step = 6;
		} else {
			text_add_bytes(text, string + i, step);
		}
	}
}

/* A number, a string or a single character. */
static size_t token_length(const char *bytes, size_t len)
{
	size_t n = 0;

	if (*bytes == '"') {
		for (n = 1; n < len && bytes[n] != '"'; n++)
			n += bytes[n] == '\\';
		return n < len ? n + 1 : len;
	}
	while (n < len && bytes[n] && strchr("+-.0123456789eE", bytes[n]))
		n++;
	return n ? n : 1;
}

static void add_mended(struct text *text, const char *bytes, size_t len)
{
	int depth = 0;

	for (size_t i = 0, n; i < len; i += n) {
		const char *token = bytes + i;
		char byte = *token;

		n = token_length(token, len - i);
		if ((byte == '[' || byte == '{') && ++depth == JSON_DEPTH_LIMIT + 1)
			text_add(text, "null");
		if (depth <= JSON_DEPTH_LIMIT && byte == '"')
			add_mended_string(text, token, n);
		else if (depth <= JSON_DEPTH_LIMIT)
			text_add_bytes(text, token, n);
		/* An integer with this many digits may exceed 64 bits. */
		if (depth <= JSON_DEPTH_LIMIT && byte != '"' && n > 18 && !memchr(token, '.', n) &&
		    !memchr(token, 'e', n) && !memchr(token, 'E', n))
			text_add(text, "e0");
		if (byte == ']' || byte == '}')
			depth--;
	}
}

int json_read_repaired(const char *bytes, size_t len, struct json **ret_value, struct err *err)
{
	struct text mended CLEANUP(text_done) = {0};
	int rc = json_read(bytes, len, ret_value, err);

	if (rc == 0 || len > JSON_SIZE_LIMIT)
		return rc;
	add_mended(&mended, bytes, len);
	json_t *value = json_loadb(mended.bytes, mended.len, JSON_DECODE_ANY, NULL);

	if (!value)
		return rc;
	if (err)
		*err = (struct err){0};
	*ret_value = ours(value);
	return 0;
}

/* U+0080 to U+009F, which some terminals interpret: two bytes of UTF-8. */
static bool is_long_control(const char *at)
{
	return at[0] == '\xc2' && ((unsigned char) at[1] & 0xe0) == 0x80;
}

static void add_string(struct text *text, const char *string)
{
	const char *rest = string;

	text_add_char(text, '"');
	for (const char *at = string; *at; at++) {
		static const char letters[] = "\"\"\\\\\bb\ff\nn\rr\tt";

		if ((unsigned char) *at >= ' ' && !strchr("\"\\\x7f", *at) && !is_long_control(at))
			continue;
		text_add_bytes(text, rest, (size_t) (at - rest));
		at += is_long_control(at);
		rest = at + 1;
		const char *letter = letters;

		while (*letter && *letter != *at)
			letter += 2;
		if (*letter)
			text_add_bytes(text, (char[]){'\\', letter[1]}, 2);
		else
			text_addf(text, "\\u%04x", (unsigned char) *at);
	}
	text_add(text, rest);
	text_add_char(text, '"');
}

/* `depth` counts the levels of indentation; COMPACT for none and no line feeds. */
#define COMPACT (-1)

static void add_break(struct text *text, int depth)
{
	if (depth == COMPACT)
		return;
	text_add_char(text, '\n');
	for (int i = 0; i < depth; i++)
		text_add(text, "  ");
}

static void add_json_value(struct text *text, const struct json *value, int depth);

static void add_members(struct text *text, const struct json *value, bool is_object, int depth)
{
	int inner = depth == COMPACT ? COMPACT : depth + 1;
	const char *key = NULL;

	text_add_char(text, is_object ? '{' : '[');
	for (size_t i = 0; i < json_count(value); i++) {
		struct json *member = json_at(value, i);

		if (i > 0)
			text_add_char(text, ',');
		add_break(text, inner);
		if (json_next(value, &key, &member)) {
			add_string(text, key);
			text_add(text, depth == COMPACT ? ":" : ": ");
		}
		add_json_value(text, member, inner);
	}
	add_break(text, depth);
	text_add_char(text, is_object ? '}' : ']');
}

static void add_json_value(struct text *text, const struct json *value, int depth)
{
	enum json_type type = json_type_of(value);
	bool is_object = type == JSON_OBJECT;

	if (type == JSON_BOOL)
		text_add(text, json_as_bool(value, false) ? "true" : "false");
	else if (type == JSON_INTEGER)
		text_addf(text, "%" PRId64, json_as_integer(value, 0));
	else if (type == JSON_REAL)
		text_add_real(text, json_as_real(value, 0));
	else if (type == JSON_STRING)
		add_string(text, json_as_string(value, ""));
	else if (!is_object && type != JSON_ARRAY)
		text_add(text, "null");
	else if (json_count(value) == 0)
		text_add(text, is_object ? "{}" : "[]");
	else
		add_members(text, value, is_object, depth);
}

void json_add_compact(struct text *text, const struct json *value)
{
	add_json_value(text, value, COMPACT);
}

void json_add_pretty(struct text *text, const struct json *value)
{
	add_json_value(text, value, 0);
	text_add_char(text, '\n');
}

char *json_compact_text(const struct json *value)
{
	struct text text CLEANUP(text_done) = {0};

	json_add_compact(&text, value);
	return text_take(&text);
}

struct json *json_new_null(void)
{
	return ours(json_null());
}

struct json *json_new_bool(bool value)
{
	return ours(value ? json_true() : json_false());
}

struct json *json_new_integer(int64_t value)
{
	return require_json_memory(json_integer(value));
}

struct json *json_new_real(double value)
{
	bool is_finite = value - value == 0;

	return is_finite ? require_json_memory(json_real(value)) : json_new_null();
}

/* The string, or a copy of it in `valid` with U+FFFD for bytes that are not UTF-8. */
static const char *as_utf8(const char *string, struct text *valid)
{
	if (text_is_utf8(string, strlen(string)))
		return string;
	text_add_as_utf8(valid, string, strlen(string));
	return text_of(valid);
}

struct json *json_new_string(const char *value)
{
	struct text valid CLEANUP(text_done) = {0};

	return value ? require_json_memory(json_string(as_utf8(value, &valid))) : json_new_null();
}

struct json *json_new_array(void)
{
	return require_json_memory(json_array());
}

struct json *json_new_object(void)
{
	return require_json_memory(json_object());
}

struct json *json_new_copy(const struct json *value)
{
	return value ? require_json_memory(json_deep_copy(theirs(value))) : json_new_null();
}

struct json *json_new_shallow_copy(const struct json *value)
{
	return value ? require_json_memory(json_copy(theirs(value))) : json_new_null();
}

struct json *json_ref(struct json *value)
{
	return ours(json_incref(theirs(value)));
}

void json_free(struct json *value)
{
	json_decref(theirs(value));
}

void json_cleanup(struct json **value)
{
	json_free(*value);
}

/* json_read and documents_read bound the depth. */
static void overwrite_texts(json_t *value)
{
	const char *key;
	json_t *member;
	size_t index;

	if (json_is(ours(value), JSON_STRING))
		explicit_bzero((char *) json_string_value(value), json_string_length(value));
	json_array_foreach(value, index, member) overwrite_texts(member);
	json_object_foreach(value, key, member) overwrite_texts(member);
}

void json_free_secret(struct json *value)
{
	overwrite_texts(theirs(value));
	json_free(value);
}

void json_cleanup_secret(struct json **value)
{
	json_free_secret(*value);
}

enum json_type json_type_of(const struct json *value)
{
	static const enum json_type types[] = {
		[JANSSON_OBJECT] = JSON_OBJECT, [JANSSON_ARRAY] = JSON_ARRAY,
		[JANSSON_STRING] = JSON_STRING, [JANSSON_INTEGER] = JSON_INTEGER,
		[JANSSON_REAL] = JSON_REAL,     [JSON_TRUE] = JSON_BOOL,
		[JSON_FALSE] = JSON_BOOL,       [JANSSON_NULL] = JSON_NULL,
	};

	return value ? types[json_typeof(theirs(value))] : JSON_NULL;
}

bool json_is(const struct json *value, enum json_type type)
{
	return json_type_of(value) == type;
}

bool json_equals(const struct json *a, const struct json *b)
{
	if (!a || !b)
		return json_is(a, JSON_NULL) && json_is(b, JSON_NULL);
	return json_equal(theirs(a), theirs(b));
}

bool json_as_bool(const struct json *value, bool otherwise)
{
	return json_is(value, JSON_BOOL) ? json_typeof(theirs(value)) == JSON_TRUE : otherwise;
}

int64_t json_as_integer(const struct json *value, int64_t otherwise)
{
	return json_is(value, JSON_INTEGER) ? json_integer_value(theirs(value)) : otherwise;
}

double json_as_real(const struct json *value, double otherwise)
{
	bool is_number = json_is(value, JSON_REAL) || json_is(value, JSON_INTEGER);

	return is_number ? json_number_value(theirs(value)) : otherwise;
}

const char *json_as_string(const struct json *value, const char *otherwise)
{
	return json_is(value, JSON_STRING) ? json_string_value(theirs(value)) : otherwise;
}

msec json_as_time(const struct json *value)
{
	msec time = MSEC_UNSET;

	return text_read_time(json_as_string(value, ""), &time, NULL) == 0 ? time : MSEC_UNSET;
}

struct json *json_get(const struct json *object, const char *key)
{
	return json_is(object, JSON_OBJECT) ? ours(json_object_get(theirs(object), key)) : NULL;
}

const char *json_get_string(const struct json *object, const char *key, const char *otherwise)
{
	return json_as_string(json_get(object, key), otherwise);
}

struct json *json_get_path(const struct json *object, ...)
{
	struct json *value = (struct json *) (uintptr_t) object;
	const char *key;
	va_list keys;

	va_start(keys, object);
	while (value && (key = va_arg(keys, const char *)))
		value = json_get(value, key);
	va_end(keys);
	return value;
}

void json_set(struct json *object, const char *key, struct json *take_value)
{
	struct text valid CLEANUP(text_done) = {0};

	assert(json_is(object, JSON_OBJECT) && take_value);
	if (json_object_set_new_nocheck(theirs(object), as_utf8(key, &valid), theirs(take_value)))
		mem_abort();
}

void json_copy_member(struct json *object, const struct json *source, const char *key)
{
	const struct json *value = json_get(source, key);

	if (value)
		json_set(object, key, json_new_copy(value));
}

void json_set_string(struct json *object, const char *key, const char *value)
{
	if (value)
		json_set(object, key, json_new_string(value));
}

struct json *json_new_texts(const char *key, ...)
{
	struct json *object = json_new_object();
	va_list texts;

	va_start(texts, key);
	for (; key; key = va_arg(texts, const char *))
		json_set_string(object, key, va_arg(texts, const char *));
	va_end(texts);
	return object;
}

void json_set_integer(struct json *object, const char *key, int64_t value)
{
	json_set(object, key, json_new_integer(value));
}

void json_set_bool(struct json *object, const char *key, bool value)
{
	json_set(object, key, json_new_bool(value));
}

void json_set_time(struct json *object, const char *key, msec time)
{
	struct text text CLEANUP(text_done) = {0};

	if (time == MSEC_UNSET)
		return;
	text_add_time(&text, time);
	json_set_string(object, key, text_of(&text));
}

void json_remove(struct json *object, const char *key)
{
	json_object_del(theirs(object), key);
}

static struct json *member_at(struct json *object, const char *key, enum json_type type)
{
	struct json *member = json_get(object, key);

	if (json_is(member, type))
		return member;
	member = type == JSON_OBJECT ? json_new_object() : json_new_array();
	json_set(object, key, member);
	return member;
}

struct json *json_object_at(struct json *object, const char *key)
{
	return member_at(object, key, JSON_OBJECT);
}

struct json *json_array_at(struct json *object, const char *key)
{
	return member_at(object, key, JSON_ARRAY);
}

size_t json_count(const struct json *array_or_object)
{
	if (json_is(array_or_object, JSON_ARRAY))
		return json_array_size(theirs(array_or_object));
	return json_is(array_or_object, JSON_OBJECT) ? json_object_size(theirs(array_or_object))
						     : 0;
}

struct json *json_at(const struct json *array, size_t index)
{
	return json_is(array, JSON_ARRAY) ? ours(json_array_get(theirs(array), index)) : NULL;
}

void json_append(struct json *array, struct json *take_value)
{
	assert(json_is(array, JSON_ARRAY) && take_value);
	if (json_array_append_new(theirs(array), theirs(take_value)))
		mem_abort();
}

bool json_next(const struct json *object, const char **key, struct json **ret_value)
{
	if (!json_is(object, JSON_OBJECT))
		return false;
	json_t *members = theirs(object);
	void *iterator = *key ? json_object_iter_next(members, json_object_key_to_iter(*key))
			      : json_object_iter(members);

	if (!iterator)
		return false;
	*key = json_object_iter_key(iterator);
	*ret_value = ours(json_object_iter_value(iterator));
	return true;
}

/* RFC 7396, section 2, word for word. json_read bounds the depth. */
struct json *json_patched(const struct json *target, const struct json *patch)
{
	const char *key = NULL;
	struct json *value;

	if (!json_is(patch, JSON_OBJECT))
		return json_new_copy(patch);
	struct json *result =
		json_is(target, JSON_OBJECT) ? json_new_copy(target) : json_new_object();

	while (json_next(patch, &key, &value))
		if (json_is(value, JSON_NULL))
			json_remove(result, key);
		else
			json_set(result, key, json_patched(json_get(result, key), value));
	return result;
}

void json_patch_add_step(struct json *patch, const char *op, const char *path, struct json *value)
{
	struct json *step = json_new_texts("op", op, "path", path, NULL);

	if (value)
		json_set(step, "value", value);
	json_append(patch, step);
}
