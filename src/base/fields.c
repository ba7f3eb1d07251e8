#include "base/fields.h"

#include "base/names.h"

#include <inttypes.h>

static const void *place_of(const struct json_field *field, const void *owner)
{
	return (const char *) owner + field->offset;
}

static bool has_count(const struct json_field *field)
{
	return field->kind == FIELD_LINES || field->kind == FIELD_LIST || field->kind == FIELD_MAP;
}

static bool is_in_place(const struct json_field *field)
{
	return field->kind == FIELD_STRUCT || field->kind == FIELD_PART;
}

/* The number of structs or lines in a field; 0 for a scalar. */
static size_t count_of(const struct json_field *field, const void *owner)
{
	if (has_count(field))
		return *(const size_t *) ((const char *) owner + field->count);
	if (field->kind == FIELD_POINTER)
		return *(void *const *) place_of(field, owner) != NULL;
	return is_in_place(field);
}

static void *element_of(const struct json_field *field, const void *owner, size_t index)
{
	const void *at = place_of(field, owner);

	if (is_in_place(field))
		return (void *) at;
	return *(char *const *) at + index * field->size;
}

static const char **lines_of(const struct json_field *field, const void *owner)
{
	return *(const char **const *) place_of(field, owner);
}

/* Writing. */

static void write_number(struct json *object, const struct json_field *field, int64_t number,
			 bool is_always)
{
	if (is_always || number != field->least)
		json_set_integer(object, field->key, number);
}

static void write_elements(struct json *object, const struct json_field *field, const void *owner,
			   size_t count)
{
	struct json *all = field->kind == FIELD_MAP ? json_object_at(object, field->key)
			   : field->kind == FIELD_LIST || field->kind == FIELD_LINES
				   ? json_array_at(object, field->key)
				   : NULL;

	for (size_t i = 0; i < count; i++) {
		if (field->kind == FIELD_LINES) {
			json_append(all, json_new_string(lines_of(field, owner)[i]));
			continue;
		}
		const char *const *element = element_of(field, owner, i);
		struct json *value = json_new_object();

		fields_write(value, field->fields + (field->kind == FIELD_MAP), element);
		if (field->kind == FIELD_LIST)
			json_append(all, value);
		else
			json_set(all ? all : object, all ? *element : field->key, value);
	}
}

static void write_field(struct json *object, const struct json_field *field, const void *owner)
{
	const void *at = place_of(field, owner);
	bool is_always = field->presence == FIELD_SHOWN || field->presence == FIELD_NEEDED;
	struct json *value;

	switch (field->kind) {
	case FIELD_TEXT:
		json_set_string(object, field->key, *(const char *const *) at);
		break;
	case FIELD_TIME:
		json_set_time(object, field->key, *(const msec *) at);
		break;
	case FIELD_FLAG:
		if (is_always || *(const bool *) at)
			json_set_bool(object, field->key, *(const bool *) at);
		break;
	case FIELD_TRUTH:
		json_set_string(object, field->key, *(const bool *) at ? "True" : "False");
		break;
	case FIELD_WORD:
		json_set_string(object, field->key, field->words[*(const int *) at]);
		break;
	case FIELD_INT:
		write_number(object, field, *(const int *) at, is_always);
		break;
	case FIELD_LONG:
		write_number(object, field, *(const int64_t *) at, is_always);
		break;
	case FIELD_LINES:
	case FIELD_LIST:
	case FIELD_MAP:
	case FIELD_STRUCT:
	case FIELD_POINTER:
		if (is_always || count_of(field, owner))
			write_elements(object, field, owner, count_of(field, owner));
		break;
	case FIELD_PART:
		fields_write(object, field->fields, at);
		break;
	case FIELD_VALUE:
		value = field->write(at);
		if (value)
			json_set(object, field->key, value);
		break;
	}
}

void fields_write(struct json *object, const struct json_field *fields, const void *from)
{
	for (; fields->key; fields++)
		if (fields->presence != FIELD_HIDDEN)
			write_field(object, fields, from);
}

/* Reading. */

/* Reads one object. Errors say where it is: `key` of its parent, or element `index` of that
 * list. */
struct field_reader {
	struct arena *arena;
	struct err *err;
	const struct field_reader *parent; /* NULL: none */
	const char *key;
	bool is_element;
	size_t index;
};

static void add_place(struct text *text, const struct field_reader *reader)
{
	if (!reader || !reader->key)
		return;
	add_place(text, reader->parent);
	text_add(text, reader->key);
	if (reader->is_element)
		text_addf(text, "[%zu]", reader->index);
	text_add_char(text, '.');
}

static int refuse(const struct field_reader *reader, const struct json_field *field,
		  const char *expected)
{
	struct text path CLEANUP(text_done) = {0};

	if (field->presence == FIELD_TOLERATED)
		return 0;
	add_place(&path, reader);
	return err_set(reader->err, ERR_INVALID, "%s%s: expected %s", text_of(&path), field->key,
		       expected);
}

static int refuse_word(const struct field_reader *reader, const struct json_field *field)
{
	struct text text CLEANUP(text_done) = {0};

	for (int64_t i = 0; i < field->most; i++)
		if (field->words[i])
			text_addf(&text, "%s%s", text.len ? ", " : "one of ", field->words[i]);
	return refuse(reader, field, text_of(&text));
}

static int read_number(const struct field_reader *reader, const struct json *value,
		       const struct json_field *field, int64_t *ret_number)
{
	struct text expected CLEANUP(text_done) = {0};
	int64_t number = json_as_integer(value, 0);

	if (json_is(value, JSON_INTEGER) && number >= field->least && number <= field->most) {
		*ret_number = number;
		return 0;
	}
	text_addf(&expected, "a whole number from %" PRId64 " to %" PRId64, field->least,
		  field->most);
	return refuse(reader, field, text_of(&expected));
}

static int read_scalar(const struct field_reader *reader, const struct json *value,
		       const struct json_field *field, void *at)
{
	const char *text = json_as_string(value, NULL);
	int64_t number = field->least;
	int rc = 0;

	switch (field->kind) {
	case FIELD_TEXT:
		if (!text || (field->accepts && !field->accepts(text)))
			return refuse(reader, field,
				      field->wanted && text ? field->wanted : "text");
		*(const char **) at = arena_copy_text(reader->arena, text);
		return 0;
	case FIELD_TIME:
		if (!text || text_read_time(text, at, NULL) < 0)
			return refuse(reader, field, "a time (RFC 3339)");
		return 0;
	case FIELD_FLAG:
		if (!json_is(value, JSON_BOOL))
			return refuse(reader, field, "true or false");
		*(bool *) at = json_as_bool(value, false);
		return 0;
	case FIELD_TRUTH:
		*(bool *) at = text_equals(text, "True");
		return 0;
	case FIELD_WORD:
		number = name_find_word(field->words, (size_t) field->most, text ? text : "");
		if (number < 0)
			return refuse_word(reader, field);
		*(int *) at = (int) number;
		return 0;
	case FIELD_INT:
		rc = read_number(reader, value, field, &number);
		*(int *) at = (int) number;
		return rc;
	case FIELD_LONG:
		return read_number(reader, value, field, at);
	case FIELD_VALUE:
		rc = field->read(value, reader->arena, at, reader->err);
		if (rc < 0)
			err_prefix(reader->err, "%s", field->key);
		return rc;
	case FIELD_LINES:
	case FIELD_LIST:
	case FIELD_MAP:
	case FIELD_STRUCT:
	case FIELD_PART:
	case FIELD_POINTER:
		break; /* read_structs */
	}
	return 0;
}

static int read_members(const struct field_reader *reader, const struct json *object,
			const struct json_field *fields, void *into);

/* `elements`: an array with room for them. */
static int read_elements(const struct field_reader *parent, const struct json *value,
			 const struct json_field *field, char *elements)
{
	struct field_reader reader = {parent->arena, parent->err, parent, field->key, true, 0};
	bool is_map = field->kind == FIELD_MAP;
	const char *key = NULL;
	struct json *element;
	int rc = 0;

	for (; rc == 0 && reader.index < json_count(value); reader.index++) {
		char *at = elements + reader.index * field->size;

		element = json_at(value, reader.index);
		if (is_map && json_next(value, &key, &element))
			*(const char **) at = arena_copy_text(reader.arena, key);
		if (field->kind == FIELD_LINES)
			*(const char **) at =
				arena_copy_text(reader.arena, json_as_string(element, ""));
		else
			rc = read_members(&reader, element, field->fields + is_map, at);
	}
	return rc;
}

static int read_structs(const struct field_reader *reader, const struct json *value,
			const struct json_field *field, void *owner)
{
	const struct field_reader inner = {reader->arena, reader->err, reader, field->key};
	bool is_list = field->kind == FIELD_LINES || field->kind == FIELD_LIST;
	size_t count = has_count(field) ? json_count(value) : 1;
	void *at = (char *) owner + field->offset;

	if (!json_is(value, is_list ? JSON_ARRAY : JSON_OBJECT))
		return refuse(reader, field, is_list ? "a list" : "an object");
	if (is_list && count > (size_t) field->most)
		return refuse(reader, field, "a shorter list");
	if (field->kind != FIELD_STRUCT)
		at = *(void **) at = arena_take_array(reader->arena, count, field->size);
	if (!has_count(field))
		return read_members(&inner, value, field->fields, at);
	*(size_t *) ((char *) owner + field->count) = count;
	return read_elements(reader, value, field, at);
}

static int read_field(const struct field_reader *reader, const struct json *object,
		      const struct json_field *field, void *owner)
{
	const struct json *value = json_get(object, field->key);
	void *at = (char *) owner + field->offset;

	if (field->kind == FIELD_INT)
		*(int *) at = (int) field->least;
	else if (field->kind == FIELD_LONG)
		*(int64_t *) at = field->least;
	if (json_is(value, JSON_NULL) && field->presence != FIELD_NEEDED)
		return 0;
	return field->kind >= FIELD_LINES && field->kind <= FIELD_POINTER
		       ? read_structs(reader, value, field, owner)
		       : read_scalar(reader, value, field, at);
}

static int read_members(const struct field_reader *reader, const struct json *object,
			const struct json_field *fields, void *into)
{
	int rc = 0;

	for (; rc == 0 && fields->key; fields++)
		if (fields->kind == FIELD_PART)
			rc = read_members(reader, object, fields->fields,
					  (char *) into + fields->offset);
		else if (fields->presence != FIELD_HIDDEN)
			rc = read_field(reader, object, fields, into);
	return rc;
}

int fields_read(const struct json *object, const char *path, const struct json_field *fields,
		struct arena *arena, void *into, struct err *err)
{
	const struct field_reader reader = {.arena = arena, .err = err, .key = path};

	return read_members(&reader, object, fields, into);
}

/* Comparing: field by field, not as JSON, because every reconcile pass does it. */

static bool is_equal(const struct json_field *field, const void *owner_a, const void *owner_b)
{
	static const size_t sizes[] = {
		[FIELD_TIME] = sizeof(msec),    [FIELD_FLAG] = sizeof(bool),
		[FIELD_TRUTH] = sizeof(bool),   [FIELD_WORD] = sizeof(int),
		[FIELD_INT] = sizeof(int),      [FIELD_LONG] = sizeof(int64_t),
		[FIELD_VALUE] = sizeof(void *),
	};
	const void *a = place_of(field, owner_a), *b = place_of(field, owner_b);
	size_t count = count_of(field, owner_a);

	if (field->kind == FIELD_TEXT)
		return text_equals(*(const char *const *) a, *(const char *const *) b);
	if (count != count_of(field, owner_b))
		return false;
	for (size_t i = 0; i < count; i++)
		if (field->kind == FIELD_LINES
			    ? !text_equals(lines_of(field, owner_a)[i], lines_of(field, owner_b)[i])
			    : !fields_equal(field->fields, element_of(field, owner_a, i),
					    element_of(field, owner_b, i)))
			return false;
	return memcmp(a, b, sizes[field->kind]) == 0;
}

bool fields_equal(const struct json_field *fields, const void *a, const void *b)
{
	for (; fields->key; fields++)
		if (!is_equal(fields, a, b))
			return false;
	return true;
}

/* Copying. */

static void own_text(struct arena *arena, const char **text)
{
	*text = arena_copy_text(arena, *text);
}

void fields_own(const struct json_field *fields, struct arena *arena, void *copy)
{
	for (; fields->key; fields++) {
		void **at = (void **) ((char *) copy + fields->offset);
		size_t count = count_of(fields, copy);

		if (fields->kind == FIELD_TEXT)
			own_text(arena, (const char **) at);
		if (count && !is_in_place(fields))
			*at = memcpy(arena_take_array(arena, count, fields->size), *at,
				     count * fields->size);
		for (size_t i = 0; i < count; i++)
			if (fields->kind == FIELD_LINES)
				own_text(arena, &lines_of(fields, copy)[i]);
			else
				fields_own(fields->fields, arena, element_of(fields, copy, i));
	}
}

void fields_move_times(const struct json_field *fields, void *of, msec step)
{
	for (; fields->key; fields++) {
		if (fields->kind == FIELD_TIME)
			msec_move((msec *) place_of(fields, of), step);
		for (size_t i = 0; fields->fields && i < count_of(fields, of); i++)
			fields_move_times(fields->fields, element_of(fields, of, i), step);
	}
}
