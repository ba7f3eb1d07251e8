#include "cli/tensorboard.h"

#include "command/command.h"
#include "command/output.h"
#include "io/child.h"
#include "io/file.h"
#include "io/own_process.h"
#include "io/port.h"
#include "supervise/background.h"
#include "tensorflow/python_find.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define FIRST_PORT 6006 /* TensorBoard's own, and how many it tries (tensorboard/program.py) */
#define N_PORTS 10
#define GRACE (5 * MSEC_PER_SECOND) /* it has nothing to save */
#define N_WORDS 10

struct tensorboard {
	const struct tensorboard_settings *settings;
	struct loop *loop;
	struct end_signals signals;
	char *python; /* the interpreter that has it as a module; NULL: it is a program in PATH */
	int port;
	pid_t pid; /* 0: not started, or reaped */
	int process_fd;
	struct loop_watch *process;
	bool is_over;
	int exit_code;
};

/* The program. */

/* A user would start the program in PATH; without it, a Python may have it as a module. */
static int find_program(struct tensorboard *tensorboard, struct err *err)
{
	const struct child_start in_path = {.program = "tensorboard", .environment = environ};
	const struct python_search search = python_search_here();
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	struct python_place place = {0};

	if (child_check_program(&in_path, NULL) == 0)
		return 0;
	if (python_find(&search, arena, &place, NULL) < 0 ||
	    !python_package_version(&place, "tensorboard", arena))
		return err_set(err, ERR_NOT_FOUND,
			       "TensorBoard not found in PATH or in Python; install it: pip "
			       "install tensorboard");
	tensorboard->python = mem_copy_text(place.interpreter);
	return 0;
}

static int choose_port(struct tensorboard *tensorboard, struct err *err)
{
	int wanted = tensorboard->settings->port;

	tensorboard->port = wanted ? wanted : FIRST_PORT;
	while (!wanted && tensorboard->port < FIRST_PORT + N_PORTS &&
	       !port_is_free(tensorboard->port))
		tensorboard->port++;
	if (port_is_free(tensorboard->port))
		return 0;
	if (wanted)
		return err_set(err, ERR_EXISTS, "port %d is in use; choose another with --port",
			       wanted);
	return err_set(err, ERR_EXISTS, "ports %d to %d are in use; choose another with --port",
		       FIRST_PORT, FIRST_PORT + N_PORTS - 1);
}

/* Stopping. */

static void end_with(struct tensorboard *tensorboard, int exit_code)
{
	tensorboard->is_over = true;
	tensorboard->exit_code = exit_code;
	loop_stop(tensorboard->loop);
}

/* Ctrl-C is the usual way to stop it, and so not a failure. */
static void on_tensorboard_signal(int number, void *data)
{
	(void) number;
	end_with(data, EXIT_DONE);
}

/* Its data server, a process of its own, is in its process group. */
static void reap(struct tensorboard *tensorboard, siginfo_t *ret_ended)
{
	loop_watch_free(TAKE(tensorboard->process));
	child_signal_group(tensorboard->pid, SIGKILL);
	while (waitid(P_PID, (id_t) tensorboard->pid, ret_ended, WEXITED) < 0 && errno == EINTR)
		continue;
	file_close(&tensorboard->process_fd);
	tensorboard->pid = 0;
}

static void on_process_end(void *data)
{
	struct tensorboard *tensorboard = data;
	siginfo_t ended = {0};

	reap(tensorboard, &ended);
	output_print_message("TensorBoard ended %s %d",
			     ended.si_code == CLD_EXITED ? "with code" : "by signal",
			     ended.si_status);
	end_with(tensorboard, EXIT_FAILED);
}

/* Creating and freeing. */

int tensorboard_new(struct loop *loop, const struct tensorboard_settings *settings,
		    struct tensorboard **ret_tensorboard, struct err *err)
{
	struct tensorboard *tensorboard = mem_new(sizeof(*tensorboard));

	tensorboard->settings = settings;
	tensorboard->loop = loop;
	tensorboard->process_fd = -1;
	int rc = find_program(tensorboard, err);

	if (rc == 0)
		rc = choose_port(tensorboard, err);
	if (rc < 0) {
		tensorboard_free(tensorboard);
		return rc;
	}
	end_signals_watch(&tensorboard->signals, loop, on_tensorboard_signal, tensorboard);
	*ret_tensorboard = tensorboard;
	return 0;
}

/* A module of the current directory must not replace TensorBoard; -m would search there first, and
 * before Python 3.11 nothing turns that off. */
static size_t begin_words(const struct tensorboard *tensorboard, const char **words)
{
	static const char *const as_module[] = {
		"-c", "import sys; sys.path[:] = filter(None, sys.path); import runpy; "
		      "runpy.run_module('tensorboard.main', None, '__main__', True)"};

	words[0] = tensorboard->python ? tensorboard->python : "tensorboard";
	if (!tensorboard->python)
		return 1;
	memcpy(words + 1, as_module, sizeof(as_module));
	return 1 + ARRAY_LEN(as_module);
}

static int start_process(struct tensorboard *tensorboard, struct err *err)
{
	char *port CLEANUP(mem_free_text) = mem_format("%d", tensorboard->port);
	struct arena *arena CLEANUP(arena_cleanup) = arena_new();
	char **environment CLEANUP(mem_free_any) = python_environment(arena);
	const char *words[N_WORDS];
	size_t n_words = begin_words(tensorboard, words);
	const char *const options[] = {"--logdir", tensorboard->settings->log_folder,
				       "--host",   tensorboard->settings->host,
				       "--port",   port};

	for (size_t i = 0; i < ARRAY_LEN(options); i++)
		words[n_words++] = options[i];
	words[n_words] = NULL;
	const struct child_start start = {
		.program = words[0],
		.arguments = (char *const *) words,
		.environment = environment,
		.output_fd = STDERR_FILENO,
	};

	return child_start(&start, &tensorboard->pid, err);
}

int tensorboard_start(struct tensorboard *tensorboard, struct err *err)
{
	struct text address CLEANUP(text_done) = {0};
	int rc = start_process(tensorboard, err);

	if (rc < 0)
		return rc;
	tensorboard->process_fd = (int) syscall(SYS_pidfd_open, tensorboard->pid, 0);
	if (tensorboard->process_fd < 0)
		return err_set_errno(err, errno, "cannot watch TensorBoard");
	tensorboard->process = loop_watch_readable(tensorboard->loop, tensorboard->process_fd,
						   on_process_end, tensorboard);
	text_addf(&address, "http://%s:%d/\n", tensorboard->settings->host, tensorboard->port);
	output_add(&address);
	output_flush();
	return 0;
}

bool tensorboard_is_started(const struct tensorboard *tensorboard)
{
	return tensorboard->pid;
}

bool tensorboard_is_over(const struct tensorboard *tensorboard, int *ret_exit_code)
{
	*ret_exit_code = tensorboard->exit_code;
	return tensorboard->is_over;
}

void tensorboard_free(struct tensorboard *tensorboard)
{
	if (!tensorboard)
		return;
	struct pollfd end = {.fd = tensorboard->process_fd, .events = POLLIN};
	siginfo_t ended;

	if (tensorboard->pid) {
		child_signal_group(tensorboard->pid, SIGTERM);
		while (poll(&end, 1, (int) GRACE) < 0 && errno == EINTR)
			continue;
		reap(tensorboard, &ended);
	}
	end_signals_done(&tensorboard->signals);
	free(tensorboard->python);
	free(tensorboard);
}

int tensorboard_show(const struct tensorboard_settings *settings)
{
	struct tensorboard *tensorboard = NULL;
	struct loop *loop = NULL;
	struct err err = {0};
	int rc = loop_new(&loop, &err), exit_code;

	if (rc == 0)
		rc = tensorboard_new(loop, settings, &tensorboard, &err);
	if (rc == 0)
		rc = tensorboard_start(tensorboard, &err);
	if (rc == 0)
		loop_run(loop);
	exit_code = rc ? output_fail(&err) : tensorboard->exit_code;
	tensorboard_free(tensorboard);
	loop_free(loop);
	return exit_code;
}
