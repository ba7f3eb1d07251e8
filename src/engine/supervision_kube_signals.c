/* Being asked to end, by signals. */
#include "engine/backend_kube.h"
#include "engine/record.h"
#include "engine/store_kube.h"
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
	struct err err = {0};
	int rc = record_ask_to_stop(supervision->store, supervision->job->name,
				    stop_reason_words[reason], grace, &err);

	if (rc < 0)
		telling_say_trouble(&supervision->telling, err.text);
	supervision->passed_at = 0; /* somebody waits */
	supervision_kube_ask_for_pass(supervision);
}

static void set_exit_code(struct cluster_supervision *supervision, int signal_number)
{
	struct status *status = &supervision->telling.status;

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
		telling_say(&supervision->telling, "the job goes on");
		loop_stop(supervision->loop);
		return;
	}
	telling_say(&supervision->telling,
		    "the job goes on, and nobody watches it: nothing that fails is started again "
		    "until somebody attaches");
	lease_keeper_release(supervision->lease);
}

/* The terminal is gone. */
static void go_on_detached(struct cluster_supervision *supervision)
{
	console_free(TAKE(supervision->telling.console));
	background_leave_terminal();
	supervision->is_detached = true;
	telling_say(&supervision->telling, "the terminal is gone, and the job goes on without it");
}

static void hang_up(struct cluster_supervision *supervision)
{
	if (supervision->phase == PHASE_CLOSING ||
	    (is_attached(supervision) && supervision->role != ROLE_WATCHES))
		leave(supervision, SIGHUP);
	else if (!supervision->is_detached)
		go_on_detached(supervision);
}

/* The second Ctrl-C leaves no time to save, the third one does not wait for the cluster. */
static void interrupt(struct cluster_supervision *supervision)
{
	switch (supervision->n_interrupts++) {
	case 0:
		telling_say_stopping(&supervision->telling, supervision->job, "Pods");
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
	       (!is_attached(supervision) && !has_watched(supervision));
}

/* The job has ended, and it was begun here. */
static bool only_fetches(const struct cluster_supervision *supervision)
{
	return supervision->fetching && status_is_finished(&supervision->telling.status) &&
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

/* While a call of the store is waited for. What the call is about comes before what a signal asks
 * for; one that follows another does not wait for it. */
static void on_held_signal(int number, void *data)
{
	struct cluster_supervision *supervision = data;

	(void) number;
	if (supervision->n_held++ > 0 || supervision->n_interrupts > 0)
		loop_stop(supervision->store_loop);
}

static void on_store_wait(bool is_waiting, void *data)
{
	struct cluster_supervision *supervision = data;

	supervision->n_held = 0;
	if (is_waiting)
		end_signals_hold(&supervision->signals, supervision->store_loop, on_held_signal,
				 supervision);
	else
		end_signals_release(&supervision->signals);
}

void supervision_kube_watch_signals(struct cluster_supervision *supervision)
{
	end_signals_watch(&supervision->signals, supervision->loop, on_signal, supervision);
	store_kube_on_wait(supervision->store, on_store_wait, supervision);
}
