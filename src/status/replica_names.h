/* Lists replicas in a sentence, adjacent ones as one range. */
#pragma once

#include "base/own.h"
#include "base/text.h"
#include "status/status.h"

#include <stdbool.h>

/* Appends "worker-3", or "worker-3 to worker-9" if first and last differ. */
void replica_names_add_range(struct text *text, const char *role, int first, int last);

/* Appends "2 of 6", or "2 to 3 of 6" for several. */
void replica_names_add_ranks(struct text *text, int first, int count, int n_ranks);

/* Appends the replicas for which `is_named` is true: "ps-0, ps-1, worker-0 to worker-1999", and
 * after a few ranges "and 12 more". Appends nothing if there are none. */
void replica_names_add(struct text *text, const struct status *status,
		       bool (*is_named)(const struct replica_status *replica));
