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

/* A value that the caller gives; of two for one name the later one counts. */
struct template_value {
	const char *name;
	const char *value;
};

struct template_call {
	const struct template_value *values;
	size_t n_values;
	random_bytes_fn random; /* for what is generated */
};

/* As it is written; these are the document's texts. */
struct template_parameter {
	const char *name;
	const char *description; /* NULL: none; these are the document's texts */
	const char *value; /* the default, NULL: none */
	const char *generator; /* "expression"; NULL: none */
	const char *from; /* the pattern of what is generated; "" without one */
	bool is_required;
};

/* What a name consists of. */
#define PARAMETER_NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

struct parameter {
	struct template_parameter written;
	const char *value; /* of this call; "" where there is none */
};

struct parameters {
	struct field_reader *reader; /* of the document */
	const struct template_call *call; /* NULL where values are not asked for */
	struct arena *arena; /* of what is generated; the caller's, as the others */
	struct parameter *list;
	const char **names; /* in the same order */
	size_t count;
};

/* Reads the parameters of a template's root. */
void parameters_read(struct parameters *parameters, const struct field *root);
/* Gives them their values: what the call gives, what is written, what is generated. */
void parameters_set(struct parameters *parameters, const struct field *root);
const struct parameter *parameters_find(const struct parameters *parameters, const char *name);
/* "; did you mean NAME?" where a name is near; and the whole "unknown parameter …". */
void parameters_add_nearest(const struct parameters *parameters, const char *name,
			    struct text *sentence);
void parameters_add_unknown(const struct parameters *parameters, const char *name,
			    struct text *sentence);
