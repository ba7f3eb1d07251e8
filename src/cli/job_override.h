/* Changes that options make in a job from a file. */
#pragma once

#include "base/json.h"
#include "command/options.h"
#include "command/variables.h"

#include <stdbool.h>

/* Makes a written document a new job: sets --name, or a name from metadata.generateName, and
 * removes what belongs to an earlier run (status, uid, a stop request). So the output of `status -o
 * json` can be run again. */
void job_override_identity(const struct options *options, struct json *root);

/* Whether an option changes more than the name. */
bool job_override_is_needed(const struct options *options, const struct variables *variables);
/* Changes a normalized document. --env and --env-file are added to the training container, after
 * its own variables; --max-restarts, --restart-scope, --timeout and --grace to the run policy. With
 * --max-restarts, roles whose policy is never to restart are restarted on failure. */
void job_override(const struct options *options, const struct variables *variables,
		  struct json *document);
