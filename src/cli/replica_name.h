/* "worker-1", as people name a replica. Pure. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "logs/name.h"

#include <stdbool.h>
#include <stddef.h>

/* A whole word of a call. ERR_INVALID says what one looks like. */
int replica_name_take(const char *word, char **ret_role, int *ret_index, struct err *err) MUST_USE;
/* The same as the name of its logs, whose attempt is 0. */
int replica_name_take_log_name(const char *word, struct log_name *ret_name,
			       struct err *err) MUST_USE;
/* Reads the first `len` bytes of a text; false where they are none. Caller frees the role. */
bool replica_name_read(const char *text, size_t len, char **ret_role, int *ret_index) MUST_USE;
