/* Being asked to end, by signals. */
#include "engine/backend_kube.h"
#include "engine/supervision_kube_parts.h"

#include <signal.h>

/* Before anything is begun: the call that is under way is waited for, so that it is known what to
 * take back; a second signal gives it up. */
static void on_early_signal(int number, void *data)
{
	struct cluster_supervision *supervision = data;

	if (supervision->ended_by || is_attached(supervision))
		loop_stop(supervision->loop);
	supervision->ended_by = number;
}

void supervision_kube_watch_early_signals(struct cluster_supervision *supervision)
{
	end_signals_watch(&supervision->signals, supervision->loop, on_early_signal, supervision);
}

static void ask_to_stop(struct cluster_supervision *supervision, enum stop_reason reason,
			msec grace)
{
	driver_ask_to_stop(supervision->driver, reason, grace);
	supervision_kube_ask_for_pass(supervision);
}

static void set_exit_code(struct cluster_supervision *supervision, int signal_number)
{
	struct status *status = &supervision->reporter.status;

	if (!status_is_finished(status))
		status->exit_code = EXIT_BY_SIGNAL + signal_number;
}

/* Without waiting for anything more. */
static void leave(struct cluster_supervision *supervision, int signal_number)
{
	set_exit_code(supervision, signal_number);
	loop_stop(supervision->loop);
}

/* Who attached only wanted to look on: the job is as it was before. */
static void leave_running(struct cluster_supervision *supervision, int signal_number)
{
	bool is_again = supervision->phase == PHASE_LEAVING;

	supervision->phase = PHASE_LEAVING;
	set_exit_code(supervision, signal_number);
	if (is_again || !supervision_kube_may_act(supervision)) {
		reporter_say(&supervision->reporter, "the job goes on");
		loop_stop(supervision->loop);
		return;
	}
	reporter_say(&supervision->reporter,
		     "the job goes on without an active supervisor: nothing that fails is started "
		     "again until somebody attaches");
	lease_keeper_release(supervision->lease);
}

/* The terminal is gone. */
static void go_on_detached(struct cluster_supervision *supervision)
{
	console_free(TAKE(supervision->reporter.console));
	background_leave_terminal();
	supervision->is_detached = true;
	reporter_say(&supervision->reporter,
		     "the terminal is gone, and the job goes on without it");
}

static void hang_up(struct cluster_supervision *supervision)
{
	if (supervision->phase == PHASE_CLOSING ||
	    (is_attached(supervision) && supervision->role != ROLE_SUPERVISES))
		leave(supervision, SIGHUP);
	else if (!supervision->is_detached)
		go_on_detached(supervision);
}

/* The second Ctrl-C leaves no time to save, the third one does not wait for the cluster. */
static void interrupt(struct cluster_supervision *supervision)
{
	switch (supervision->n_interrupts++) {
	case 0:
		reporter_say_stopping(&supervision->reporter, supervision->job, "Pods");
		ask_to_stop(supervision, STOP_INTERRUPTED, -1);
		break;
	case 1:
		(void) supervision_kube_give_up_fetching(supervision, EXIT_BY_SIGNAL + SIGINT);
		ask_to_stop(supervision, STOP_INTERRUPTED, 0);
		break;
	default:
		leave(supervision, SIGINT);
		break;
	}
}

/* There is nothing to stop: it has ended, or was never begun. */
static bool has_nothing_to_stop(const struct cluster_supervision *supervision)
{
	return supervision->phase == PHASE_CLOSING || supervision->phase == PHASE_FINISHED ||
	       (supervision->phase == PHASE_LEAVING && supervision->unsaved) ||
	       (!is_attached(supervision) && !has_supervised(supervision));
}

/* The job has ended, and it was begun here. */
static bool only_fetches(const struct cluster_supervision *supervision)
{
	return supervision->fetching && status_is_finished(&supervision->reporter.status) &&
	       (!is_attached(supervision) || supervision->is_detached);
}

static void on_signal(int number, void *data)
{
	struct cluster_supervision *supervision = data;

	if (number == SIGHUP)
		hang_up(supervision);
	else if (only_fetches(supervision) &&
		 supervision_kube_give_up_fetching(supervision, EXIT_BY_SIGNAL + number))
		return;
	else if (has_nothing_to_stop(supervision))
		leave(supervision, number);
	else if (is_attached(supervision) && !supervision->is_detached)
		leave_running(supervision, number);
	else if (number == SIGINT)
		interrupt(supervision);
	else
		ask_to_stop(supervision, number == SIGQUIT ? STOP_INTERRUPTED : STOP_TERMINATED,
			    number == SIGQUIT ? 0 : -1);
}

void supervision_kube_watch_signals(struct cluster_supervision *supervision)
{
	end_signals_watch(&supervision->signals, supervision->loop, on_signal, supervision);
}
