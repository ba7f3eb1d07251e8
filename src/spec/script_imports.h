/* Which framework a Python script imports, by its own import statements. Pure. */
#pragma once

#include <stdbool.h>

/* Whether it imports PyTorch, or a library on top of it, and neither TensorFlow nor JAX. Processes
 * of PyTorch choose a GPU among all by LOCAL_RANK; those of TensorFlow and JAX take every GPU that
 * they see. */
bool script_is_for_torch(const char *text);
