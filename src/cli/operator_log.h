/* The log of `muster operator` on stderr: sentences, or an object on each line (--log-format json,
 * as training-operator's --zap-encoder=json). */
#pragma once

#include "command/options.h"

/* From here on the log has the format and the level that the options select. */
void operator_log_begin(const struct options *options);
/* Writes a sentence at any level; `data` is the struct options. */
void operator_log_write(const char *sentence, void *data);
