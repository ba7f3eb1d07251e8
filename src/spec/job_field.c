/* Values of a job document: their paths, their types, and the faults in them. */
#include "spec/job_field.h"

#include "base/line_text.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/text.h"
#include "spec/limits.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of an invalid value that a fault shows. */
#define SHOWN_VALUE_LENGTH 60
/* The longest time in a job file: 100 years. */
#define SECONDS_MAX ((int64_t) 100 * 366 * 24 * 3600)

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

static bool stands_before(const struct fault *a, const struct fault *b)
{
	return a->place.line < b->place.line ||
	       (a->place.line == b->place.line && a->place.column < b->place.column);
}

void faults_sort(struct faults *faults, size_t first)
{
	for (size_t i = first + 1; i < faults->count; i++) {
		struct fault fault = faults->list[i];
		size_t at = i;

		for (; at > first && stands_before(&fault, &faults->list[at - 1]); at--)
			faults->list[at] = faults->list[at - 1];
		faults->list[at] = fault;
	}
}

/* Length of a control character at the start: those of ASCII, and those of ISO 6429 (U+0080 to
 * U+009F), which many terminals obey as well; 0 if there is none. */
static size_t control_size(const unsigned char *at)
{
	if (at[0] < ' ' || at[0] == 0x7f)
		return 1;
	return at[0] == 0xc2 && at[1] >= 0x80 && at[1] <= 0x9f ? 2 : 0;
}

/* A user's key may contain any byte; a fault must stay on its line and move no cursor. */
static void add_printable(struct text *text, const char *string)
{
	while (*string) {
		size_t size = control_size((const unsigned char *) string);

		text_add_char(text, size > 0 ? '?' : *string);
		string += size > 0 ? size : 1;
	}
}

static void describe_fault(const struct fault *fault, const char *file, struct text *text)
{
	if (file) {
		add_printable(text, file);
		if (fault->place.line > 0)
			text_addf(text, ":%d:%d", fault->place.line, fault->place.column);
		text_add(text, ": ");
	}
	if (fault->path[0] != '\0') {
		add_printable(text, fault->path);
		text_add(text, ": ");
	}
	add_printable(text, fault->sentence);
	text_add_char(text, '\n');
}

void faults_describe(const struct faults *faults, const char *file, struct text *text)
{
	for (size_t i = 0; i < faults->count; i++)
		describe_fault(&faults->list[i], file, text);
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

/* Older versions of TFJob have the members of v1's spec.runPolicy in spec. */
static struct place place_in_older(const struct document *document, const char *path)
{
	static const char beginning[] = "spec.runPolicy.";
	struct text older CLEANUP(text_done) = {0};

	if (!text_starts_with(path, beginning))
		return document_place(document, path);
	text_addf(&older, "spec.%s", path + strlen(beginning));
	return document_place(document, text_of(&older));
}

struct place field_place(const struct field_reader *reader, const struct field *field)
{
	struct text path CLEANUP(text_done) = {0};
	struct place place;

	if (!reader->document)
		return (struct place){0};
	add_path(field, true, &path);
	if (!document_find(reader->document, text_of(&path), &place) && reader->is_older)
		return place_in_older(reader->document, text_of(&path));
	return place;
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
		if (name_find_word(words, n_words, key) < 0) {
			struct field member = field_member(object, key);

			field_refuse_unknown(reader, &member, words, n_words);
		}
}

/* Kubernetes never converts a number to text. Most users who get that fault wrote YAML without
 * quotes. */
const char *field_text(struct field_reader *reader, const struct field *field,
		       const char *otherwise)
{
	bool is_scalar = !json_is(field->value, JSON_OBJECT) && !json_is(field->value, JSON_ARRAY);

	if (field_is_set(field) && !json_is(field->value, JSON_STRING))
		field_refuse_value(reader, field, "expected text%s",
				   is_scalar ? "; put it in quotes" : "");
	return json_as_string(field->value, otherwise);
}

bool field_bool(struct field_reader *reader, const struct field *field, bool otherwise)
{
	if (field_is_set(field) && !json_is(field->value, JSON_BOOL))
		field_refuse_value(reader, field, "expected true or false");
	return json_as_bool(field->value, otherwise);
}

int64_t field_integer(struct field_reader *reader, const struct field *field, int64_t low,
		      int64_t high, int64_t otherwise)
{
	int64_t number = json_as_integer(field->value, otherwise);

	if (!field_is_set(field))
		return otherwise;
	if (!json_is(field->value, JSON_INTEGER)) {
		field_refuse_value(reader, field, "expected a whole number");
		return otherwise;
	}
	if (number >= low && number <= high)
		return number;

	bool is_low = number < low;
	int64_t limit = is_low ? low : high;

	if (reader_is_strict(reader))
		field_refuse_value(reader, field, "must be %s than or equal to %" PRId64,
				   is_low ? "greater" : "less", limit);
	return limit;
}

msec field_seconds(struct field_reader *reader, const struct field *object, const char *key)
{
	struct field field = field_member(object, key);
	int64_t seconds = field_integer(reader, &field, 0, SECONDS_MAX, -1);

	return seconds < 0 ? -1 : seconds * MSEC_PER_SECOND;
}

void field_refuse_word(struct field_reader *reader, const struct field *field, const char *word,
		       const char *const *words, size_t n_words)
{
	struct text sentence CLEANUP(text_done) = {0};
	const char *separator = "";

	text_addf(&sentence, "Unsupported value: \"%s\": supported values: ", word);
	for (size_t i = 0; i < n_words; i++) {
		text_addf(&sentence, "%s\"%s\"", separator, words[i]);
		separator = ", ";
	}
	add_did_you_mean(&sentence, words, n_words, word);
	field_refuse(reader, field, "%s", text_of(&sentence));
}

int field_word(struct field_reader *reader, const struct field *field, const char *const *words,
	       size_t n_words, int absent, int unknown)
{
	const char *word = field_text(reader, field, NULL);

	if (!word)
		return absent;

	int found = name_find_word(words, n_words, word);

	if (found >= 0)
		return found;
	if (reader_is_strict(reader))
		field_refuse_word(reader, field, word, words, n_words);
	return unknown;
}

bool field_is_object(struct field_reader *reader, const struct field *field)
{
	if (!field_is_set(field))
		return false;
	if (json_is(field->value, JSON_OBJECT))
		return true;
	field_refuse_value(reader, field, "expected an object");
	return false;
}

size_t field_count(struct field_reader *reader, const struct field *field)
{
	if (!field_is_set(field))
		return 0;
	if (json_is(field->value, JSON_ARRAY))
		return json_count(field->value);
	field_refuse_value(reader, field, "expected a list");
	return 0;
}
