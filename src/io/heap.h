/* Returns unused memory of this process to the system. */
#pragma once

/* Returns free memory, also between pieces in use: for a long-running process after a burst of
 * work. Costs about a millisecond for each 30 MB. */
void heap_give_back(void);
