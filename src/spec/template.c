/* Templates: parameters are read first; objects are made only if they had no fault. */
#include "spec/template.h"

#include "base/names.h"
#include "spec/job_field.h"
#include "spec/limits.h"

#include <assert.h>

#define GENERATOR "expression"
/* The characters of a parameter's name. */
#define NAME_CHARACTERS NAME_LETTERS NAME_DIGITS "_"

#define PUNCTUATION "~!@#$%^&*()-_+={}[]\\|<,>.?/\"';:`"

#define N_CHARACTERS_MAX 255

/* "[SET]{N}" at the start of a text. */
struct piece {
	const char *set;
	size_t set_len;
	const char *count; /* digits */
	size_t len; /* of the whole piece */
};

/* The characters of a set, each once. */
struct choice {
	char characters[128];
	size_t count;
};

static bool find_piece(const char *at, struct piece *piece)
{
	if (*at != '[')
		return false;
	piece->set = at + 1;
	piece->set_len = strspn(piece->set, NAME_LETTERS NAME_DIGITS "-\\");
	if (!piece->set_len || strncmp(piece->set + piece->set_len, "]{", 2) != 0)
		return false;
	piece->count = piece->set + piece->set_len + 2;

	const char *end = piece->count + strspn(piece->count, NAME_DIGITS);

	piece->len = (size_t) (end + 1 - at);
	return end > piece->count && *end == '}';
}

static void allow(struct choice *choice, const char *characters, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!memchr(choice->characters, characters[i], choice->count))
			choice->characters[choice->count++] = characters[i];
}

/* \d and similar. */
static bool allow_class(struct choice *choice, char letter)
{
	static const char letters[] = "wdaA";
	static const char *const classes[] = {NAME_LETTERS NAME_DIGITS "_", NAME_DIGITS,
					      NAME_LETTERS NAME_DIGITS, PUNCTUATION};
	const char *found = strchr(letters, letter);

	if (found && letter)
		allow(choice, classes[found - letters], strlen(classes[found - letters]));
	return found && letter;
}

/* From one to the other in the order a-zA-Z0-9. */
static bool allow_range(struct choice *choice, char from, char to)
{
	static const char order[] = NAME_LETTERS NAME_DIGITS;
	const char *first = strchr(order, from);
	const char *last = strchr(order, to);

	if (!first || !last || first > last)
		return false;
	allow(choice, first, (size_t) (last + 1 - first));
	return true;
}

static int read_set(const struct piece *piece, struct choice *choice, struct err *err)
{
	const char *at = piece->set;
	const char *end = piece->set + piece->set_len;

	while (at < end) {
		bool is_class = *at == '\\';
		bool is_range = at + 2 < end && at[1] == '-';
		bool is_known = is_class ? at + 1 < end && allow_class(choice, at[1])
					 : allow_range(choice, at[0], at[is_range ? 2 : 0]);

		if (!is_known)
			return err_set(err, ERR_INVALID,
				       "'[%.*s]' is not a set of characters (expected [a-zA-Z0-9], "
				       "or \\w, \\d, \\a, \\A inside it)",
				       (int) piece->set_len, piece->set);
		at += is_class ? 2 : is_range ? 3 : 1;
	}
	return 0;
}

static int add_piece(struct text *text, const struct piece *piece, random_bytes_fn random,
		     struct err *err)
{
	struct choice choice = {.count = 0};
	char digits[8] = "";
	size_t n_digits = strspn(piece->count, NAME_DIGITS);
	int64_t count = 0;
	int rc = read_set(piece, &choice, err);

	if (rc)
		return rc;
	if (n_digits < sizeof(digits))
		memcpy(digits, piece->count, n_digits);
	if (text_read_int(digits, 1, N_CHARACTERS_MAX, &count, NULL) < 0)
		return err_set(err, ERR_INVALID, "'{%.*s}': a set must produce 1 to %d characters",
			       (int) n_digits, piece->count, N_CHARACTERS_MAX);
	assert(choice.count > 0);
	size_t n_fair = 256 - 256 % choice.count;

	/* Each character has the same probability: bytes above the last whole multiple are drawn
	 * again. */
	while (count > 0) {
		unsigned char byte;

		random(&byte, 1);
		if (byte >= n_fair)
			continue;
		text_add_char(text, choice.characters[byte % choice.count]);
		count--;
	}
	return 0;
}

int random_text_add(struct text *text, const char *pattern, random_bytes_fn random, struct err *err)
{
	struct text made CLEANUP(text_done) = {0};

	while (*pattern) {
		struct piece piece;
		bool is_piece = find_piece(pattern, &piece);

		if (is_piece && add_piece(&made, &piece, random, err))
			return ERR_INVALID;
		if (!is_piece)
			text_add_char(&made, *pattern);
		pattern += is_piece ? piece.len : 1;
		if (made.len > LIMIT_RANDOM_TEXT)
			return err_set(err, ERR_LIMIT, "it would produce more than %d characters",
				       LIMIT_RANDOM_TEXT);
	}
	text_add(text, text_of(&made));
	return 0;
}

static const char *const template_words[] = {"apiVersion", "kind",       "metadata", "message",
					     "objects",    "parameters", "labels"};
static const char *const parameter_words[] = {"name",     "displayName", "description", "value",
					      "generate", "from",        "required"};

struct parameter {
	struct template_parameter written;
	const char *value; /* for this command; "" if there is none */
};

struct maker {
	struct field_reader reader;
	const struct template_call *call; /* NULL if values are not needed */
	struct arena *arena; /* of generated values */
	struct parameter *parameters;
	const char **names; /* of the parameters, in the same order */
	size_t n_parameters;
	size_t size_left; /* bytes that may still be inserted */
	bool is_too_large;
	struct faults *notes;
};

bool template_is(const struct json *root)
{
	return text_equals(json_get_string(root, "kind", ""), "Template");
}

/* Parameters, as written. */

static const struct parameter *parameters_find(const struct maker *maker, const char *name)
{
	int index = name_find_word(maker->names, maker->n_parameters, name);

	return index < 0 ? NULL : &maker->parameters[index];
}

static void read_parameter(struct maker *maker, const struct field *field)
{
	static const char *const generators[] = {GENERATOR};
	struct field_reader *reader = &maker->reader;
	const struct field *name = FIELD_MEMBER(field, "name");
	const struct field *generator = FIELD_MEMBER(field, "generate");
	struct template_parameter written = {
		.name = field_text(reader, name, ""),
		.description = field_text(reader, FIELD_MEMBER(field, "description"), NULL),
		.value = field_text(reader, FIELD_MEMBER(field, "value"), NULL),
		.generator = field_text(reader, generator, NULL),
		.from = field_text(reader, FIELD_MEMBER(field, "from"), ""),
		.is_required = field_bool(reader, FIELD_MEMBER(field, "required"), false),
	};

	field_check_members(reader, field, parameter_words, ARRAY_LEN(parameter_words));
	if (!written.name[0] || written.name[strspn(written.name, NAME_CHARACTERS)])
		field_refuse(reader, name,
			     "Required value: a parameter is named with letters, digits and '_'");
	else if (parameters_find(maker, written.name))
		field_refuse(reader, name,
			     "Duplicate value: \"%s\": another parameter has this name",
			     written.name);
	if (written.generator && written.generator[0])
		(void) field_word(reader, generator, generators, ARRAY_LEN(generators), 0, 0);
	else
		written.generator = NULL;
	maker->names[maker->n_parameters] = written.name;
	maker->parameters[maker->n_parameters++] =
		(struct parameter){written, written.value ? written.value : ""};
}

static void parameters_read(struct maker *maker, const struct field *root)
{
	const struct field *list = FIELD_MEMBER(root, "parameters");
	size_t count = field_count(&maker->reader, list);

	if (count > LIMIT_PARAMETERS) {
		field_refuse(&maker->reader, list, "Too many: must have at most %d parameters",
			     LIMIT_PARAMETERS);
		return;
	}
	maker->parameters = arena_take_array(maker->arena, count, sizeof(*maker->parameters));
	maker->names = arena_take_array(maker->arena, count, sizeof(*maker->names));
	for (size_t i = 0; i < count; i++)
		read_parameter(maker, FIELD_ELEMENT(list, i));
}

/* Values of this command line. */

static const char *generate(struct maker *maker, const struct field *field,
			    const struct template_parameter *written)
{
	struct text text CLEANUP(text_done) = {0};
	struct err err;

	if (random_text_add(&text, written->from, maker->call->random, &err) < 0)
		field_refuse(&maker->reader, FIELD_MEMBER(field, "from"), "Invalid value: %s",
			     err.text);
	return arena_copy_text(maker->arena, text_of(&text));
}

/* A given value wins, also an empty text, which prevents a generated one. */
static void set_value(struct maker *maker, const struct field *field, struct parameter *parameter)
{
	const struct template_parameter *written = &parameter->written;
	const struct template_call *call = maker->call;
	const char *given = NULL;
	const char *description = written->description ? written->description : "";
	size_t n_refused = maker->reader.n_refused;

	for (size_t i = 0; i < call->n_values; i++)
		if (text_equals(call->values[i].name, written->name))
			given = call->values[i].value;
	if (given)
		parameter->value = given;
	else if (!parameter->value[0] && written->generator)
		parameter->value = generate(maker, field, written);
	if (written->is_required && !parameter->value[0] && maker->reader.n_refused == n_refused)
		field_refuse(&maker->reader, field,
			     "Required value: give parameter %s one (-p %s=VALUE)%s%.200s",
			     written->name, written->name, description[0] ? ": " : "", description);
}

/* The end of a sentence about an unknown parameter; "" if no other has a similar name. */
static const char *similar_name(const struct maker *maker, const char *name)
{
	const char *nearest = name_nearest(maker->names, maker->n_parameters, name);

	return nearest ? arena_format(maker->arena, "; did you mean %s?", nearest) : "";
}

static void parameters_set(struct maker *maker, const struct field *root)
{
	const struct field *list = FIELD_MEMBER(root, "parameters");

	/* They have no place in the document. */
	for (size_t i = 0; i < maker->call->n_values; i++) {
		const char *name = maker->call->values[i].name;

		if (parameters_find(maker, name))
			continue;
		fault_add(maker->reader.faults, (struct place){0}, "", "unknown parameter %.100s%s",
			  name, similar_name(maker, name));
		maker->reader.n_refused++;
	}
	assert(maker->parameters || !maker->n_parameters);
	for (size_t i = 0; i < maker->n_parameters; i++)
		set_value(maker, FIELD_ELEMENT(list, i), &maker->parameters[i]);
}

/* References. */

/* A reference at the start of a text: "${NAME}" or "${{NAME}}". */
struct reference {
	char *name;
	size_t len; /* of the whole reference */
	bool is_typed;
};

static bool find_reference(struct maker *maker, const char *at, struct reference *reference)
{
	bool is_typed = text_starts_with(at, "${{");
	const char *name = at + (is_typed ? 3 : 2);
	const char *closing = is_typed ? "}}" : "}";

	if (!text_starts_with(at, "${"))
		return false;

	size_t len = strspn(name, NAME_CHARACTERS);

	if (!len || !text_starts_with(name + len, closing))
		return false;
	reference->name = arena_format(maker->arena, "%.*s", (int) len, name);
	reference->len = (size_t) (name + len - at) + strlen(closing);
	reference->is_typed = is_typed;
	return true;
}

static bool consume_template_size(struct maker *maker, size_t size)
{
	const struct field root = {0};

	if (maker->size_left >= size) {
		maker->size_left -= size;
		return true;
	}
	if (!maker->is_too_large)
		field_refuse(&maker->reader, &root, "with its parameters, it is larger than %d MiB",
			     LIMIT_TEMPLATE_SIZE / 1024 / 1024);
	maker->is_too_large = true;
	maker->size_left = 0;
	return false;
}

/* Once for each name, at its first place. */
static void note_unknown(struct maker *maker, const struct field *field, const char *name)
{
	struct faults *notes = maker->notes;
	struct field_reader reader = {.document = maker->reader.document, .faults = notes};
	const char *sentence =
		arena_format(maker->arena, "${%s} is not a parameter, and is left as it is", name);

	for (size_t i = 0; i < notes->count; i++)
		if (text_starts_with(notes->list[i].sentence, sentence))
			return;
	if (!faults_are_full(notes))
		field_refuse(&reader, field, "%s%s", sentence, similar_name(maker, name));
}

/* Adds a reference's value. Only templates have ${{…}}: one without a value is an error. */
static void substitute_reference(struct maker *maker, const struct field *field, const char *at,
				 const struct reference *reference, struct text *made)
{
	const char *name = reference->name;
	const struct parameter *parameter = parameters_find(maker, name);

	if (reference->is_typed && parameter)
		field_refuse(&maker->reader, field,
			     "Invalid value: ${{%s}} must be the whole value; inside a string "
			     "write ${%s}",
			     name, name);
	else if (reference->is_typed)
		field_refuse(&maker->reader, field, "Invalid value: unknown parameter %.100s%s",
			     name, similar_name(maker, name));
	else if (!parameter)
		note_unknown(maker, field, name);
	if (reference->is_typed || !parameter)
		text_add_bytes(made, at, reference->len);
	else if (consume_template_size(maker, strlen(parameter->value)))
		text_add(made, parameter->value);
}

static void add_with_values(struct maker *maker, const struct field *field, const char *text,
			    struct text *made)
{
	struct reference reference;

	while (*text) {
		size_t n_before = strcspn(text, "$");

		text_add_bytes(made, text, n_before);
		text += n_before;
		if (find_reference(maker, text, &reference)) {
			substitute_reference(maker, field, text, &reference, made);
			text += reference.len;
		} else if (*text) {
			text_add_char(made, *text++);
		}
	}
}

/* Objects. */

static struct json *make_text(struct maker *maker, const struct field *field)
{
	const char *text = json_as_string(field->value, "");
	struct text made CLEANUP(text_done) = {0};
	struct reference reference;
	const struct parameter *whole = find_reference(maker, text, &reference) &&
							reference.is_typed &&
							reference.len == strlen(text)
						? parameters_find(maker, reference.name)
						: NULL;

	if (whole) {
		const char *value = whole->value;
		struct json *typed = NULL;

		return consume_template_size(maker, strlen(value)) &&
				       json_read(value, strlen(value), &typed, NULL) == 0
			       ? typed
			       : json_new_string(value);
	}
	add_with_values(maker, field, text, &made);
	return json_new_string(text_of(&made));
}

static struct json *make_value(struct maker *maker, const struct field *field);

static struct json *make_object(struct maker *maker, const struct field *object)
{
	struct json *made = json_new_object();
	const char *key = NULL;
	struct json *value;

	while (json_next(object->value, &key, &value)) {
		const struct field *member = FIELD_MEMBER(object, key);
		struct text made_key CLEANUP(text_done) = {0};

		add_with_values(maker, member, key, &made_key);
		if (json_get(made, text_of(&made_key)))
			field_refuse(&maker->reader, member,
				     "Duplicate value: \"%s\": another key becomes the same",
				     text_of(&made_key));
		json_set(made, text_of(&made_key), make_value(maker, member));
	}
	return made;
}

static struct json *make_value(struct maker *maker, const struct field *field)
{
	if (json_is(field->value, JSON_OBJECT))
		return make_object(maker, field);
	if (json_is(field->value, JSON_STRING))
		return make_text(maker, field);
	if (!json_is(field->value, JSON_ARRAY))
		return json_new_copy(field->value);
	struct json *made = json_new_array();

	for (size_t i = 0; i < json_count(field->value); i++)
		json_append(made, make_value(maker, FIELD_ELEMENT(field, i)));
	return made;
}

/* A template is for any namespace: a namespace without a reference was its author's. */
static void leave_out_namespace(struct maker *maker, const struct json *written, struct json *made)
{
	const char *name_space =
		json_as_string(json_get_path(written, "metadata", "namespace", NULL), "");
	struct reference reference;

	for (const char *at = name_space; (at = strchr(at, '$')); at++)
		if (find_reference(maker, at, &reference))
			return;
	json_remove(json_get(made, "metadata"), "namespace");
}

static void finish_object(struct maker *maker, const struct field *field, struct json *made,
			  const struct json *labels)
{
	static const char *const words[] = {"apiVersion", "kind"};
	const char *key = NULL;
	struct json *value;

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (!json_get_string(made, words[i], "")[0])
			field_refuse(&maker->reader, FIELD_MEMBER(field, words[i]),
				     "Required value: every object says what it is");
	leave_out_namespace(maker, field->value, made);
	while (json_next(labels, &key, &value))
		json_set(json_object_at(json_object_at(made, "metadata"), "labels"), key,
			 json_ref(value));
}

static struct document *make_document(struct maker *maker, const struct field *field, size_t index,
				      const struct json *labels)
{
	char *path CLEANUP(mem_free_text) = mem_format("objects[%zu]", index);
	struct json *made = make_value(maker, field);

	if (field_is_object(&maker->reader, field))
		finish_object(maker, field, made, labels);
	else if (!field_is_set(field))
		field_refuse(&maker->reader, field, "Required value: expected an object");
	return document_new_part(maker->reader.document, path, made);
}

static struct json *make_labels(struct maker *maker, const struct field *root)
{
	const struct field *labels = FIELD_MEMBER(root, "labels");
	const char *key = NULL;
	struct json *value;

	if (!field_is_object(&maker->reader, labels))
		return json_new_object();
	while (json_next(labels->value, &key, &value))
		(void) field_text(&maker->reader, FIELD_MAP_ENTRY(labels, key), NULL);
	return make_value(maker, labels);
}

static void read_root(struct maker *maker, const struct field *root)
{
	static const char *const versions[] = {"template.openshift.io/v1", "v1"};

	(void) field_word(&maker->reader, FIELD_MEMBER(root, "apiVersion"), versions,
			  ARRAY_LEN(versions), 0, 0);
	field_check_members(&maker->reader, root, template_words, ARRAY_LEN(template_words));
	parameters_read(maker, root);
}

static struct maker maker_of(const struct document *document, struct faults *faults)
{
	return (struct maker){
		.reader = {.document = document, .strictness = JOB_STRICT, .faults = faults},
		.arena = arena_new(),
		.size_left = LIMIT_TEMPLATE_SIZE,
	};
}

static void maker_done(struct maker *maker)
{
	arena_free(maker->arena);
}

int template_make(const struct document *document, const struct template_call *call,
		  struct faults *faults, struct faults *notes, struct document ***ret_objects,
		  size_t *ret_count)
{
	struct maker maker CLEANUP(maker_done) = maker_of(document, faults);
	struct field root = {.value = document_root(document)};
	struct document **objects = NULL;
	size_t count = 0;
	size_t n_before = faults->count;

	maker.notes = notes;
	read_root(&maker, &root);
	maker.call = call;
	parameters_set(&maker, &root);
	const struct field *list = FIELD_MEMBER(&root, "objects");
	size_t n_objects = field_count(&maker.reader, list);
	struct json *labels CLEANUP(json_cleanup) = make_labels(&maker, &root);

	if (!n_objects)
		field_refuse(&maker.reader, list, "Required value: what the template makes");
	objects = mem_new_array(n_objects + 1, sizeof(*objects));
	for (; count < n_objects; count++)
		objects[count] = make_document(&maker, FIELD_ELEMENT(list, count), count, labels);
	if (!maker.reader.n_refused) {
		*ret_objects = objects;
		*ret_count = count;
		return 0;
	}
	documents_free(objects, count);
	faults_sort(faults, n_before);
	return ERR_INVALID;
}

int template_parameters(const struct document *document, struct faults *faults,
			struct template_parameter **ret_parameters, size_t *ret_count)
{
	struct maker maker CLEANUP(maker_done) = maker_of(document, faults);
	struct field root = {.value = document_root(document)};
	size_t n_before = faults->count;

	read_root(&maker, &root);
	if (maker.reader.n_refused) {
		faults_sort(faults, n_before);
		return ERR_INVALID;
	}
	*ret_count = maker.n_parameters;
	*ret_parameters = mem_new_array(*ret_count + 1, sizeof(**ret_parameters));
	for (size_t i = 0; i < *ret_count; i++)
		(*ret_parameters)[i] = maker.parameters[i].written;
	return 0;
}
