/* What a check is asked to do on this machine, and how it is shown. */
#pragma once

#include "core/check_request.h"

#include <stdbool.h>

struct check_run_settings {
	const struct check_request *request;
	const char *state_folder; /* $XDG_STATE_HOME/muster */
	const char *format; /* "text", "json", "junit" */
	bool is_verbose;
	const char *color; /* "auto", "always", "never" */
};
