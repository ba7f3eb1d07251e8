/* What flags change in a job that came from a file. */
#pragma once

#include "base/json.h"
#include "command/options.h"
#include "command/variables.h"

#include <stdbool.h>

/* Makes a document as it was written a new job: --name, or a name from metadata.generateName; and
 * without what belongs to one that ran (status, uid, a request to stop), so that what `status -o
 * json` prints can be run again. */
void job_override_identity(const struct options *options, struct json *root);

/* True when a flag changes more than the name. */
bool job_override_is_needed(const struct options *options, const struct variables *variables);
/* Changes a normalised document: --env and --env-file go to the container that trains, behind its
 * own; --max-restarts, --restart-scope, --timeout and --grace to the run policy. Roles that would
 * never be restarted are restarted on failure when --max-restarts asks for it. */
void job_override(const struct options *options, const struct variables *variables,
		  struct json *document);
