/* Replicas in a sentence, those next to each other as one range. */
#pragma once

#include "base/own.h"
#include "base/text.h"
#include "status/status.h"

#include <stdbool.h>

/* Adds "worker-3", or "worker-3 to worker-9" where they are several. */
void replica_names_add_range(struct text *text, const char *role, int first, int last);

/* Adds those that `is_named` is true of: "ps-0, ps-1, worker-0 to worker-1999", and behind a few
 * ranges "and 12 more". Nothing where there are none. */
void replica_names_add(struct text *text, const struct status *status,
		       bool (*is_named)(const struct replica_status *replica));
