/* Cores that this process and its children may use. */
#pragma once

/* As its affinity leaves them, and the quotas of its control groups (docker run --cpus 1.5), which
 * may be parts of cores. More than 0. */
double cores_usable(void);
/* Whole ones of them, at least 1. */
int cores_count(void);
