/* What programs and servers say, made fit for reports. For the files of core/check* alone. */
#pragma once

#include "core/check_facts.h"

/* A copy in the check's arena: one line of some hundred bytes at most, without colours and whatever
 * else a terminal would do more with than show. NULL gives NULL. */
const char *check_copy_words(struct check *check, const char *words);
