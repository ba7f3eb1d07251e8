/* Runs a check on this machine: guard, loop and console around check/check. */
#pragma once

#include "base/err.h"
#include "check/request.h"

struct check_run_settings {
	const struct check_request *request;
	const char *state_folder; /* $XDG_STATE_HOME/muster */
	bool is_json; /* the report is an object on stdout, everything else on stderr */
	bool is_verbose;
	const char *color; /* "auto", "always", "never" */
};

/* Returns in two processes (io/guard.h), in the outer one last and with the same exit code; the
 * caller returns from main in both. It returns when the report is printed and no process of the
 * check is left. With --setup-only there is no guard, since the servers should stay. An error is an
 * internal error: nothing was started, or all of it was ended. */
int check_run(const struct check_run_settings *settings, int *ret_exit_code,
	      struct err *err) MUST_USE;
