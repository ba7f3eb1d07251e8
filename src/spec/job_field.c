#include "spec/job_field.h"

#include "base/line_text.h"
#include "base/names.h"
#include "spec/limits.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

/* Bytes of an invalid value that a fault shows. */
#define SHOWN_VALUE_LENGTH 60
/* Faults. */

void faults_done(struct faults *faults)
{
	for (size_t i = 0; i < faults->count; i++) {
		free(faults->list[i].path);
		free(faults->list[i].sentence);
	}
	free(faults->list);
	*faults = (struct faults){0};
}

bool faults_are_full(const struct faults *faults)
{
	return faults->count >= LIMIT_FAULTS;
}

void fault_add(struct faults *faults, struct place place, const char *path, const char *format, ...)
{
	char sentence[ERR_TEXT_SIZE];
	va_list values;

	if (faults_are_full(faults)) {
		faults->n_more++;
		return;
	}
	va_start(values, format);
	vsnprintf(sentence, sizeof(sentence), format, values);
	va_end(values);
	mem_grow(&faults->list, &faults->capacity, faults->count, sizeof(*faults->list));
	faults->list[faults->count++] = (struct fault){
		.path = mem_copy_text(path),
		.sentence = mem_copy_text(sentence),
		.place = place,
	};
}

static int64_t position_of(struct place place)
{
	return (int64_t) place.line << 32 | place.column;
}

void faults_sort(struct faults *faults, size_t first)
{
	for (size_t i = first + 1; i < faults->count; i++) {
		struct fault fault = faults->list[i];
		int64_t position = position_of(fault.place);
		size_t at = i;

		for (; at > first && position < position_of(faults->list[at - 1].place); at--)
			faults->list[at] = faults->list[at - 1];
		faults->list[at] = fault;
	}
}

/* A user's key may contain any byte; a fault must stay on its line and move no cursor. Many
 * terminals obey the control characters of ISO 6429 (U+0080 to U+009F), too. */
static void add_printable(struct text *text, const char *string)
{
	for (const unsigned char *at = (const unsigned char *) string; *at; at++) {
		bool is_long_control = at[0] == 0xc2 && at[1] >= 0x80 && at[1] <= 0x9f;
		bool is_control = is_long_control || *at < ' ' || *at == 0x7f;

		text_add_char(text, is_control ? '?' : (char) *at);
		at += is_long_control;
	}
}

void faults_describe(const struct faults *faults, const char *file, struct text *text)
{
	for (size_t i = 0; i < faults->count; i++) {
		const struct fault *fault = &faults->list[i];

		add_printable(text, file ? file : "");
		if (file && fault->place.line > 0)
			text_addf(text, ":%d:%d", fault->place.line, fault->place.column);
		text_add(text, file ? ": " : "");
		add_printable(text, fault->path);
		text_add(text, fault->path[0] ? ": " : "");
		add_printable(text, fault->sentence);
		text_add_char(text, '\n');
	}
	if (faults->n_more > 0)
		text_addf(text, "and %zu more fault%s\n", faults->n_more,
			  faults->n_more == 1 ? "" : "s");
}

/* Fields. */

bool reader_is_strict(const struct field_reader *reader)
{
	return reader->strictness == JOB_STRICT;
}

struct field field_member(const struct field *object, const char *key)
{
	return (struct field){.parent = object, .key = key, .value = json_get(object->value, key)};
}

struct field field_map_entry(const struct field *map, const char *key)
{
	struct field entry = field_member(map, key);

	entry.is_map_key = true;
	return entry;
}

struct field field_element(const struct field *list, size_t index)
{
	return (struct field){.parent = list, .index = index, .value = json_at(list->value, index)};
}

bool field_is_set(const struct field *field)
{
	return !json_is(field->value, JSON_NULL);
}

/* "spec.tfReplicaSpecs[Worker].template": as Kubernetes writes paths, or as document_place does. */
static void add_path(const struct field *field, bool is_for_document, struct text *text)
{
	if (!field->parent)
		return;
	add_path(field->parent, is_for_document, text);
	if (!field->key)
		text_addf(text, "[%zu]", field->index);
	else if (is_for_document && strpbrk(field->key, ".[]\""))
		text_addf(text, "[\"%s\"]", field->key);
	else if (!is_for_document && field->is_map_key)
		text_addf(text, "[%s]", field->key);
	else
		text_addf(text, "%s%s", text->len > 0 ? "." : "", field->key);
}

struct place field_place(const struct field_reader *reader, const struct field *field)
{
	static const char policy[] = "spec.runPolicy.";
	struct text path CLEANUP(text_done) = {0};
	struct place place = {0};

	if (!reader->document)
		return place;
	add_path(field, true, &path);
	if (document_find(reader->document, text_of(&path), &place) || !reader->is_older ||
	    !text_starts_with(text_of(&path), policy))
		return place;
	/* Older versions of TFJob have the members of v1's spec.runPolicy in spec. */
	char *older CLEANUP(mem_free_text) = mem_format("spec.%s", path.bytes + strlen(policy));

	return document_place(reader->document, older);
}

void field_refuse(struct field_reader *reader, const struct field *field, const char *format, ...)
{
	struct text path CLEANUP(text_done) = {0};
	struct place place = {0};
	va_list values;

	va_start(values, format);
	char *sentence CLEANUP(mem_free_text) = mem_format_list(format, values);

	va_end(values);
	/* A place is searched from the beginning of the document. */
	if (!faults_are_full(reader->faults)) {
		add_path(field, false, &path);
		place = field_place(reader, field);
	}
	fault_add(reader->faults, place, text_of(&path), "%s", sentence);
	reader->n_refused++;
}

/* The value as JSON, cut between two characters when it is long. */
static void add_shown_value(struct text *text, const struct json *value)
{
	struct text whole CLEANUP(text_done) = {0};

	json_add_compact(&whole, value);
	if (whole.len <= SHOWN_VALUE_LENGTH) {
		text_add(text, text_of(&whole));
		return;
	}
	text_add_bytes(text, whole.bytes,
		       line_text_whole_characters(whole.bytes, SHOWN_VALUE_LENGTH));
	text_add(text, "…");
}

/* A remaining parameter of a template that was not processed. */
static const char *template_hint(const struct json *value)
{
	const char *text = json_as_string(value, "");
	const char *dollar = strchr(text, '$');

	if (strstr(text, "{{"))
		return "; if this is a template, render it first (for example: helm template CHART "
		       "| muster run -f -)";
	if (dollar && (dollar[1] == '{' || isupper((unsigned char) dollar[1])))
		return "; if this is a template, fill it in first (for example: envsubst < FILE | "
		       "muster run -f -)";
	return "";
}

void field_refuse_value(struct field_reader *reader, const struct field *field, const char *format,
			...)
{
	struct text value CLEANUP(text_done) = {0};
	va_list values;

	va_start(values, format);
	char *rule CLEANUP(mem_free_text) = mem_format_list(format, values);

	va_end(values);
	if (!reader->hides_values) {
		text_add(&value, "Invalid value: ");
		add_shown_value(&value, field->value);
		text_add(&value, ": ");
	}
	field_refuse(reader, field, "%s%s%s", text_of(&value), rule, template_hint(field->value));
}

static void add_did_you_mean(struct text *sentence, const char *const *words, size_t n_words,
			     const char *word)
{
	const char *nearest = name_nearest(words, n_words, word);

	if (nearest)
		text_addf(sentence, "; did you mean \"%s\"?", nearest);
}

void field_refuse_unknown(struct field_reader *reader, const struct field *field,
			  const char *const *words, size_t n_words)
{
	struct text sentence CLEANUP(text_done) = {0};

	text_add(&sentence, "unknown field");
	add_did_you_mean(&sentence, words, n_words, field->key);
	field_refuse(reader, field, "%s", text_of(&sentence));
}

void field_check_members(struct field_reader *reader, const struct field *object,
			 const char *const *words, size_t n_words)
{
	const char *key = NULL;
	struct json *value;

	if (!field_is_object(reader, object) || !reader_is_strict(reader))
		return;
	while (json_next(object->value, &key, &value))
		if (name_find_word(words, n_words, key) < 0)
			field_refuse_unknown(reader, FIELD_MEMBER(object, key), words, n_words);
}

/* False for an absent one too, which is no fault. */
static bool is_of_type(struct field_reader *reader, const struct field *field, enum json_type type,
		       const char *expected)
{
	bool is_right = json_is(field->value, type);

	if (field_is_set(field) && !is_right)
		field_refuse_value(reader, field, "expected %s", expected);
	return is_right;
}

/* Kubernetes converts no number to text. Most users with that fault forgot quotes in YAML. */
const char *field_text(struct field_reader *reader, const struct field *field,
		       const char *otherwise)
{
	bool is_scalar = !json_is(field->value, JSON_OBJECT) && !json_is(field->value, JSON_ARRAY);

	(void) is_of_type(reader, field, JSON_STRING,
			  is_scalar ? "text; put it in quotes" : "text");
	return json_as_string(field->value, otherwise);
}

bool field_bool(struct field_reader *reader, const struct field *field, bool otherwise)
{
	(void) is_of_type(reader, field, JSON_BOOL, "true or false");
	return json_as_bool(field->value, otherwise);
}

int64_t field_integer(struct field_reader *reader, const struct field *field, int64_t low,
		      int64_t high, int64_t otherwise)
{
	int64_t number = json_as_integer(field->value, otherwise);
	int64_t limit = number < low ? low : high;

	if (!is_of_type(reader, field, JSON_INTEGER, "a whole number") ||
	    (number >= low && number <= high))
		return number;
	if (reader_is_strict(reader))
		field_refuse_value(reader, field, "must be %s than or equal to %" PRId64,
				   number < low ? "greater" : "less", limit);
	return limit;
}

msec field_seconds(struct field_reader *reader, const struct field *object, const char *key)
{
	int64_t seconds = field_integer(reader, FIELD_MEMBER(object, key), 0,
					MSEC_LONGEST / MSEC_PER_SECOND, -1);

	return seconds < 0 ? -1 : seconds * MSEC_PER_SECOND;
}

void field_refuse_word(struct field_reader *reader, const struct field *field, const char *word,
		       const char *const *words, size_t n_words)
{
	struct text sentence CLEANUP(text_done) = {0};

	text_addf(&sentence, "Unsupported value: \"%s\": supported values: ", word);
	for (size_t i = 0; i < n_words; i++)
		text_addf(&sentence, "%s\"%s\"", i ? ", " : "", words[i]);
	add_did_you_mean(&sentence, words, n_words, word);
	field_refuse(reader, field, "%s", text_of(&sentence));
}

int field_word(struct field_reader *reader, const struct field *field, const char *const *words,
	       size_t n_words, int absent, int unknown)
{
	const char *word = field_text(reader, field, NULL);
	int found = name_find_word(words, n_words, word);

	if (!word || found >= 0)
		return word ? found : absent;
	if (reader_is_strict(reader))
		field_refuse_word(reader, field, word, words, n_words);
	return unknown;
}

bool field_is_object(struct field_reader *reader, const struct field *field)
{
	return is_of_type(reader, field, JSON_OBJECT, "an object");
}

size_t field_count(struct field_reader *reader, const struct field *field)
{
	return is_of_type(reader, field, JSON_ARRAY, "a list") ? json_count(field->value) : 0;
}
