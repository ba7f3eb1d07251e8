/* The option --fetch of `run` and `render`: ROLE-INDEX:/PATH[:DEST]. */
#pragma once

#include "base/json.h"
#include "base/text.h"
#include "command/options.h"

#include <stddef.h>

/* The destinations of a command line, in its order. Zero it to begin. */
struct fetch_places {
	char **list; /* absolute paths of this machine; NULL: no destination was given */
	size_t count;
};

/* Reads the option into places, and into a TFJob document, where it replaces the fetches of the
 * document. Each error, also a destination whose parent directory is missing, is a line of
 * `faults`. */
void fetch_options_add(const struct options *options, struct json *document,
		       struct fetch_places *places, struct text *faults);
void fetch_places_done(struct fetch_places *places);
