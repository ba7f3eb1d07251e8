/* What `muster operator` says on stderr: sentences, or an object on each line (--log-format json,
 * as training-operator's --zap-encoder=json). */
#pragma once

#include "command/options.h"

/* From here on what is logged goes the way that the options choose, and at their level. */
void operator_log_begin(const struct options *options);
/* A sentence that people should know in any case; `data` is the struct options. */
void operator_log_write(const char *sentence, void *data);
