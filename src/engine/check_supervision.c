/* Everything here only translates: a line, the end of a child, a signal or a timer change what
 * core/check knows, and then its wishes are looked at: jobs that are wanted are started, those that
 * are not are ended.
 *
 * A job is a `muster run` in the foreground, which ends its replicas when it is ended. Servers that
 * are to stay (--setup-only) are a `muster run -d`, and then a `muster logs -f` tells what they
 * print; both are one child after the other here. */
#include "engine/check_supervision.h"

#include "base/mem.h"
#include "base/text.h"
#include "core/check.h"
#include "core/check_command.h"
#include "core/check_want.h"
#include "core/job.h"
#include "engine/check_child.h"
#include "engine/check_console.h"
#include "engine/check_findings.h"
#include "engine/check_models.h"
#include "engine/check_reach.h"
#include "engine/check_stopped.h"
#include "engine/client.h"
#include "io/child.h"

#include <limits.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define EXIT_OWN_FAULT 125
#define EXIT_FAILED 1
#define EXIT_BY_SIGNAL 128
/* One Ctrl-C may come twice: to the group, and handed on by the outer process. */
#define SAME_KEY_PRESS ((msec) 200)

struct check_supervision {
	const struct check_run_settings *settings;
	struct check check;
	struct arena *arena; /* of arguments and environment */
	struct check_programs programs;
	char **environment; /* of all children */
	struct loop *loop;
	struct client *client;
	struct check_console *console;
	struct loop_watch *timer;
	struct loop_watch *outer_gone;
	struct loop_watch *signals[5];
	struct job_child {
		struct check_supervision *supervision;
		enum check_job job;
		struct check_child *child; /* NULL: none runs */
		bool follows; /* it tells of a job that runs in the background */
		bool was_asked; /* to end */
	} children[CHECK_JOB_COUNT];
	msec interrupted_at; /* of the monotonic clock; 0: not yet */
	bool is_reported;
	int exit_code;
};

static void ask_to_go_on(struct check_supervision *supervision)
{
	if (!supervision->is_reported)
		loop_timer_arm(supervision->timer, loop_now());
}

/* Starting. */

static void on_line(const char *line, size_t len, void *data)
{
	struct job_child *child = data;

	check_add_line(&child->supervision->check, child->job, line, len, loop_now());
	ask_to_go_on(child->supervision);
}

static void tell_failure_to_start(struct job_child *child, const struct err *err)
{
	struct check_supervision *supervision = child->supervision;
	char *line CLEANUP(mem_free_text) = mem_format("muster: %s", err->text);
	msec now = loop_now();

	check_add_line(&supervision->check, child->job, line, strlen(line), now);
	check_job_ended(&supervision->check, child->job, EXIT_OWN_FAULT, NULL, now);
	ask_to_go_on(supervision);
}

static void start(struct job_child *child, char *const *arguments)
{
	struct err err = {0};
	const struct check_child_settings settings = {
		.loop = child->supervision->loop,
		.arguments = arguments,
		.environment = child->supervision->environment,
		.on_line = on_line,
		.data = child,
	};

	if (check_child_start(&settings, &child->child, &err) < 0)
		tell_failure_to_start(child, &err);
}

/* The models are put on disk when the first one is needed. */
static void start_job(struct job_child *child)
{
	struct check_supervision *supervision = child->supervision;
	struct check *check = &supervision->check;
	char *models CLEANUP(mem_free_text) = NULL;
	struct err err = {0};

	check_job_begun(check, child->job, loop_now());
	if (child->job == CHECK_MODEL_JOB &&
	    check_models_install(supervision->settings->state_folder, &models, &err) < 0) {
		tell_failure_to_start(child, &err);
		return;
	}
	supervision->programs.model = models;
	start(child, check_command(check, child->job, &supervision->programs, supervision->arena));
	supervision->programs.model = NULL;
}

/* The servers are up in the background: from now on their log is read. */
static void follow(struct job_child *child)
{
	struct check_supervision *supervision = child->supervision;
	const char *state_dir = supervision->settings->state_folder;
	char *words[] = {
		(char *) supervision->programs.muster,
		"logs",
		"--state-dir",
		(char *) state_dir,
		"--follow",
		"--prefix",
		"--color",
		"never",
		(char *) supervision->check.jobs[child->job].name,
		NULL,
	};

	child->follows = true;
	start(child, words);
}

/* Ending. */

static void end_in_background(struct check_supervision *supervision, enum check_job job)
{
	struct err err;
	int rc = supervision->client->functions->stop(supervision->client,
						      supervision->check.jobs[job].name,
						      stop_reason_words[STOP_REQUESTED], -1, &err);

	(void) rc; /* one that is gone already needs no stopping */
}

static bool is_in_background(const struct job_child *child)
{
	return child->supervision->settings->request->is_setup_only &&
	       child->job == CHECK_SERVERS_JOB;
}

/* A `muster run -d` is about to end by itself; only then it is known whether there is a job to
 * stop. */
static void ask_to_end(struct job_child *child)
{
	if (child->was_asked || (is_in_background(child) && !child->follows))
		return;
	child->was_asked = true;
	if (child->follows)
		end_in_background(child->supervision, child->job);
	else
		check_child_ask_to_end(child->child, loop_now());
}

/* Reads the status of a job's record; false when there is none (yet). */
static bool read_status(struct check_supervision *supervision, enum check_job job,
			struct arena *arena, struct status *ret_status)
{
	struct client *client = supervision->client;
	struct json *object CLEANUP(json_cleanup) = NULL;

	return client->functions->get(client, supervision->check.jobs[job].name, &object, NULL) ==
		       0 &&
	       status_read(json_get(object, "status"), arena, ret_status, NULL) == 0;
}

static void end_job(struct job_child *child, int exit_code)
{
	struct check_supervision *supervision = child->supervision;
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct status status;
	bool has_status = read_status(supervision, child->job, arena, &status);

	check_job_ended(&supervision->check, child->job, exit_code, has_status ? &status : NULL,
			loop_now());
}

static struct job_child *find_child(struct check_supervision *supervision, pid_t pid)
{
	for (enum check_job job = 0; job < CHECK_JOB_COUNT; job++) {
		struct job_child *child = &supervision->children[job];

		if (child->child && check_child_pid(child->child) == pid)
			return child;
	}
	return NULL;
}

static void on_exit_of(struct job_child *child, const struct child_exit *ended)
{
	int exit_code = ended->signal ? EXIT_BY_SIGNAL + ended->signal : ended->exit_code;

	check_child_finish(TAKE(child->child));
	if (is_in_background(child) && !child->follows && exit_code == 0)
		follow(child);
	else
		end_job(child, exit_code);
}

static void on_child_signal(int number, void *data)
{
	struct check_supervision *supervision = data;
	struct child_exit ended;
	bool has_children;

	(void) number;
	while (child_reap(&ended, &has_children)) {
		struct job_child *child = find_child(supervision, ended.pid);

		if (child)
			on_exit_of(child, &ended);
	}
	ask_to_go_on(supervision);
}

/* Going on. */

static void note_stopped(const char *replica, bool is_stopped, void *data)
{
	struct job_child *child = data;

	check_note_stopped(&child->supervision->check, child->job, replica, is_stopped);
}

/* Before a step is given up: who is stopped cannot answer. */
static void look_for_stopped(struct check_supervision *supervision)
{
	for (enum check_job job = 0; job < CHECK_JOB_COUNT; job++) {
		struct arena *arena CLEANUP(arena_cleanup) = arena_new();
		struct job_child *child = &supervision->children[job];
		struct status status;

		if (child->child && read_status(supervision, job, arena, &status))
			check_each_stopped(&status, note_stopped, child);
	}
}

static void serve_wishes(struct check_supervision *supervision)
{
	for (enum check_job job = 0; job < CHECK_JOB_COUNT; job++) {
		struct job_child *child = &supervision->children[job];
		bool is_wanted = check_wants(&supervision->check, job);

		if (is_wanted && !supervision->check.jobs[job].has_begun)
			start_job(child);
		if (!is_wanted && child->child)
			ask_to_end(child);
	}
}

/* Jobs of a good check are of no use to anybody; those of a bad one have the logs. */
static void delete_jobs(struct check_supervision *supervision)
{
	const struct check *check = &supervision->check;

	for (enum check_job job = 0; job < CHECK_JOB_COUNT; job++) {
		struct err err;

		if (!check->jobs[job].has_begun || check_wants(check, job))
			continue;
		int rc = supervision->client->functions->remove(supervision->client,
								check->jobs[job].name, &err);

		(void) rc; /* it stays in `muster ps -a`, where anybody can delete it */
	}
}

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
	loop_timer_arm(supervision->timer, MSEC_NEVER);
	if (check->result == CHECK_GOOD)
		delete_jobs(supervision);
	check_console_finish(supervision->console, check, stop_loop, supervision);
}

static msec insist_on_ends(struct check_supervision *supervision, msec now)
{
	msec wake_at = MSEC_NEVER;

	for (enum check_job job = 0; job < CHECK_JOB_COUNT; job++)
		if (supervision->children[job].child)
			wake_at = msec_min(
				wake_at, check_child_insist(supervision->children[job].child, now));
	return wake_at;
}

static void go_on(void *data)
{
	struct check_supervision *supervision = data;
	struct check *check = &supervision->check;
	msec now = loop_now();

	if (now >= check_wake_at(check)) {
		look_for_stopped(supervision);
		check_look(check, now);
	}
	serve_wishes(supervision);
	msec wake_at = msec_min(insist_on_ends(supervision, now), check_wake_at(check));

	if (check_is_over(check)) {
		report(supervision);
		return;
	}
	check_console_show(supervision->console, check);
	loop_timer_arm(supervision->timer, wake_at);
}

/* Being asked to end. */

static void kill_children(struct check_supervision *supervision)
{
	for (enum check_job job = 0; job < CHECK_JOB_COUNT; job++)
		if (supervision->children[job].child)
			child_signal_group(check_child_pid(supervision->children[job].child),
					   SIGKILL);
}

static void on_signal(int number, void *data)
{
	struct check_supervision *supervision = data;
	msec now = loop_monotonic_now(), before = supervision->interrupted_at;

	if (supervision->is_reported) {
		/* Only the terminal is waited for now, and whoever asks does not want to see it. */
		loop_stop(supervision->loop);
		return;
	}
	if (before && now - before < SAME_KEY_PRESS)
		return;
	supervision->interrupted_at = now;
	if (before || number == SIGQUIT)
		kill_children(supervision);
	check_interrupt(&supervision->check, number, loop_now());
	ask_to_go_on(supervision);
}

/* The outer process was killed: nobody would end our jobs if we were killed next. */
static void on_outer_gone(void *data)
{
	struct check_supervision *supervision = data;

	loop_watch_enable(supervision->outer_gone, false);
	kill_children(supervision);
	child_kill_all(NULL, NULL);
	supervision->exit_code = EXIT_FAILED;
	loop_stop(supervision->loop);
}

/* Setting up. */

/* Habits of the person must not change how the jobs of a check run (MUSTER_TIMEOUT, MUSTER_QUIET
 * …). */
static bool is_kept(const char *entry)
{
	return !text_starts_with(entry, "MUSTER_") ||
	       text_starts_with(entry, "MUSTER_STATE_DIR=") ||
	       text_starts_with(entry, "MUSTER_LIBTENSORFLOW=");
}

static char **make_environment(struct arena *arena)
{
	size_t count = 0, n_kept = 0;

	while (environ[count])
		count++;
	char **kept = arena_take_array(arena, count + 1, sizeof(*kept));

	for (size_t i = 0; i < count; i++)
		if (is_kept(environ[i]))
			kept[n_kept++] = environ[i];
	return kept;
}

/* By its path, as people know it; by what the kernel knows when there is none any more. */
static const char *find_own_program(struct arena *arena)
{
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (len > 0) {
		path[len] = '\0';
		if (access(path, X_OK) == 0)
			return arena_copy_text(arena, path);
	}
	return "/proc/self/exe";
}

/* A signal that was ignored when we began (nohup, `&` in a script) stays ignored. */
static void watch_signals(struct check_supervision *supervision)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	struct sigaction action;

	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		if (sigaction(numbers[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			supervision->signals[i] = loop_watch_signal(supervision->loop, numbers[i],
								    on_signal, supervision);
	supervision->signals[4] =
		loop_watch_signal(supervision->loop, SIGCHLD, on_child_signal, supervision);
}

static int set_up(struct check_supervision *supervision, int outer_gone_fd, struct err *err)
{
	const struct check_run_settings *settings = supervision->settings;
	int rc = loop_new(&supervision->loop, err);

	if (rc < 0)
		return rc;
	watch_signals(supervision);
	supervision->timer = loop_new_timer(supervision->loop, go_on, supervision);
	if (outer_gone_fd >= 0)
		supervision->outer_gone = loop_watch_readable(supervision->loop, outer_gone_fd,
							      on_outer_gone, supervision);
	const struct check_console_settings console = {
		.loop = supervision->loop,
		.format = settings->format,
		.is_verbose = settings->is_verbose,
		.color = settings->color,
	};

	supervision->console = check_console_new(&console);
	return client_local_new(settings->state_folder, &supervision->client, err);
}

static void tear_down(struct check_supervision *supervision)
{
	kill_children(supervision);
	for (enum check_job job = 0; job < CHECK_JOB_COUNT; job++)
		check_child_finish(supervision->children[job].child);
	for (size_t i = 0; i < ARRAY_LEN(supervision->signals); i++)
		loop_watch_free(supervision->signals[i]);
	loop_watch_free(supervision->outer_gone);
	loop_watch_free(supervision->timer);
	check_console_free(supervision->console);
	if (supervision->client)
		supervision->client->functions->free(supervision->client);
	loop_free(supervision->loop);
	check_done(&supervision->check);
	arena_free(supervision->arena);
}

/* The steps that muster takes itself. */

static bool look_at_library(struct check_supervision *supervision)
{
	struct text what CLEANUP(text_done) = {0};
	struct err err = {0};
	int rc = check_find_library(supervision->settings->request, &what, &err);

	if (rc < 0)
		check_refuse(&supervision->check, CHECK_LIBRARY, err.text, loop_now());
	else
		check_note_library(&supervision->check, text_of(&what), loop_now());
	return rc == 0;
}

static bool look_at_data(struct check_supervision *supervision)
{
	struct text what CLEANUP(text_done) = {0};
	struct err err = {0};

	if (!supervision->settings->request->data_dir)
		return true;
	int rc = check_find_data(supervision->settings->request, &what, &err);

	if (rc < 0)
		check_refuse(&supervision->check, CHECK_DATA, err.text, loop_now());
	else
		check_note_data(&supervision->check, text_of(&what), loop_now());
	return rc == 0;
}

static void on_way(const struct json *event, void *data)
{
	check_add_event(data, event, loop_now());
}

static int take_own_steps(struct check_supervision *supervision, struct err *err)
{
	const struct check_request *request = supervision->settings->request;

	check_console_show(supervision->console, &supervision->check);
	if (!look_at_library(supervision) || !look_at_data(supervision) || !request->is_remote)
		return 0;
	check_console_show(supervision->console, &supervision->check);
	return check_reach(request->servers, request->n_servers, on_way, &supervision->check, err);
}

int check_supervision_run(const struct check_run_settings *settings, int outer_gone_fd,
			  int *ret_exit_code, struct err *err)
{
	struct check_supervision supervision CLEANUP(tear_down) = {
		.settings = settings,
		.arena = arena_new(),
		.exit_code = EXIT_FAILED,
	};

	check_init(&supervision.check, settings->request, loop_now());
	for (enum check_job job = 0; job < CHECK_JOB_COUNT; job++)
		supervision.children[job] =
			(struct job_child){.supervision = &supervision, .job = job};
	supervision.environment = make_environment(supervision.arena);
	supervision.programs.muster = find_own_program(supervision.arena);
	if (set_up(&supervision, outer_gone_fd, err) < 0 || take_own_steps(&supervision, err) < 0)
		return err->code;
	ask_to_go_on(&supervision);
	loop_run(supervision.loop);
	*ret_exit_code = supervision.exit_code;
	return 0;
}
