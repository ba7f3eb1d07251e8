/* Tables of the fields (base/fields.h) of what a status lists for each replica. Their first two
 * fields are a role and an index. */
#pragma once

#include "base/fields.h"

extern const struct field status_replica_fields[];
extern const struct field status_consequence_fields[];
