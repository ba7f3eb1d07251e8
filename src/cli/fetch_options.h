/* The option --fetch of `run` and `render`: ROLE-INDEX:/PATH[:DEST]. */
#pragma once

#include "base/json.h"
#include "base/text.h"
#include "command/options.h"

#include <stddef.h>

/* Where the folders go that a call says, in its order. Zero it to begin. */
struct fetch_places {
	char **list; /* absolute paths of this machine; NULL: the call does not say where */
	size_t count;
};

/* Reads the option into places, and into a TFJob document, where it takes the place of what was
 * named there. What is wrong, or a place that lies in no folder, is a line of `faults` each. */
void fetch_options_add(const struct options *options, struct json *document,
		       struct fetch_places *places, struct text *faults);
void fetch_places_done(struct fetch_places *places);
