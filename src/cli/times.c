#include "cli/times.h"

#include <unistd.h>

bool times_are_local(const struct options *options)
{
	return !option_flag(options, "utc") && isatty(STDOUT_FILENO);
}
