/* The outer side of a supervisor: it forks, waits and reports to the user.
 *
 * Attached: guard_fork splits the process in two. Both return to the caller: the inner one when the
 * job has finished, the outer one once no process is left, with the same exit code.
 *
 * Detached: first forks a daemon (supervise/background.h), which does the same without a terminal.
 * Its parent waits until the first replicas were started. */
#include "local/supervisor.h"

#include "base/exit_code.h"
#include "base/mem.h"
#include "io/guard.h"
#include "io/log.h"
#include "io/own_group.h"
#include "jobs/orphaned_job.h"
#include "jobs/uid.h"
#include "local/supervision.h"
#include "store/store.h"

#include <stdlib.h>
#include <string.h>

static int clean_up_orphaned_run(const struct supervisor_request *request, struct err *err)
{
	struct store *store CLEANUP(store_cleanup) = NULL;
	int rc = store_sqlite_open(request->base.state_folder, &store, err);

	return rc < 0 ? rc
		      : orphaned_job_clean_up(store, request->job->name, request->job->uid, err);
}

/* The inner process was killed or crashed. Its descendants were killed already; the rest is to
 * report it, on the terminal and in the record. */
static int report_supervisor_lost(const struct supervisor_request *request, int signal_number,
				  struct err *err)
{
	const char *name = request->job->name;
	int rc = clean_up_orphaned_run(request, err);

	if (rc < 0)
		return err_prefix(err, "muster itself was killed, so job '%s' was stopped", name);
	return err_set(err, ERR_IO,
		       "muster itself was killed by signal %d (SIG%s), so job '%s' was stopped",
		       signal_number, sigabbrev_np(signal_number), name);
}

/* NULL if there can be none. Slurm has one for each step, signals all processes in it, and kills
 * them at the end. */
static char *make_group(void)
{
	char *group = NULL;
	struct err err;

	if (getenv("SLURM_JOB_ID"))
		return NULL;
	if (own_group_create(&group, &err) < 0)
		log_debug("no control group for the job: %s", err.text);
	return group;
}

/* Splits into outer and inner, and returns in both. */
static int supervise_local_job(background_started_fn started, void *background, int *ret_exit_code,
			       struct err *err, void *data)
{
	const struct supervisor_request *request = data;
	char *group CLEANUP(mem_free_text) = make_group();
	struct guard guard;
	int rc = guard_fork(group, &guard, err);

	if (rc < 0)
		return rc;
	if (guard.is_inner) {
		guard_leave_group();
		rc = supervision_local_run(request, &guard, started, background, ret_exit_code,
					   err);
		if (group && guard_is_outer_gone(&guard))
			own_group_end(group);
		return rc;
	}
	if (guard.was_lost)
		return report_supervisor_lost(request, guard.exit_code - EXIT_BY_SIGNAL, err);
	if (guard.exit_code == EXIT_BUG) /* it has printed why; a job may also exit with this
					    code */
		rc = clean_up_orphaned_run(request, err);
	*ret_exit_code = guard.exit_code;
	return rc;
}

int supervisor_run(const struct supervisor_request *request, int *ret_exit_code, struct err *err)
{
	if (!request->is_resumed)
		job_uid_set_new(request->job);
	return background_run(request->base.is_detached, supervise_local_job, (void *) request,
			      ret_exit_code, err);
}
