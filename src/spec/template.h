/* Templates with parameters: OpenShift's `kind: Template`, as `oc process` reads it.
 *
 * `${NAME}` in a text or a key becomes the value of a parameter; a text that is `${{NAME}}` and
 * nothing else becomes the number, boolean, list or object that the value is as JSON (the value as
 * text where it is none). Values are put in once: what they hold is not looked at again. A
 * hard-coded namespace of an object is left out, and the template's labels are put on each, as
 * there. Source of the rules: library-go, pkg/template. */
#pragma once

#include "base/own.h"
#include "base/text.h"
#include "base/yaml.h"
#include "spec/job.h"
#include "spec/template_parameters.h"

#include <stdbool.h>
#include <stddef.h>

bool template_is(const struct json *root);

/* Makes the objects of a template. ERR_INVALID when there is a fault: all of them are told, in the
 * order of their places, and nothing else is changed. What is no fault and yet may be a mistake
 * goes into `notes`: names in ${…} that are no parameters, which stay as they are, since a shell's
 * variables are written so. The documents have the places of the template, and must not outlive it.
 * Caller frees them with documents_free. */
int template_make(const struct document *document, const struct template_call *call,
		  struct faults *faults, struct faults *notes, struct document ***ret_objects,
		  size_t *ret_count) MUST_USE;

/* What may be given: the template's parameters, whatever its objects are. ERR_INVALID as above. */
int template_parameters(const struct document *document, struct faults *faults,
			struct template_parameter **ret_parameters, size_t *ret_count) MUST_USE;
