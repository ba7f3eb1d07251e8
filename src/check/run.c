#include "check/run.h"

#include "base/exit_code.h"
#include "check/diagnosis.h"
#include "check/jobs.h"
#include "check/report.h"
#include "console/screen.h"
#include "io/child.h"
#include "io/file.h"
#include "io/guard.h"
#include "io/process.h"
#include "io/terminal.h"
#include "tensorflow/library.h"
#include "tensorflow/library_find.h"
#include "tensorflow/network_matrix.h"
#include "tensorflow/python_find.h"

#include <signal.h>

/* This file only translates: a line, the end of a child, a signal or a timer updates check/check.
 * Then its wishes are executed: wanted jobs are started, unwanted ones ended.
 *
 * As text everything goes to stdout: a line for each completed step, and on a terminal a row with
 * the progress. With another format the object goes to stdout and the rest to stderr. */

/* One SIGINT may arrive twice: timeout(1) sends it to its child and to the child's group. */
#define SAME_KEY_PRESS ((msec) 200)
#define PROBE_TIMEOUT (5 * MSEC_PER_SECOND)

struct check_supervision {
	const struct check_run_settings *settings;
	struct check check;
	struct loop *loop;
	struct check_jobs *jobs;
	struct network_probe *probe; /* NULL: none runs; the servers may test the network */
	struct network_peer *peers; /* of the probe */
	struct screen *screen;
	struct check_style style;
	bool has_heading;
	enum check_step next; /* the first step whose line was not printed */
	struct loop_watch *timer;
	struct loop_watch *outer_gone;
	struct loop_watch *signals[5];
	instant interrupted_at; /* INSTANT_UNSET: not yet */
	bool has_news; /* since the wishes were last executed */
	bool is_reported;
	int exit_code;
};

/* Output. */

/* The end is over when all was written, or no process reads it. */
static void on_screen_room(void *data)
{
	struct check_supervision *supervision = data;
	struct screen *screen = supervision->screen;

	if (supervision->is_reported && (!screen_is_waiting(screen) || screen_is_gone(screen)))
		loop_stop(supervision->loop);
}

/* Appends the passed steps, in order, up to the current one. */
static void add_new_steps(struct check_supervision *supervision, struct text *text)
{
	const struct check *check = &supervision->check;

	for (; supervision->next < CHECK_STEP_COUNT; supervision->next++) {
		enum check_state state = check->steps[supervision->next].state;

		if (state == CHECK_PASSED)
			check_add_step(check, supervision->next, &supervision->style, text);
		else if (state != CHECK_SKIPPED)
			return;
	}
}

static void show_news(struct check_supervision *supervision)
{
	const struct check *check = &supervision->check;
	struct text news CLEANUP(text_done) = {0}, row CLEANUP(text_done) = {0};

	if (!supervision->has_heading)
		check_add_heading(check, &news);
	supervision->has_heading = true;
	add_new_steps(supervision, &news);
	text_add(&row, "  ");
	check_add_progress(check, &row);
	screen_set_row(supervision->screen, row.len > 2 ? text_of(&row) : "");
	if (news.len == 0 && !screen_is_changed(supervision->screen))
		return;
	text_add_bytes(screen_begin(supervision->screen), text_of(&news), news.len);
	screen_end(supervision->screen);
}

static void show_end(struct check_supervision *supervision)
{
	const struct check *check = &supervision->check;

	show_news(supervision);
	struct text *text = screen_begin(supervision->screen);

	if (check->fault)
		check_add_step(check, check->fault->step, &supervision->style, text);
	check_add_end(check, &supervision->style, text);
	screen_end(supervision->screen);
	if (!supervision->settings->is_json)
		return;
	struct json *report CLEANUP(json_cleanup) = check_write_json(check);
	struct text output CLEANUP(text_done) = {0};

	json_add_pretty(&output, report);
	/* Output to a closed reader is dropped. */
	file_write_all(STDOUT_FILENO, text_of(&output), output.len, NULL);
}

static void on_check_news(void *data)
{
	struct check_supervision *supervision = data;

	supervision->has_news = true;
	if (!supervision->is_reported)
		loop_timer_arm_after(supervision->timer, 0);
}

/* Events. */

static void report(struct check_supervision *supervision)
{
	struct check *check = &supervision->check;

	supervision->is_reported = true;
	supervision->exit_code = check_exit_code(check);
	loop_timer_arm(supervision->timer, INSTANT_NEVER);
	if (check->result == CHECK_GOOD)
		check_jobs_delete(supervision->jobs);
	show_end(supervision);
	loop_defer(supervision->loop, on_screen_room, supervision);
}

static void on_check_timer(void *data)
{
	struct check_supervision *supervision = data;
	struct check *check = &supervision->check;
	instant now = loop_monotonic_now();
	bool is_over = instant_has_come(check_wake_at(check), now);

	supervision->has_news = false;
	/* Before a step is given up, paused processes are recorded: they cannot answer. */
	if (is_over || check_suspects(check))
		check_jobs_find_stopped(supervision->jobs);
	if (is_over)
		check_look(check, now);
	check_jobs_serve(supervision->jobs);
	instant kill_at = check_jobs_escalate_signal(supervision->jobs, now);

	if (supervision->has_news) {
		loop_timer_arm(supervision->timer, now);
	} else if (check_is_over(check)) {
		report(supervision);
	} else {
		show_news(supervision);
		loop_timer_arm(supervision->timer, instant_min(kill_at, check_wake_at(check)));
	}
}

/* Interrupts. */

static void on_check_signal(int number, void *data)
{
	struct check_supervision *supervision = data;
	instant now = loop_monotonic_now(), before = supervision->interrupted_at;

	if (supervision->is_reported) {
		/* Only the terminal is waited for, and a user who asks to stop does not need it. */
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

static int set_up_check_run(struct check_supervision *supervision, int outer_gone_fd,
			    struct err *err)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
	const struct check_run_settings *settings = supervision->settings;
	int fd = settings->is_json ? STDERR_FILENO : STDOUT_FILENO;
	int rc = loop_new(&supervision->loop, err);

	if (rc < 0)
		return rc;
	/* A signal that was ignored at our start (nohup, `&` in a script) stays ignored. */
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		if (!process_ignores(numbers[i]))
			supervision->signals[i] = loop_watch_signal(supervision->loop, numbers[i],
								    on_check_signal, supervision);
	supervision->signals[4] =
		loop_watch_signal(supervision->loop, SIGCHLD, on_child_signal, supervision);
	supervision->timer = loop_new_timer(supervision->loop, on_check_timer, supervision);
	if (outer_gone_fd >= 0)
		supervision->outer_gone = loop_watch_readable(supervision->loop, outer_gone_fd,
							      on_check_outer_killed, supervision);
	supervision->screen = screen_new(supervision->loop, fd, on_screen_room, supervision);
	supervision->style = (struct check_style){
		.has_color = terminal_wants_color(fd, settings->color),
		.is_verbose = settings->is_verbose,
	};
	return check_jobs_new(supervision->loop, settings->state_folder, &supervision->check,
			      on_check_news, supervision, &supervision->jobs, err);
}

static void tear_down_check_run(struct check_supervision *supervision)
{
	supervision->is_reported = true;
	network_probe_free(supervision->probe);
	free(supervision->peers);
	check_jobs_free(supervision->jobs);
	for (size_t i = 0; i < ARRAY_LEN(supervision->signals); i++)
		loop_watch_free(supervision->signals[i]);
	loop_watch_free(supervision->outer_gone);
	loop_watch_free(supervision->timer);
	screen_free(supervision->screen);
	loop_free(supervision->loop);
	check_done(&supervision->check);
}

/* The steps that muster performs itself, before any job starts. */

/* The Python that `muster run` would use for a model. */
static int find_python(struct text *what, struct err *err)
{
	const struct python_search search = python_search_here();
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct python_place python;

	if (python_find(&search, arena, &python, err) < 0)
		return err_set(err, ERR_NOT_FOUND,
			       "the models need Python with TensorFlow, but no Python was found: "
			       "apt install python3-venv, create and activate an environment, or "
			       "check without a model (--model none)");
	if (!python_tensorflow_folder(&python))
		return err_set(
			err, ERR_NOT_FOUND,
			"the models need Python with TensorFlow, but %s has none; install it (%s "
			"-m pip install tensorflow-cpu), or check without a model (--model none)",
			python.interpreter, python.interpreter);
	text_addf(what, "; Python%s%s, %s", python.version ? " " : "",
		  python.version ? python.version : "", python.interpreter);
	return 0;
}

static int find_torch(const struct check_request *request, struct text *what, struct err *err)
{
	const struct python_search search = python_search_here();
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct python_place python;
	int rc = python_find(&search, arena, &python, err);

	(void) request;
	if (rc < 0)
		return rc;
	const char *version = python_package_version(&python, "torch", arena);

	if (!version)
		return err_set(err, ERR_NOT_FOUND, "%s has no PyTorch", python.interpreter);
	text_addf(what, "PyTorch %s; Python%s%s, %s", version, python.version ? " " : "",
		  python.version ? python.version : "", python.interpreter);
	return 0;
}

/* TensorFlow's C library and, if a model trains, a Python with TensorFlow. */
static int find_library(const struct check_request *request, struct text *what, struct err *err)
{
	const struct library_search search = library_search_here(request->libtensorflow);
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct library_place place;
	int rc = library_find(&search, arena, &place, NULL, err);

	if (rc == 0)
		rc = library_check_file(place.path, err);
	if (rc < 0)
		return rc;
	text_addf(what, "TensorFlow%s%s, %s", place.version ? " " : "",
		  place.version ? place.version : "", place.path);
	return check_request_trains(request) ? find_python(what, err) : 0;
}

static const char *const mnist_files[] = {
	"train-images-idx3-ubyte",
	"train-labels-idx1-ubyte",
	"t10k-images-idx3-ubyte",
	"t10k-labels-idx1-ubyte",
	NULL,
};
static const char *const census_files[] = {"adult.data", "adult.test", NULL};

static bool is_readable_file(const char *folder, const char *name, const char *ending)
{
	char *path CLEANUP(mem_free_text) = mem_format("%s/%s%s", folder, name, ending);
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, R_OK) == 0;
}

static int check_folder(const char *folder, struct err *err)
{
	struct stat status;

	if (stat(folder, &status) < 0) {
		if (errno == ENOENT || errno == ENOTDIR)
			return err_set(err, ERR_NOT_FOUND, "data directory %s does not exist",
				       folder);
		return err_set_errno(err, errno, "data folder %s", folder);
	}
	if (!S_ISDIR(status.st_mode))
		return err_set(err, ERR_NOT_FOUND, "data directory %s is a file", folder);
	return 0;
}

/* The files of the model in the data directory, plain or compressed (.gz). */
static int find_data(const struct check_request *request, struct text *what, struct err *err)
{
	bool is_census = request->model == CHECK_CENSUS;
	const char *const *file = is_census ? census_files : mnist_files;
	struct text missing CLEANUP(text_done) = {0};
	int count = 0;
	int rc = check_folder(request->data_dir, err);

	if (rc < 0)
		return rc;
	for (; *file; file++, count++)
		if (!is_readable_file(request->data_dir, *file, "") &&
		    !is_readable_file(request->data_dir, *file, ".gz"))
			text_addf(&missing, "%s%s", missing.len ? ", " : "", *file);
	if (missing.len > 0)
		return err_set(err, ERR_NOT_FOUND,
			       "data directory %s has no %s (with or without .gz)",
			       request->data_dir, text_of(&missing));
	text_addf(what, "%d files of %s in %s", count, is_census ? "the census" : "MNIST",
		  request->data_dir);
	return 0;
}

/* Appends what was found. ERR_NOT_FOUND or ERR_UNSUPPORTED says what is missing, or to install. */
typedef int (*find_fn)(const struct check_request *request, struct text *what, struct err *err);

static bool run_own_step(struct check_supervision *supervision, enum check_step step, find_fn find)
{
	struct text what CLEANUP(text_done) = {0};
	struct err err = {0};
	int rc = find(supervision->settings->request, &what, &err);
	instant now = loop_monotonic_now();

	if (rc < 0)
		check_refuse(&supervision->check, step, err.text, now);
	else
		check_record_found(&supervision->check, step, text_of(&what), now);
	return rc == 0;
}

static void on_link(size_t peer, const struct network_finding *finding, void *data)
{
	struct check_supervision *supervision = data;
	const struct check_server *server = &supervision->settings->request->servers[peer];
	char *address CLEANUP(mem_free_text) = mem_format(
		"%s:%d", finding->address[0] ? finding->address : server->host, server->port);
	struct json *event CLEANUP(json_cleanup) =
		network_event_new("this machine", server->place, address, finding);

	check_add_event(&supervision->check, event, loop_monotonic_now());
	on_check_news(supervision);
}

static void on_probe_end(void *data)
{
	struct check_supervision *supervision = data;

	network_probe_free(TAKE(supervision->probe));
}

/* Tests each of the request's servers once; their faults are no error of this function. */
static int start_probe(struct check_supervision *supervision, struct err *err)
{
	const struct check_request *request = supervision->settings->request;

	supervision->peers = mem_new_array(request->n_servers, sizeof(*supervision->peers));
	for (size_t i = 0; i < request->n_servers; i++)
		supervision->peers[i] = (struct network_peer){.name = request->servers[i].place,
							      .host = request->servers[i].host,
							      .port = request->servers[i].port};
	const struct network_probe_settings settings = {
		.peers = supervision->peers,
		.n_peers = request->n_servers,
		.own = request->n_servers,
		.timeout = PROBE_TIMEOUT,
		.tell = on_link,
		.on_end = on_probe_end,
		.data = supervision,
	};

	return network_probe_start(supervision->loop, &settings, &supervision->probe, err);
}

static int run_own_steps(struct check_supervision *supervision, struct err *err)
{
	const struct check_request *request = supervision->settings->request;

	show_news(supervision);
	if (request->is_on_kubernetes) {
		check_look(&supervision->check, loop_monotonic_now());
		return 0;
	}
	if (!run_own_step(supervision, CHECK_LIBRARY,
			  request->is_for_torch ? find_torch : find_library) ||
	    (request->data_dir && !run_own_step(supervision, CHECK_DATA, find_data)) ||
	    !request->is_remote)
		return 0;
	return start_probe(supervision, err);
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
	/* The inner process was killed or crashed; its children have already ended. The next
	 * command that reads the records of its jobs cleans up. */
	if (guard.was_lost)
		return err_set(err, ERR_IO,
			       "muster itself was killed by signal %d (SIG%s), so the check was "
			       "stopped",
			       guard.exit_code - EXIT_BY_SIGNAL,
			       sigabbrev_np(guard.exit_code - EXIT_BY_SIGNAL));
	*ret_exit_code = guard.exit_code;
	return 0;
}
