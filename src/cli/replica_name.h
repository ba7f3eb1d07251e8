/* "worker-1", the name of a replica on a command line. Pure. */
#pragma once

#include "base/err.h"
#include "base/own.h"
#include "logs/name.h"

#include <stdbool.h>
#include <stddef.h>

/* Reads a whole word. ERR_INVALID shows a valid name. */
int replica_name_take(const char *word, char **ret_role, int *ret_index, struct err *err) MUST_USE;
/* The same as the name of its logs, with attempt 0. */
int replica_name_take_log_name(const char *word, struct log_name *ret_name,
			       struct err *err) MUST_USE;
/* Reads the first `len` bytes of a text; false if they are no name. Caller frees the role. */
bool replica_name_read(const char *text, size_t len, char **ret_role, int *ret_index) MUST_USE;
