/* Cores that this process and its children may use. */
#pragma once

/* Limited by its affinity and by the quotas of its control groups (docker run --cpus 1.5), which
 * may be fractions of cores. More than 0. */
double cores_usable(void);
/* The number rounded down, at least 1. */
int cores_count(void);
