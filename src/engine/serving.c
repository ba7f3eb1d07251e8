#include "engine/serving.h"

#include "base/text.h"
#include "engine/serving_end.h"
#include "io/aside.h"
#include "io/guard.h"
#include "io/notify.h"
#include "tf/library.h"
#include "tf/server.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define EXIT_BY_SIGNAL 128
#define EXIT_FAILED 1
#define NANOSECONDS 1e9

/* How far the inner process has come. */
enum phase {
	PHASE_LOADING,
	PHASE_MAKING,
	PHASE_SERVING,
};

static const char *const phase_words[] = {
	"loading TensorFlow",
	"making the server",
	"serving",
};

/* What both processes see: the inner one writes, the outer one reads when the inner is gone. */
struct shared {
	volatile enum phase *phase;
	struct aside said_while_loading;
};

static int shared_open(struct shared *ret_shared, struct err *err)
{
	void *page = mmap(NULL, sizeof(enum phase), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return err_set_errno(err, errno, "cannot share memory between two processes");
	ret_shared->phase = page;
	return aside_open(&ret_shared->said_while_loading, err);
}

static void enter_phase(struct shared *shared, enum phase next)
{
	struct text status CLEANUP(text_done) = {0};

	*shared->phase = next;
	text_addf(&status, "STATUS=%s", phase_words[next]);
	notify_send(text_of(&status));
}

static double seconds_since(const struct timespec *begin)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double) (now.tv_sec - begin->tv_sec) +
	       (double) (now.tv_nsec - begin->tv_nsec) / NANOSECONDS;
}

/* Whoever has set the level knows what they want to see. 2: errors, and what ends the process. */
static void quieten_log(void)
{
	setenv("TF_CPP_MIN_LOG_LEVEL", "2", 0);
	setenv("GRPC_VERBOSITY", "ERROR", 0);
}

/* TensorFlow greets whoever loads it, whatever log level they ask for. It is heard out only when
 * that fails. */
static int load(const struct serving_request *request, struct shared *shared,
		struct library **ret_library, struct err *err)
{
	enter_phase(shared, PHASE_LOADING);
	if (request->shows_log)
		return library_open(request->library->path, ret_library, err);
	quieten_log();
	aside_begin(&shared->said_while_loading);
	int rc = library_open(request->library->path, ret_library, err);

	aside_end(&shared->said_while_loading);
	if (rc)
		aside_show(&shared->said_while_loading);
	return rc;
}

static int load_and_start(const struct serving_request *request, struct shared *shared,
			  struct serving *ret_serving, struct err *err)
{
	struct library *library; /* until the end of the process */
	struct text server_def CLEANUP(text_done) = {0};

	if (load(request, shared, &library, err))
		return err->code;
	enter_phase(shared, PHASE_MAKING);
	server_def_add(request->spec, &request->settings, &server_def);
	ret_serving->version = library->version();
	return server_start(library, &server_def, &ret_serving->target, err);
}

/* The inner process: serves until the thread of engine/serving_end ends it. */
NORETURN static void serve(const struct serving_request *request, int outer_gone_fd,
			   struct shared *shared, const struct timespec *begin)
{
	struct serving serving;
	struct err err = {0};

	if (serving_end_watch(outer_gone_fd, &err) ||
	    load_and_start(request, shared, &serving, &err)) {
		request->on_failure(&err, request->data);
		_exit(EXIT_FAILED);
	}
	serving.seconds = seconds_since(begin);
	enter_phase(shared, PHASE_SERVING);
	notify_send("READY=1");
	request->on_serving(&serving, request->data);
	for (;;)
		poll(NULL, 0, -1);
}

/* What became of an inner process that a signal ended. */
static int explain(const struct serving_request *request, enum phase phase, int signal_number,
		   struct err *err)
{
	if (signal_number == SIGKILL)
		return err_set(err, ERR_IO,
			       "the server was killed while %s: by somebody (SIGKILL), or by the "
			       "kernel because memory ran out",
			       phase_words[phase]);
	return err_set(err, ERR_IO,
		       "TensorFlow ended the process while %s (SIG%s, %s): what it said of it "
		       "stands above; the library is '%s'",
		       phase_words[phase], sigabbrev_np(signal_number), sigdescr_np(signal_number),
		       request->library->path);
}

static int explain_loss(const struct serving_request *request, const struct shared *shared,
			int exit_code, struct err *err)
{
	if (*shared->phase == PHASE_LOADING)
		aside_show(&shared->said_while_loading);
	return explain(request, *shared->phase, exit_code - EXIT_BY_SIGNAL, err);
}

int serving_run(const struct serving_request *request, int *ret_exit_code, struct err *err)
{
	struct timespec begin;
	struct guard guard;
	struct shared shared;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	if (shared_open(&shared, err) || guard_fork(&guard, err))
		return err->code;
	if (guard.is_inner)
		serve(request, guard.outer_gone_fd, &shared, &begin);
	if (guard.was_lost)
		return explain_loss(request, &shared, guard.exit_code, err);
	*ret_exit_code = guard.exit_code;
	return 0;
}
