#include "tensorflow/serving.h"

#include "base/exit_code.h"
#include "base/protobuf.h"
#include "io/file.h"
#include "io/port.h"
#include "io/process.h"
#include "tensorflow/library_guard.h"

#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Sends "READY=1", "STATUS=…" and similar lines, separated by line feeds. Does nothing if no
 * process asked or listens. Safe in a signal handler and with other threads running. */
static void notify_send(const char *state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const char *path = getenv("NOTIFY_SOCKET");
	size_t len = path ? strlen(path) : 0;

	if (len < 2 || len > sizeof(address.sun_path) || (path[0] != '/' && path[0] != '@'))
		return;
	memcpy(address.sun_path, path, len);
	/* Linux' abstract sockets: a name that begins with a NUL byte. */
	if (path[0] == '@')
		address.sun_path[0] = '\0';
	int fd CLEANUP(file_close) = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd >= 0)
		sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *) &address,
		       (socklen_t) (offsetof(struct sockaddr_un, sun_path) + len));
}

/* The only thread of muster other than the main one. TensorFlow catches SIGTERM for its preemption
 * notifier (tsl/platform/.../preemption_notifier.cc) and then ignores it. A signal that is blocked
 * in every thread, and read from a descriptor, never reaches that handler.
 *
 * It polls the signals and the outer process. _exit: TensorFlow's exit handlers fail while its
 * threads run. */
static void *exit_when_stopped(void *data)
{
	struct pollfd *sources = data;

	while (poll(sources, 2, -1) < 0)
		;
	notify_send("STOPPING=1");
	_exit(sources[0].revents ? 0 : 1);
}

/* Starts a thread that ends the process with code 0 on SIGTERM, SIGINT or SIGHUP, and with 1 when
 * `outer_gone_fd` (io/guard) shows that the outer process has exited. Call it before TensorFlow is
 * loaded: its threads inherit our signal mask, and its calls, which may take seconds or forever,
 * cannot be interrupted. Ignored signals stay ignored (nohup). */
static int serving_end_watch(int outer_gone_fd, struct err *err)
{
	static const int ends[] = {SIGTERM, SIGINT, SIGHUP};
	sigset_t signals;

	sigemptyset(&signals);
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (!process_ignores(ends[i]))
			sigaddset(&signals, ends[i]);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	int fd = signalfd(-1, &signals, SFD_CLOEXEC);

	if (fd < 0)
		return err_set_errno(err, errno, "cannot listen to signals");
	/* They live as long as the process. */
	struct pollfd *sources = mem_new_array(2, sizeof(*sources));
	pthread_t thread;

	sources[0] = (struct pollfd){.fd = fd, .events = POLLIN};
	sources[1] = (struct pollfd){.fd = outer_gone_fd, .events = POLLIN};
	int failure = pthread_create(&thread, NULL, exit_when_stopped, sources);

	return failure ? err_set_errno(err, failure, "cannot start a thread") : 0;
}

#define PORT_PATIENCE 3000 /* milliseconds */
#define PORT_PAUSE 20

static void enter_phase(struct library_guard *guard, const char *phase)
{
	struct text status CLEANUP(text_done) = {0};

	library_guard_note(guard, phase);
	text_addf(&status, "STATUS=%s", phase);
	notify_send(text_of(&status));
}

/* gRPC shares a port with any other server on it (SO_REUSEPORT), and half of the clients would
 * reach the other one. That may be our killed predecessor, whose port is not free until the kernel
 * has released its memory. No event reports that, so the port is retried for a while. */
static int wait_for_port(const struct serving_request *request, struct library_guard *guard,
			 struct err *err)
{
	const struct cluster_spec *spec = request->spec;
	int port = address_port(spec->own->address);

	if (port_is_free(port))
		return 0;
	enter_phase(guard, "waiting for the port");
	for (int waited = 0; waited < PORT_PATIENCE; waited += PORT_PAUSE) {
		poll(NULL, 0, PORT_PAUSE);
		if (port_is_free(port))
			return 0;
	}
	return err_set(err, ERR_EXISTS,
		       "port %d of %s-%d is in use on this machine; to find the process: ss -tlnp "
		       "'sport = :%d'",
		       port, spec->own->job, spec->own->index, port);
}

/* Creates and starts a server from the bytes of a ServerDef; its address lives with the process. */
static int create_server(const struct library *library, const struct text *server_def,
			 const char *protocol, const char **ret_target, struct err *err)
{
	struct TF_Status *status = library->new_status();
	struct TF_Server *server =
		library->new_server(text_of(server_def), server_def->len, status);
	int rc = 0;

	if (library->get_code(status) == TF_CODE_OK)
		library->server_start(server, status);
	if (library->get_code(status) == TF_CODE_OK)
		*ret_target = library->server_target(server);
	/* ServerFactory::GetFactory searches the factories linked into the library; its message
	 * contains the whole cluster. */
	else if (library->get_code(status) == TF_CODE_NOT_FOUND)
		rc = err_set(err, ERR_UNSUPPORTED,
			     "TensorFlow %s in '%s' has no server for protocol '%s'",
			     library->version(), library->path, protocol);
	else
		rc = err_set(err, ERR_REFUSED, "TensorFlow cannot create the server: %s",
			     library->message(status));
	library->delete_status(status);
	return rc;
}

/* Field numbers. */
enum {
	SERVER_CLUSTER = 1,
	SERVER_JOB_NAME = 2,
	SERVER_TASK_INDEX = 3,
	SERVER_SESSION_CONFIG = 4,
	SERVER_PROTOCOL = 5,
	CLUSTER_JOB = 1,
	JOB_NAME = 1,
	JOB_TASKS = 2,
	ENTRY_KEY = 1,
	ENTRY_VALUE = 2,
	CONFIG_INTER_OP_THREADS = 5,
	CONFIG_GPU_OPTIONS = 6,
	GPU_MEMORY_FRACTION = 1,
};

/* Readers ignore the order of map entries. Python's protobuf (upb) writes the last one first,
 * because it fills its buffer from the end. */
static void add_job(const struct spec_job *job, struct text *cluster_def)
{
	struct text job_def CLEANUP(text_done) = {0};

	protobuf_add_text(&job_def, JOB_NAME, job->name);
	/* A map entry has both its fields, even with default values. */
	for (size_t i = job->n_tasks; i-- > 0;) {
		struct text entry CLEANUP(text_done) = {0};

		protobuf_add_number(&entry, ENTRY_KEY, job->tasks[i].index);
		protobuf_add_text(&entry, ENTRY_VALUE, job->tasks[i].address);
		protobuf_add_message(&job_def, JOB_TASKS, &entry);
	}
	protobuf_add_message(cluster_def, CLUSTER_JOB, &job_def);
}

static void add_session_config(const struct server_settings *settings, struct text *message)
{
	struct text config CLEANUP(text_done) = {0};
	struct text gpu_options CLEANUP(text_done) = {0};

	if (settings->inter_op_threads > 0)
		protobuf_add_number(&config, CONFIG_INTER_OP_THREADS, settings->inter_op_threads);
	if (settings->gpu_memory_fraction > 0) {
		protobuf_add_double(&gpu_options, GPU_MEMORY_FRACTION,
				    settings->gpu_memory_fraction);
		protobuf_add_message(&config, CONFIG_GPU_OPTIONS, &gpu_options);
	}
	if (config.len > 0)
		protobuf_add_message(message, SERVER_SESSION_CONFIG, &config);
}

void server_def_add(const struct cluster_spec *spec, const struct server_settings *settings,
		    struct text *message)
{
	struct text cluster_def CLEANUP(text_done) = {0};

	assert(spec->own);
	for (size_t i = 0; i < spec->n_jobs; i++)
		add_job(&spec->jobs[i], &cluster_def);
	protobuf_add_message(message, SERVER_CLUSTER, &cluster_def);
	protobuf_add_text(message, SERVER_JOB_NAME, spec->own->job);
	if (spec->own->index > 0)
		protobuf_add_number(message, SERVER_TASK_INDEX, spec->own->index);
	add_session_config(settings, message);
	protobuf_add_text(message, SERVER_PROTOCOL, settings->protocol);
}

static int start_server(const struct serving_request *request, struct library_guard *guard,
			struct serving *ret_serving, struct err *err)
{
	struct library *library; /* until the end of the process */
	struct text server_def CLEANUP(text_done) = {0};

	if (request->on_network) {
		/* The test uses our port and then releases it for the server. */
		enter_phase(guard, "testing the network");
		if (network_matrix_run(request->spec, request->network_timeout, request->on_network,
				       request->data, err))
			return err->code;
	}
	enter_phase(guard, "loading TensorFlow");
	if (library_guard_load(guard, request->shows_log, &library, err))
		return err->code;
	enter_phase(guard, "creating the server");
	server_def_add(request->spec, &request->settings, &server_def);
	ret_serving->version = library->version();
	return create_server(library, &server_def, request->settings.protocol, &ret_serving->target,
			     err);
}

/* We only use _exit, so it was TensorFlow that called exit. */
static void on_tensorflow_exit(int code, void *data)
{
	const struct serving_request *request = data;
	struct err err;

	err_set(&err, ERR_IO, "TensorFlow ended the process (exit code %d); the library is '%s'",
		code, request->library->path);
	request->on_failure(&err, request->data);
	_exit(EXIT_FAILED);
}

/* The inner process: serves until its thread ends it. */
NORETURN static void serve(const struct serving_request *request, struct library_guard *guard,
			   int64_t begin)
{
	struct serving serving;
	struct err err = {0};

	on_exit(on_tensorflow_exit, (void *) request);
	if (serving_end_watch(guard->guard.outer_gone_fd, &err) ||
	    wait_for_port(request, guard, &err) || start_server(request, guard, &serving, &err)) {
		request->on_failure(&err, request->data);
		_exit(EXIT_FAILED);
	}
	serving.seconds = (double) (loop_monotonic_microseconds() - begin) / 1e6;
	enter_phase(guard, "serving");
	notify_send("READY=1");
	request->on_serving(&serving, request->data);
	for (;;)
		poll(NULL, 0, -1);
}

int serving_run(const struct serving_request *request, int *ret_exit_code, struct err *err)
{
	int64_t begin = loop_monotonic_microseconds();
	struct library_guard guard;
	if (library_guard_fork(&guard, "the server", request->library->path, err))
		return err->code;
	if (guard.guard.is_inner)
		serve(request, &guard, begin);
	/* A signal may arrive before the inner process listens for it. */
	bool was_asked = library_guard_was_asked_to_end(&guard);

	if (guard.guard.was_lost && !was_asked)
		return library_guard_explain(&guard, err);
	*ret_exit_code = was_asked ? 0 : guard.guard.exit_code;
	return 0;
}
