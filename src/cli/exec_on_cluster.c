/* Connects our standard streams with those of the command in the Pod. */
#include "cli/cluster_support.h"

#include "cli/replica_pod.h"
#include "command/command.h"
#include "command/output.h"
#include "io/file.h"
#include "io/terminal.h"
#include "pods/exec.h"
#include "supervise/background.h"

#include <signal.h>

#define PIECE 65536

struct running {
	struct replica_pod pod;
	struct kube_exec *exec; /* NULL: it has exited */
	struct end_signals signals;
	struct loop_watch *input; /* NULL: not started, or at end of file */
	struct loop_watch *resizes;
	struct raw_terminal *raw;
	bool has_input;
	bool is_terminal; /* the command gets a terminal, which is our standard input */
	bool has_started;
	int exit_code;
};

/* Restores the terminal before any message. */
static void running_done(struct running *running)
{
	raw_terminal_end(TAKE(running->raw));
	end_signals_done(&running->signals);
	loop_watch_free(TAKE(running->input));
	loop_watch_free(TAKE(running->resizes));
	kube_exec_cancel(TAKE(running->exec));
	replica_pod_done(&running->pod);
}

/* Input. */

static void on_input(void *data)
{
	struct running *running = data;
	static char bytes[PIECE];
	ssize_t len = read(STDIN_FILENO, bytes, sizeof(bytes));
	struct err err;

	if (len < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (len <= 0) {
		loop_watch_free(TAKE(running->input));
		if (kube_exec_end_input(running->exec, &err) < 0)
			output_print_message("%s", err.text);
		return;
	}
	kube_exec_send(running->exec, bytes, (size_t) len);
	loop_watch_enable(running->input, kube_exec_has_room(running->exec));
}

/* The terminal. */

static void on_resize(int number, void *data)
{
	struct running *running = data;
	struct terminal_size size = terminal_size(STDIN_FILENO);

	(void) number;
	if (running->exec)
		kube_exec_resize(running->exec, size.columns, size.rows);
}

static void on_exec_room(void *data)
{
	struct running *running = data;
	struct loop *loop = running->pod.api->loop;
	struct err err = {0};

	if (running->input)
		loop_watch_enable(running->input, true);
	if (running->has_started)
		return;
	/* Until now, Ctrl-C ended this process. */
	running->has_started = true;
	if (running->is_terminal) {
		if (raw_terminal_begin(STDIN_FILENO, &running->raw, &err) < 0)
			output_print_message("%s", err.text);
		running->resizes = loop_watch_signal(loop, SIGWINCH, on_resize, running);
		on_resize(SIGWINCH, running);
	}
	if (running->has_input)
		running->input = loop_watch_readable(loop, STDIN_FILENO, on_input, running);
}

/* Output, and the end. */

static void stop_exec_call(struct running *running, int exit_code)
{
	running->exit_code = exit_code;
	loop_stop(running->pod.api->loop);
}

/* The reader has closed our output: `| head`. */
static void on_exec_output(enum kube_channel channel, const char *bytes, size_t len, void *data)
{
	int fd = channel == KUBE_CHANNEL_OUTPUT ? STDOUT_FILENO : STDERR_FILENO;

	if (file_write_all(fd, bytes, len, NULL) < 0)
		stop_exec_call(data, EXIT_BY_SIGNAL + SIGPIPE);
}

static void on_exec_end(int exit_code, const struct err *err, void *data)
{
	struct running *running = data;

	running->exec = NULL;
	raw_terminal_end(TAKE(running->raw));
	if (err)
		output_print_message("%s", err->text);
	if (err)
		exit_code = err->code == ERR_REFUSED ? EXIT_CANNOT_RUN : EXIT_INTERNAL;
	stop_exec_call(running, exit_code);
}

static void on_exec_signal(int number, void *data)
{
	stop_exec_call(data, EXIT_BY_SIGNAL + number);
}

/* A flag that was given, else the default. */
static bool flag_or(const struct options *options, const char *name, bool otherwise)
{
	return option_is_given(options, name) ? option_flag(options, name) : otherwise;
}

/* The command gets a terminal if stdin and stdout are terminals. If only the output goes elsewhere,
 * as to `| less`, the terminal's keys are not read: less needs them. */
int exec_on_cluster(const struct options *options, const struct copy_place *place,
		    const char *const *command)
{
	bool can_be_terminal = isatty(STDIN_FILENO), has_screen = isatty(STDOUT_FILENO);
	bool wants_terminal = flag_or(options, "tty", can_be_terminal && has_screen);
	struct running running CLEANUP(running_done) = {
		.has_input = flag_or(options, "stdin", !can_be_terminal || has_screen),
		.is_terminal = wants_terminal && can_be_terminal,
	};
	struct err err = {0};

	if (wants_terminal && !can_be_terminal)
		output_print_message("--tty: standard input is not a terminal");
	if (replica_pod_connect(options, place, &running.pod, &err) ||
	    replica_pod_find(&running.pod, option_text(options, "container"), &err))
		return output_fail_with(EXIT_INTERNAL, "%s", err.text);
	const struct kube_exec_request request = {
		.container = running.pod.container,
		.command = command,
		.has_input = running.has_input,
		.is_terminal = running.is_terminal,
		.on_output = on_exec_output,
		.on_room = on_exec_room,
		.on_end = on_exec_end,
		.data = &running,
	};

	end_signals_watch(&running.signals, running.pod.api->loop, on_exec_signal, &running);
	running.exec = kube_exec_new(running.pod.api, &request);
	loop_run(running.pod.api->loop);
	return running.exit_code;
}
