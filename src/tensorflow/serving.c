#include "tensorflow/serving.h"

#include "base/exit_code.h"
#include "io/file.h"
#include "io/port.h"
#include "io/process.h"
#include "tensorflow/library_guard.h"

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
	return server_start(library, &server_def, request->settings.protocol, &ret_serving->target,
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
