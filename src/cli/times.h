/* In which time zone a command shows times: a person at a terminal reads this machine's, a program
 * UTC. */
#pragma once

#include "cli/options.h"

#include <stdbool.h>

/* The row of the option that decides, for a command's table. */
#define UTC_ROW                                                                                    \
	{                                                                                          \
		.name = "utc", .kind = OPTION_FLAG,                                                \
		.one_line = "times in UTC also on a terminal, where they are local"                \
	}

/* Whether stdout gets times of this machine's time zone. */
bool times_are_local(const struct options *options);
