/* Exit codes of muster (muster(1), EXIT STATUS) and of what it starts. */
#pragma once

enum exit_code {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_NOT_REACHED = 3,
	EXIT_REFUSED = 4,
	EXIT_NO_PROGRESS = 5,
	EXIT_BUG = 70, /* an internal error, or no memory */
	EXIT_OVERDUE = 124, /* as timeout(1) */
	EXIT_INTERNAL = 125, /* muster's error, not the training's */
	EXIT_CANNOT_RUN = 126, /* as env(1) and shells */
	EXIT_NO_PROGRAM = 127,
	EXIT_BY_SIGNAL = 128, /* plus the signal's number, as in shells */
};
