/* Templates with parameters: OpenShift's `kind: Template`, as `oc process` reads it.
 *
 * `${NAME}` in a text or a key is replaced by the value of a parameter. A text that is only
 * `${{NAME}}` becomes the number, boolean, list or object that the value is as JSON (or the value
 * as text if it is no JSON). Values are inserted once: references in them are not replaced. As in
 * `oc process`, a hard-coded namespace of an object is removed, and the template's labels are added
 * to each object. Source of the rules: library-go, pkg/template. */
#pragma once

#include "base/own.h"
#include "base/yaml.h"
#include "spec/job.h"

/* A value from the caller; of two for one name the later one is used. */
struct template_value {
	const char *name;
	const char *value;
};

/* Fills the bytes with random ones; passed in, because this layer has no source of its own. */
typedef void (*random_bytes_fn)(void *bytes, size_t len);

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

bool template_is(const struct json *root);

/* Makes the objects of a template. ERR_INVALID when there is a fault: all of them are added, in the
 * order of their places, and nothing else is changed. Possible errors go into `notes`: names in
 * ${…} that are no parameters, which stay unchanged, since shell variables have the same form. The
 * documents have the places of the template, and must not outlive it. Caller frees them with
 * documents_free. */
int template_make(const struct document *document, const struct template_call *call,
		  struct faults *faults, struct faults *notes, struct document ***ret_objects,
		  size_t *ret_count) MUST_USE;

/* The template's parameters, whatever its objects are. ERR_INVALID as above. */
int template_parameters(const struct document *document, struct faults *faults,
			struct template_parameter **ret_parameters, size_t *ret_count) MUST_USE;

/* Adds the pattern with random characters for each "[SET]{N}" in it, 1 to 255 of them: "[A-Z]{3}"
 * or "pass-[a-zA-Z0-9]{8}". A set has letters, digits, ranges of them, and \d (digits), \a (letters
 * and digits), \w (these and '_') or \A (punctuation); all other text stays unchanged. A range
 * includes both ends, whereas OpenShift excludes the last one (its ExpressionValueGenerator,
 * library-go). ERR_INVALID; ERR_LIMIT for more than LIMIT_RANDOM_TEXT bytes. */
int random_text_add(struct text *text, const char *pattern, random_bytes_fn random,
		    struct err *err) MUST_USE;
