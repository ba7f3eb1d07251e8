/* The memory that this process has from the system. */
#pragma once

/* Gives back what is free, between pieces still in use too: after a burst of work, in a process
 * that goes on for long. Costs about a millisecond for each 30 MB. */
void heap_give_back(void);
