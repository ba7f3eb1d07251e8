/* Variables of an environment, for tests. */
#pragma once

#include "spec/environment.h"

#include <string.h>

/* NULL when there is none of that name. */
static inline const char *environment_get(const struct environment *environment, const char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < environment->count; i++)
		if (!strncmp(environment->entries[i], name, len) &&
		    environment->entries[i][len] == '=')
			return environment->entries[i] + len + 1;
	return NULL;
}
