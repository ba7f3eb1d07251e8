#include "check/run.h"

#include "base/exit_code.h"
#include "base/text.h"
#include "check/check.h"
#include "check/console.h"
#include "check/findings.h"
#include "check/jobs.h"
#include "check/judge.h"
#include "io/child.h"
#include "io/guard.h"

#include <signal.h>
#include <string.h>

/* This file only translates: a line, the end of a child, a signal or a timer updates check/check.
 * Then its wishes are executed: wanted jobs are started, unwanted ones ended. */
/* One SIGINT may arrive twice: timeout(1) sends it to its child and to the child's group. */
#define SAME_KEY_PRESS ((msec) 200)

struct check_supervision {
	const struct check_run_settings *settings;
	struct check check;
	struct loop *loop;
	struct check_jobs *jobs;
	struct check_reach *reach; /* NULL: the servers test the network themselves */
	struct check_console *console;
	struct loop_watch *timer;
	struct loop_watch *outer_gone;
	struct loop_watch *signals[5];
	instant interrupted_at; /* INSTANT_UNSET: not yet */
	bool has_news; /* since the wishes were last executed */
	bool is_reported;
	int exit_code;
};

static void on_check_news(void *data)
{
	struct check_supervision *supervision = data;

	supervision->has_news = true;
	if (!supervision->is_reported)
		loop_timer_arm_after(supervision->timer, 0);
}

/* Events. */

static void stop_loop(void *data)
{
	struct check_supervision *supervision = data;

	loop_stop(supervision->loop);
}

static void report(struct check_supervision *supervision)
{
	struct check *check = &supervision->check;

	supervision->is_reported = true;
	supervision->exit_code = check_exit_code(check);
	loop_timer_arm(supervision->timer, INSTANT_NEVER);
	if (check->result == CHECK_GOOD)
		check_jobs_delete(supervision->jobs);
	check_console_finish(supervision->console, check, stop_loop, supervision);
}

/* Before a step is given up, paused processes are recorded: they cannot answer. */
static void check_step_deadline(struct check_supervision *supervision, instant now)
{
	struct check *check = &supervision->check;
	bool is_over = instant_has_come(check_wake_at(check), now);

	if (is_over || check_suspects(check))
		check_jobs_find_stopped(supervision->jobs);
	if (is_over)
		check_look(check, now);
}

static void on_check_timer(void *data)
{
	struct check_supervision *supervision = data;
	struct check *check = &supervision->check;
	instant now = loop_monotonic_now();

	supervision->has_news = false;
	check_step_deadline(supervision, now);
	check_jobs_serve(supervision->jobs);
	instant kill_at = check_jobs_escalate_signal(supervision->jobs, now);

	if (supervision->has_news) {
		loop_timer_arm(supervision->timer, now);
	} else if (check_is_over(check)) {
		report(supervision);
	} else {
		check_console_show(supervision->console, check);
		loop_timer_arm(supervision->timer, instant_min(kill_at, check_wake_at(check)));
	}
}

/* Interrupts. */

static void on_check_signal(int number, void *data)
{
	struct check_supervision *supervision = data;
	instant now = loop_monotonic_now(), before = supervision->interrupted_at;

	if (supervision->is_reported) {
		/* Only the terminal is still waited for, and a user who asks to stop does not want
		 * to see it. */
		loop_stop(supervision->loop);
		return;
	}
	if (instant_is_set(before) && instant_since(before, now) < SAME_KEY_PRESS)
		return;
	supervision->interrupted_at = now;
	if (instant_is_set(before) || number == SIGQUIT)
		check_jobs_speed_up(supervision->jobs);
	check_interrupt(&supervision->check, number, loop_monotonic_now());
	on_check_news(supervision);
}

/* The outer process was killed: if we were killed next, no process would end our jobs. */
static void on_check_outer_killed(void *data)
{
	struct check_supervision *supervision = data;

	loop_watch_enable(supervision->outer_gone, false);
	check_jobs_kill(supervision->jobs);
	child_kill_all(NULL, NULL);
	supervision->exit_code = EXIT_FAILED;
	loop_stop(supervision->loop);
}

static void on_child_signal(int number, void *data)
{
	struct check_supervision *supervision = data;

	(void) number;
	check_jobs_reap(supervision->jobs);
}

/* Set-up. */

/* A signal that was ignored at our start (nohup, `&` in a script) stays ignored. */
static void watch_check_signals(struct check_supervision *supervision)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction action;

	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		if (sigaction(numbers[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			supervision->signals[i] = loop_watch_signal(supervision->loop, numbers[i],
								    on_check_signal, supervision);
	supervision->signals[4] =
		loop_watch_signal(supervision->loop, SIGCHLD, on_child_signal, supervision);
}

static int set_up_check_run(struct check_supervision *supervision, int outer_gone_fd,
			    struct err *err)
{
	const struct check_run_settings *settings = supervision->settings;
	int rc = loop_new(&supervision->loop, err);

	if (rc < 0)
		return rc;
	watch_check_signals(supervision);
	supervision->timer = loop_new_timer(supervision->loop, on_check_timer, supervision);
	if (outer_gone_fd >= 0)
		supervision->outer_gone = loop_watch_readable(supervision->loop, outer_gone_fd,
							      on_check_outer_killed, supervision);
	const struct check_console_settings console = {
		.loop = supervision->loop,
		.format = settings->format,
		.is_verbose = settings->is_verbose,
		.color = settings->color,
	};

	supervision->console = check_console_new(&console);
	const struct check_jobs_settings jobs = {
		.loop = supervision->loop,
		.state_folder = settings->state_folder,
		.check = &supervision->check,
		.on_news = on_check_news,
		.data = supervision,
	};

	return check_jobs_new(&jobs, &supervision->jobs, err);
}

static void tear_down_check_run(struct check_supervision *supervision)
{
	supervision->is_reported = true;
	check_reach_free(supervision->reach);
	check_jobs_free(supervision->jobs);
	for (size_t i = 0; i < ARRAY_LEN(supervision->signals); i++)
		loop_watch_free(supervision->signals[i]);
	loop_watch_free(supervision->outer_gone);
	loop_watch_free(supervision->timer);
	check_console_free(supervision->console);
	loop_free(supervision->loop);
	check_done(&supervision->check);
}

/* The steps that muster performs itself. */

static bool run_library_step(struct check_supervision *supervision)
{
	struct text what CLEANUP(text_done) = {0};
	struct err err = {0};
	int rc = check_find_library(supervision->settings->request, &what, &err);

	if (rc < 0)
		check_refuse(&supervision->check, CHECK_LIBRARY, err.text, loop_monotonic_now());
	else
		check_record_library(&supervision->check, text_of(&what), loop_monotonic_now());
	return rc == 0;
}

static bool run_dataset_step(struct check_supervision *supervision)
{
	struct text what CLEANUP(text_done) = {0};
	struct err err = {0};

	if (!supervision->settings->request->data_dir)
		return true;
	int rc = check_find_data(supervision->settings->request, &what, &err);

	if (rc < 0)
		check_refuse(&supervision->check, CHECK_DATA, err.text, loop_monotonic_now());
	else
		check_record_data(&supervision->check, text_of(&what), loop_monotonic_now());
	return rc == 0;
}

static void on_way(const struct json *event, void *data)
{
	struct check_supervision *supervision = data;

	check_add_event(&supervision->check, event, loop_monotonic_now());
	on_check_news(supervision);
}

static int run_own_steps(struct check_supervision *supervision, struct err *err)
{
	const struct check_request *request = supervision->settings->request;

	check_console_show(supervision->console, &supervision->check);
	if (request->is_on_kubernetes) {
		check_look(&supervision->check, loop_monotonic_now());
		return 0;
	}
	if (!run_library_step(supervision) || !run_dataset_step(supervision) || !request->is_remote)
		return 0;
	return check_reach_start(supervision->loop, request, on_way, supervision,
				 &supervision->reach, err);
}

/* `outer_gone_fd` is from io/guard; -1: there is no outer process. */
static int check_supervision_run(const struct check_run_settings *settings, int outer_gone_fd,
				 int *ret_exit_code, struct err *err)
{
	struct check_supervision supervision CLEANUP(tear_down_check_run) = {
		.settings = settings,
		.exit_code = EXIT_FAILED,
	};

	check_init(&supervision.check, settings->request, loop_monotonic_now());
	supervision.check.began = loop_now();
	if (set_up_check_run(&supervision, outer_gone_fd, err) < 0 ||
	    run_own_steps(&supervision, err) < 0)
		return err->code;
	on_check_news(&supervision);
	loop_run(supervision.loop);
	*ret_exit_code = supervision.exit_code;
	return 0;
}

/* The inner process was killed or crashed; its children have already ended. The next command that
 * reads the records of its jobs cleans up. */
static int report_check_killed(const struct guard *guard, struct err *err)
{
	int number = guard->exit_code - EXIT_BY_SIGNAL;

	return err_set(err, ERR_IO,
		       "muster itself was killed by signal %d (SIG%s), so the check was stopped",
		       number, sigabbrev_np(number));
}

int check_run(const struct check_run_settings *settings, int *ret_exit_code, struct err *err)
{
	struct guard guard;

	/* The servers should stay, so no guard is needed. */
	if (settings->request->is_setup_only)
		return check_supervision_run(settings, -1, ret_exit_code, err);
	int rc = guard_fork(NULL, &guard, err);

	if (rc < 0)
		return rc;
	if (guard.is_inner) {
		guard_leave_group();
		return check_supervision_run(settings, guard.outer_gone_fd, ret_exit_code, err);
	}
	if (guard.was_lost)
		return report_check_killed(&guard, err);
	*ret_exit_code = guard.exit_code;
	return 0;
}
