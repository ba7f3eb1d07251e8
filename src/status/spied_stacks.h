/* Converts the output of py-spy (https://github.com/benfred/py-spy, `py-spy dump --json`, 0.4) for
 * Python processes into a file of stacks (status/stacks.h). Pure. */
#pragma once

#include "base/text.h"

/* Appends that file's text. `output` has our own lines, which begin with "# " as in that file, and
 * after each "# process …" an array of threads as py-spy prints it. */
void spied_stacks_add(struct text *text, const char *output);
