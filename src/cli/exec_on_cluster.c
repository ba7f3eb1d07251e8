/* Connects our standard streams with those of the command in the Pod. */
#include "cli/cluster_support.h"

#include "cli/replica_pod.h"
#include "command/command.h"
#include "command/output.h"
#include "io/file.h"
#include "io/terminal.h"
#include "pods/exec.h"
#include "supervise/end_signals.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

#define PIECE 65536

struct running {
	const struct exec_call *call;
	struct replica_pod pod;
	struct kube_exec *exec; /* NULL: it has exited */
	struct end_signals signals;
	struct loop_watch *input; /* NULL: not started, or at end of file */
	struct loop_watch *resizes;
	struct raw_terminal *raw;
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

static void end_input(struct running *running)
{
	struct err err;

	loop_watch_free(TAKE(running->input));
	if (kube_exec_end_input(running->exec, &err) < 0)
		output_print_message("%s", err.text);
}

static void on_input(void *data)
{
	struct running *running = data;
	static char bytes[PIECE];
	ssize_t len = read(STDIN_FILENO, bytes, sizeof(bytes));

	if (len < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (len <= 0) {
		end_input(running);
		return;
	}
	kube_exec_send(running->exec, bytes, (size_t) len);
	loop_watch_enable(running->input, kube_exec_has_room(running->exec));
}

/* The terminal. */

static void send_terminal_size(struct running *running)
{
	struct terminal_size size = terminal_size(STDIN_FILENO);

	kube_exec_resize(running->exec, size.columns, size.rows);
}

static void on_resize(int number, void *data)
{
	struct running *running = data;

	(void) number;
	if (running->exec)
		send_terminal_size(running);
}

static void begin_terminal(struct running *running)
{
	struct err err = {0};

	if (raw_terminal_begin(STDIN_FILENO, &running->raw, &err) < 0)
		output_print_message("%s", err.text);
	running->resizes = loop_watch_signal(running->pod.loop, SIGWINCH, on_resize, running);
	send_terminal_size(running);
}

/* Until the command has started, Ctrl-C ends this process. */
static void start_exec_input(struct running *running)
{
	running->has_started = true;
	if (running->call->is_terminal)
		begin_terminal(running);
	if (running->call->has_input)
		running->input =
			loop_watch_readable(running->pod.loop, STDIN_FILENO, on_input, running);
}

static void on_exec_room(void *data)
{
	struct running *running = data;

	if (!running->has_started)
		start_exec_input(running);
	else if (running->input)
		loop_watch_enable(running->input, true);
}

/* Output, and the end. */

static void stop_exec_call(struct running *running, int exit_code)
{
	running->exit_code = exit_code;
	loop_stop(running->pod.loop);
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

int exec_on_cluster(const struct exec_call *call)
{
	struct running running CLEANUP(running_done) = {.call = call};
	struct err err = {0};

	if (replica_pod_connect(call->options, call->place, &running.pod, &err) ||
	    replica_pod_find(&running.pod, call->container, &err)) {
		output_print_message("%s", err.text);
		return EXIT_INTERNAL;
	}
	const struct kube_exec_request request = {
		.container = running.pod.container,
		.command = call->command,
		.has_input = call->has_input,
		.is_terminal = call->is_terminal,
		.on_output = on_exec_output,
		.on_room = on_exec_room,
		.on_end = on_exec_end,
		.data = &running,
	};

	end_signals_watch(&running.signals, running.pod.loop, on_exec_signal, &running);
	running.exec = kube_exec_new(running.pod.api, &request);
	loop_run(running.pod.loop);
	return running.exit_code;
}
