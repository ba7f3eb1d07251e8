/* Parameters of a template. Callers of spec/template.h need the first three structs; the rest is
 * for spec/template.c. */
#pragma once

#include "base/mem.h"
#include "base/own.h"
#include "base/text.h"
#include "spec/job_field.h"
#include "spec/random_text.h"

#include <stdbool.h>
#include <stddef.h>

/* A value from the caller; of two for one name the later one is used. */
struct template_value {
	const char *name;
	const char *value;
};

struct template_call {
	const struct template_value *values;
	size_t n_values;
	random_bytes_fn random; /* for generated values */
};

/* A parameter as written; texts are borrowed from the document. */
struct template_parameter {
	const char *name;
	const char *description; /* NULL: none */
	const char *value; /* the default, NULL: none */
	const char *generator; /* "expression"; NULL: none */
	const char *from; /* the pattern for the generator; "" without one */
	bool is_required;
};

/* The characters of a name. */
#define PARAMETER_NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

struct parameter {
	struct template_parameter written;
	const char *value; /* for this command; "" if there is none */
};

struct parameters {
	struct field_reader *reader; /* of the document */
	const struct template_call *call; /* NULL if values are not needed */
	struct arena *arena; /* of generated values; the caller's, as the others */
	struct parameter *list;
	const char **names; /* in the same order */
	size_t count;
};

/* Reads the parameters of a template's root. */
void parameters_read(struct parameters *parameters, const struct field *root);
/* Sets their values: from the caller, from the document, or generated. */
void parameters_set(struct parameters *parameters, const struct field *root);
const struct parameter *parameters_find(const struct parameters *parameters, const char *name);
/* "; did you mean NAME?" if a similar name exists; and the whole "unknown parameter …". */
void parameters_add_nearest(const struct parameters *parameters, const char *name,
			    struct text *sentence);
void parameters_add_unknown(const struct parameters *parameters, const char *name,
			    struct text *sentence);
