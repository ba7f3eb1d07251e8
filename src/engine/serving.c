#include "engine/serving.h"

#include "base/text.h"
#include "core/cluster_address.h"
#include "engine/library_guard.h"
#include "engine/serving_end.h"
#include "io/notify.h"
#include "io/port.h"
#include "tf/library.h"
#include "tf/server.h"

#include <poll.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define EXIT_FAILED 1
#define NANOSECONDS 1000000000L
#define PORT_PATIENCE 3000 /* milliseconds */
#define PORT_PAUSE 20

static void enter_phase(struct library_guard *guard, const char *phase)
{
	struct text status CLEANUP(text_done) = {0};

	library_guard_note(guard, phase);
	text_addf(&status, "STATUS=%s", phase);
	notify_send(text_of(&status));
}

static double seconds_since(const struct timespec *begin)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double) (now.tv_sec - begin->tv_sec) +
	       (double) (now.tv_nsec - begin->tv_nsec) / (double) NANOSECONDS;
}

/* gRPC shares a port with whoever has it (SO_REUSEPORT), and half of the clients would reach the
 * other one. That may be our own predecessor: it was killed, and until the kernel has taken its
 * memory away its port is not free. Nobody tells when it is, so it is tried again for a while. */
static bool becomes_free(int port)
{
	const struct timespec pause = {.tv_nsec = PORT_PAUSE * (NANOSECONDS / 1000)};

	for (int waited = 0; waited < PORT_PATIENCE; waited += PORT_PAUSE) {
		nanosleep(&pause, NULL);
		if (port_is_free(port))
			return true;
	}
	return false;
}

static int wait_for_port(const struct serving_request *request, struct library_guard *guard,
			 struct err *err)
{
	const struct cluster_spec *spec = request->spec;
	int port = address_port(cluster_spec_own_address(spec));

	if (port_is_free(port))
		return 0;
	enter_phase(guard, "waiting for the port");
	if (becomes_free(port))
		return 0;
	return err_set(err, ERR_EXISTS,
		       "port %d of %s-%d is in use on this machine: ss -tlnp 'sport = :%d' shows "
		       "by whom",
		       port, spec->own_job, spec->own_index, port);
}

/* It takes our port, and gives it back for the server. */
static int try_network(const struct serving_request *request, struct library_guard *guard,
		       struct err *err)
{
	if (!request->on_network)
		return 0;
	enter_phase(guard, "trying the network");
	return network_matrix_run(request->spec, request->network_timeout, request->on_network,
				  request->data, err);
}

static int load_and_start(const struct serving_request *request, struct library_guard *guard,
			  struct serving *ret_serving, struct err *err)
{
	struct library *library; /* until the end of the process */
	struct text server_def CLEANUP(text_done) = {0};

	enter_phase(guard, "loading TensorFlow");
	if (library_guard_load(guard, request->shows_log, &library, err))
		return err->code;
	enter_phase(guard, "making the server");
	server_def_add(request->spec, &request->settings, &server_def);
	ret_serving->version = library->version();
	return server_start(library, &server_def, request->settings.protocol, &ret_serving->target,
			    err);
}

/* We end with _exit alone, so it is TensorFlow that called exit. */
static void tell_exit(int code, void *data)
{
	const struct serving_request *request = data;
	struct err err;

	err_set(&err, ERR_IO, "TensorFlow ended the process (exit code %d); the library is '%s'",
		code, request->library->path);
	request->on_failure(&err, request->data);
	_exit(EXIT_FAILED);
}

/* The inner process: serves until the thread of engine/serving_end ends it. */
NORETURN static void serve(const struct serving_request *request, struct library_guard *guard,
			   const struct timespec *begin)
{
	struct serving serving;
	struct err err = {0};

	on_exit(tell_exit, (void *) request);
	if (serving_end_watch(guard->guard.outer_gone_fd, &err) ||
	    wait_for_port(request, guard, &err) || try_network(request, guard, &err) ||
	    load_and_start(request, guard, &serving, &err)) {
		request->on_failure(&err, request->data);
		_exit(EXIT_FAILED);
	}
	serving.seconds = seconds_since(begin);
	enter_phase(guard, "serving");
	notify_send("READY=1");
	request->on_serving(&serving, request->data);
	for (;;)
		poll(NULL, 0, -1);
}

int serving_run(const struct serving_request *request, int *ret_exit_code, struct err *err)
{
	struct timespec begin;
	struct library_guard guard;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	if (library_guard_fork(&guard, "the server", request->library->path, err))
		return err->code;
	if (guard.guard.is_inner)
		serve(request, &guard, &begin);
	/* A signal may come before the inner process listens. */
	bool was_asked = library_guard_was_asked_to_end(&guard);

	if (guard.guard.was_lost && !was_asked)
		return library_guard_explain(&guard, err);
	*ret_exit_code = was_asked ? 0 : guard.guard.exit_code;
	return 0;
}
