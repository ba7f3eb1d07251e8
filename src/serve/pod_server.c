#include "serve/pod_server.h"

#include "base/exit_code.h"
#include "base/json.h"
#include "base/mem.h"
#include "http/routes.h"
#include "io/child.h"
#include "io/file.h"
#include "io/own_process.h"
#include "io/process.h"
#include "io/sink.h"
#include "spec/elasticdl.h"
#include "spec/limits.h"

#include <signal.h>
#include <sys/prctl.h>

#define PIECE 65536
#define MOST_CONNECTIONS 64

enum pod_state {
	POD_WAITING, /* for /config */
	POD_CONFIGURED,
	POD_RUNNING,
	POD_ENDED, /* its output is still being written */
};
static const char *const state_words[] = {"Waiting", "Configured", "Running", "Ended"};

struct pod_server {
	const struct pod_server_settings *settings;
	struct http_access access;
	struct loop *loop;
	struct http_server *server;
	struct pod_config config;
	enum pod_state state;
	pid_t pid; /* of the training; 0: it is not running */
	bool is_stopping; /* it has its grace period, which does not begin again */
	int exit_code;
	int n_last_answers; /* answers that report our exit, and are being sent */

	/* Its output. */
	int pipe_fd; /* -1: at its end, or not started */
	struct loop_watch *output;
	struct sink *sink; /* of our stdout */
	int log_fd; /* -1: it cannot be written */

	struct loop_watch *child_signal, *term_signal, *int_signal;
	struct loop_watch *kill_timer;
};

static void pod_server_done(struct pod_server *server)
{
	http_server_free(server->server);
	loop_watch_free(server->output);
	loop_watch_free(server->child_signal);
	loop_watch_free(server->term_signal);
	loop_watch_free(server->int_signal);
	loop_watch_free(server->kill_timer);
	sink_free(server->sink);
	file_close(&server->pipe_fd);
	file_close(&server->log_fd);
	pod_config_done(&server->config);
	if (server->loop)
		loop_free(server->loop);
}

/* Output. */

static void end_if_all_is_written(void *data)
{
	struct pod_server *server = data;
	bool is_held_up = sink_is_waiting(server->sink) && !sink_is_gone(server->sink);

	if (server->output)
		loop_watch_enable(server->output, !is_held_up);
	if (server->state == POD_ENDED && server->pipe_fd < 0 && !is_held_up &&
	    server->n_last_answers == 0)
		loop_stop(server->loop);
}

/* Without the file, the Pod's own log still has all of it. */
static void write_log(struct pod_server *server, const char *bytes, size_t len)
{
	int failure = server->log_fd >= 0 ? file_write_all(server->log_fd, bytes, len, NULL) : 0;
	struct err err;

	if (!failure)
		return;
	err_set_errno(&err, failure, "cannot write '%s'", POD_SERVER_LOG);
	server->settings->say(err.text, NULL);
	file_close(&server->log_fd);
}

static void on_training_output(void *data)
{
	struct pod_server *server = data;
	static char bytes[PIECE];
	ssize_t len = read(server->pipe_fd, bytes, sizeof(bytes));

	if (len < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (len > 0) {
		write_log(server, bytes, (size_t) len);
		text_add_bytes(sink_text(server->sink), bytes, (size_t) len);
		sink_flush(server->sink);
	} else {
		loop_watch_free(TAKE(server->output));
		file_close(&server->pipe_fd);
	}
	end_if_all_is_written(server);
}

/* The training. */

static void end_training(struct pod_server *server, int exit_code)
{
	server->pid = 0;
	server->exit_code = exit_code;
	server->state = POD_ENDED;
	child_kill_all(NULL, NULL); /* so that the pipe ends */
	end_if_all_is_written(server);
}

static void on_child_signal(int number, void *data)
{
	struct pod_server *server = data;
	struct child_exit child_exit;
	bool has_children;

	(void) number;
	while (child_reap(&child_exit, &has_children, NULL, NULL))
		if (server->pid && child_exit.pid == server->pid)
			end_training(server, child_exit.signal ? EXIT_BY_SIGNAL + child_exit.signal
							       : child_exit.exit_code);
}

static int try_start(struct pod_server *server, const char *const *command, int output_fd,
		     struct err *err)
{
	char *tf_config CLEANUP(mem_free_text) =
		mem_format("TF_CONFIG=%s", server->config.tf_config);
	char *num_workers CLEANUP(mem_free_text) =
		mem_format("NUM_WORKERS=%s", server->config.num_workers);
	const char *changes[] = {tf_config, num_workers, POD_SECRET_VARIABLE, NULL};
	char **environment CLEANUP(mem_free_any) = own_environment_with(changes);
	const struct child_start start = {
		.program = command[0],
		.arguments = (char *const *) command,
		.environment = environment,
		.output_fd = output_fd,
	};

	return child_start(&start, &server->pid, err);
}

/* Debian has no `python`. */
static int start_training_process(struct pod_server *server, struct err *err)
{
	static const char *const python[] = {"python", "exec.py", NULL};
	static const char *const python3[] = {"python3", "exec.py", NULL};
	const char *const *command = server->settings->command;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_set_errno(err, errno, "cannot make a pipe");
	server->pipe_fd = fds[0];
	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	int rc = try_start(server, command ? command : python, fds[1], err);

	if (rc == ERR_NOT_FOUND && !command)
		rc = try_start(server, python3, fds[1], err);
	close(fds[1]);
	if (rc < 0)
		return rc;
	server->log_fd = open(POD_SERVER_LOG, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (server->log_fd < 0) {
		err_set_errno(err, errno, "cannot write '%s'", POD_SERVER_LOG);
		server->settings->say(err->text, NULL);
	}
	server->state = POD_RUNNING;
	server->output = loop_watch_readable(server->loop, fds[0], on_training_output, server);
	return 0;
}

static void on_kill_time(void *data)
{
	struct pod_server *server = data;

	if (server->pid)
		child_signal_group(server->pid, SIGKILL);
}

static void stop_training_process(struct pod_server *server)
{
	if (server->state == POD_ENDED || server->is_stopping)
		return;
	if (!server->pid) {
		end_training(server, EXIT_BY_SIGNAL + SIGTERM);
		return;
	}
	server->is_stopping = true;
	child_signal_group(server->pid, SIGTERM);
	loop_timer_arm_after(server->kill_timer, server->settings->grace);
}

static void on_end_signal(int number, void *data)
{
	(void) number;
	stop_training_process(data);
}

/* Requests. */

/* Its connection ends when the answer was sent, or given up. */
static void answer_last(struct pod_server *server, struct http_call *call, int status,
			const char *text)
{
	server->n_last_answers++;
	http_call_report_end(call);
	http_call_add_header(call, "Connection", "close");
	http_answer_text(call, status, text);
}

static void on_last_answer_end(const char *path, void *data)
{
	struct pod_server *server = data;

	(void) path;
	server->n_last_answers--;
	end_if_all_is_written(server);
}

static void answer_config(struct http_call *call, const char *name, void *data)
{
	struct pod_server *server = data;
	struct pod_config config;
	struct err err = {0};
	size_t len = 0;
	const char *body = http_call_body(call, &len);

	(void) name;
	if (server->state > POD_CONFIGURED) {
		http_answer_text(call, 409, "the training has already been started");
		return;
	}
	int rc = pod_config_read(body ? body : "", len, &config, &err);

	if (rc < 0) {
		http_answer_text(call, rc == ERR_LIMIT ? 413 : 400, err.text);
		return;
	}
	pod_config_done(&server->config);
	server->config = config;
	server->state = POD_CONFIGURED;
	http_answer_text(call, 200, "OK");
}

/* A start that fails now would fail later, too: the Pod exits, with the exit codes of shells. */
static void answer_run(struct http_call *call, const char *name, void *data)
{
	struct pod_server *server = data;
	struct err err = {0};

	(void) name;
	if (server->state != POD_CONFIGURED) {
		http_answer_text(call, 409,
				 server->state == POD_WAITING
					 ? "not configured yet; POST /config first"
					 : "the training has already been started");
		return;
	}
	int rc = start_training_process(server, &err);

	if (rc == 0) {
		http_answer_text(call, 200, "OK");
		return;
	}
	server->settings->say(err.text, NULL);
	answer_last(server, call, 500, err.text);
	file_close(&server->pipe_fd);
	end_training(server, rc == ERR_NOT_FOUND ? EXIT_NO_PROGRAM : EXIT_CANNOT_RUN);
}

static void answer_status(struct http_call *call, const char *name, void *data)
{
	const struct pod_server *server = data;
	struct json *object CLEANUP(json_cleanup) = json_new_object();

	(void) name;
	json_set_string(object, "state", state_words[server->state]);
	json_set_string(object, "master", server->config.master);
	json_set_string(object, "setId", server->config.set_id);
	http_answer_json(call, 200, object);
}

static void answer_stop(struct http_call *call, const char *name, void *data)
{
	(void) name;
	answer_last(data, call, 200, "OK");
	stop_training_process(data);
}

static const struct http_route routes[] = {
	{.method = "POST", .path = "/config", .answer = answer_config},
	{.method = "GET", .path = "/run", .acts = true, .answer = answer_run},
	{.method = "GET", .path = "/status", .answer = answer_status},
	{.method = "POST", .path = "/stop", .answer = answer_stop},
	{.method = "GET", .path = "/healthz", .is_open = true, .answer = http_answer_health},
	{0},
};

static void on_pod_server_call(struct http_call *call, void *data)
{
	const struct pod_server *server = data;

	http_routes_call(routes, &server->access, call, data);
}

/* The server. */

static int start_pod_server(struct pod_server *server, struct err *err)
{
	const struct http_server_settings settings = {
		.listening = server->settings->listening,
		.hosts = http_local_hosts,
		.access = &server->access,
		.header_limit = LIMIT_HTTP_HEADERS,
		.body_limit = LIMIT_CLUSTER_SPEC,
		.connection_limit = MOST_CONNECTIONS,
		.patience = 30 * MSEC_PER_SECOND,
		.on_call = on_pod_server_call,
		.on_end = on_last_answer_end,
		.data = server,
	};
	int rc = loop_new(&server->loop, err);

	if (rc < 0)
		return rc;
	server->access = (struct http_access){
		.is_known = server->settings->secret ? http_is_same_secret : NULL,
		.secret = server->settings->secret,
		.header = POD_SECRET_HEADER,
	};
	server->child_signal = loop_watch_signal(server->loop, SIGCHLD, on_child_signal, server);
	server->term_signal = loop_watch_signal(server->loop, SIGTERM, on_end_signal, server);
	server->int_signal = loop_watch_signal(server->loop, SIGINT, on_end_signal, server);
	server->kill_timer = loop_new_timer(server->loop, on_kill_time, server);
	server->sink = sink_new(server->loop, STDOUT_FILENO, end_if_all_is_written, server);
	return http_server_new(server->loop, &settings, &server->server, err);
}

int pod_server_run(const struct pod_server_settings *settings, int *ret_exit_code, struct err *err)
{
	struct pod_server server CLEANUP(pod_server_done) = {
		.settings = settings, .pipe_fd = -1, .log_fd = -1};
	sigset_t signals;

	/* We adopt what the training leaves behind, and nothing that it runs gains permissions. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	int rc = start_pod_server(&server, err);

	if (rc < 0)
		return rc;
	/* Our environment has the secret, and the training's processes run as the same user. */
	process_hide_memory();
	loop_run(server.loop);
	/* The end has begun, with the exit code of the training. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	*ret_exit_code = server.exit_code;
	return 0;
}
