#include "engine/check_run.h"

#include "base/mem.h"
#include "engine/check_supervision.h"
#include "io/guard.h"

#include <string.h>

#define EXIT_BY_SIGNAL 128

/* The inner process was killed or crashed; what it had started is gone already. The records of its
 * jobs are settled by whoever reads them next. */
static int tell_of_loss(const struct guard *guard, struct err *err)
{
	int number = guard->exit_code - EXIT_BY_SIGNAL;

	return err_set(err, ERR_IO,
		       "muster itself was killed by signal %d (SIG%s), so the check was ended",
		       number, sigabbrev_np(number));
}

int check_run(const struct check_run_settings *settings, int *ret_exit_code, struct err *err)
{
	struct guard guard;

	/* What it sets up stays, so there is nothing to guard. */
	if (settings->request->is_setup_only)
		return check_supervision_run(settings, -1, ret_exit_code, err);
	int rc = guard_fork(&guard, err);

	if (rc < 0)
		return rc;
	if (guard.is_inner) {
		guard_leave_group();
		return check_supervision_run(settings, guard.outer_gone_fd, ret_exit_code, err);
	}
	if (guard.was_lost)
		return tell_of_loss(&guard, err);
	*ret_exit_code = guard.exit_code;
	return 0;
}
