/* Parameters of a template: as written, and with the values of a command line. */
#include "spec/template_parameters.h"

#include "base/mem.h"
#include "base/names.h"
#include "spec/limits.h"

#include <string.h>

#define GENERATOR "expression"

static const char *const parameter_words[] = {
	"name", "displayName", "description", "value", "generate", "from", "required",
};

const struct parameter *parameters_find(const struct parameters *parameters, const char *name)
{
	int index = name_find_word(parameters->names, parameters->count, name);

	return index < 0 ? NULL : &parameters->list[index];
}

static void check_parameter_name(struct parameters *parameters, const struct field *field,
				 const char *name)
{
	if (!name[0] || name[strspn(name, PARAMETER_NAME_CHARACTERS)])
		field_refuse(parameters->reader, field,
			     "Required value: a parameter is named with letters, digits and '_'");
	else if (parameters_find(parameters, name))
		field_refuse(parameters->reader, field,
			     "Duplicate value: \"%s\": another parameter has this name", name);
}

static void read_parameter(struct parameters *parameters, const struct field *field)
{
	static const char *const generators[] = {GENERATOR};
	struct field_reader *reader = parameters->reader;
	struct field name = field_member(field, "name");
	struct field description = field_member(field, "description");
	struct field value = field_member(field, "value");
	struct field generator = field_member(field, "generate");
	struct field from = field_member(field, "from");
	struct field required = field_member(field, "required");
	struct template_parameter written = {
		.name = field_text(reader, &name, ""),
		.description = field_text(reader, &description, NULL),
		.value = field_text(reader, &value, NULL),
		.generator = field_text(reader, &generator, NULL),
		.from = field_text(reader, &from, ""),
		.is_required = field_bool(reader, &required, false),
	};

	if (field_is_object(reader, field))
		field_check_members(reader, field, parameter_words, ARRAY_LEN(parameter_words));
	check_parameter_name(parameters, &name, written.name);
	if (written.generator && written.generator[0])
		(void) field_word(reader, &generator, generators, ARRAY_LEN(generators), 0, 0);
	else
		written.generator = NULL;
	parameters->names[parameters->count] = written.name;
	parameters->list[parameters->count++] =
		(struct parameter){written, written.value ? written.value : ""};
}

void parameters_read(struct parameters *parameters, const struct field *root)
{
	struct field list = field_member(root, "parameters");
	size_t count = field_count(parameters->reader, &list);

	if (count > LIMIT_PARAMETERS) {
		field_refuse(parameters->reader, &list, "Too many: must have at most %d parameters",
			     LIMIT_PARAMETERS);
		return;
	}
	parameters->list = arena_take_array(parameters->arena, count, sizeof(*parameters->list));
	parameters->names = arena_take_array(parameters->arena, count, sizeof(*parameters->names));
	for (size_t i = 0; i < count; i++) {
		struct field element = field_element(&list, i);

		read_parameter(parameters, &element);
	}
}

/* Values of this command line. */

static const char *given_value(const struct parameters *parameters, const char *name)
{
	for (size_t i = parameters->call->n_values; i-- > 0;)
		if (text_equals(parameters->call->values[i].name, name))
			return parameters->call->values[i].value;
	return NULL;
}

static const char *generate(struct parameters *parameters, const struct field *field,
			    const struct template_parameter *written)
{
	struct field from = field_member(field, "from");
	struct text text CLEANUP(text_done) = {0};
	struct err err;

	if (random_text_add(&text, written->from, parameters->call->random, &err) < 0)
		field_refuse(parameters->reader, &from, "Invalid value: %s", err.text);
	return arena_copy_text(parameters->arena, text_of(&text));
}

static void refuse_missing(struct parameters *parameters, const struct field *field,
			   const struct template_parameter *written)
{
	const char *description = written->description ? written->description : "";

	field_refuse(parameters->reader, field,
		     "Required value: give parameter %s one (-p %s=VALUE)%s%.200s", written->name,
		     written->name, description[0] ? ": " : "", description);
}

/* A given value wins, also an empty text, which prevents a generated one. */
static void set_value(struct parameters *parameters, const struct field *field,
		      struct parameter *parameter)
{
	const struct template_parameter *written = &parameter->written;
	const char *given = given_value(parameters, written->name);
	size_t n_refused = parameters->reader->n_refused;

	if (given)
		parameter->value = given;
	else if (!parameter->value[0] && written->generator)
		parameter->value = generate(parameters, field, written);
	if (written->is_required && !parameter->value[0] &&
	    parameters->reader->n_refused == n_refused)
		refuse_missing(parameters, field, written);
}

void parameters_add_nearest(const struct parameters *parameters, const char *name,
			    struct text *sentence)
{
	const char *nearest = name_nearest(parameters->names, parameters->count, name);

	if (nearest)
		text_addf(sentence, "; did you mean %s?", nearest);
}

void parameters_add_unknown(const struct parameters *parameters, const char *name,
			    struct text *sentence)
{
	text_addf(sentence, "unknown parameter %.100s", name);
	parameters_add_nearest(parameters, name, sentence);
}

/* They have no place in the document. */
static void refuse_unknown_values(struct parameters *parameters)
{
	for (size_t i = 0; i < parameters->call->n_values; i++) {
		const char *name = parameters->call->values[i].name;
		struct text sentence CLEANUP(text_done) = {0};

		if (parameters_find(parameters, name))
			continue;
		parameters_add_unknown(parameters, name, &sentence);
		fault_add(parameters->reader->faults, (struct place){0}, "", "%s",
			  text_of(&sentence));
		parameters->reader->n_refused++;
	}
}

void parameters_set(struct parameters *parameters, const struct field *root)
{
	struct field list = field_member(root, "parameters");

	refuse_unknown_values(parameters);
	for (size_t i = 0; i < parameters->count; i++) {
		struct field element = field_element(&list, i);

		set_value(parameters, &element, &parameters->list[i]);
	}
}
