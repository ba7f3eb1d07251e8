#include "tensorflow/library_guard.h"

#include "base/exit_code.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Written by the inner process, read by the outer one after the inner has ended. */
struct library_page {
	bool is_loading;
	char doing[120];
};

int library_guard_fork(struct library_guard *ret_guard, const char *who, const char *library,
		       struct err *err)
{
	void *page = mmap(NULL, sizeof(struct library_page), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return err_set_errno(err, errno, "cannot share memory between two processes");
	*ret_guard = (struct library_guard){.who = who, .library = library, .page = page};
	int failure = stderr_capture_open(&ret_guard->chatter, err);

	return failure ? failure : guard_fork(NULL, &ret_guard->guard, err);
}

void library_guard_note(struct library_guard *guard, const char *doing)
{
	snprintf(guard->page->doing, sizeof(guard->page->doing), "%s", doing);
}

int library_guard_load(struct library_guard *guard, bool shows_log, struct library **ret_library,
		       struct err *err)
{
	library_guard_note(guard, "loading TensorFlow");
	/* gRPC sends even local traffic through the proxy of http_proxy, which cannot reach tasks:
	 * everything hangs. An empty grpc_proxy disables it; a user who sets grpc_proxy wants a
	 * proxy. Source: grpc/doc/environment_variables.md, http_proxy_mapper.cc. */
	setenv("grpc_proxy", "", 0);
	if (shows_log)
		return library_open(guard->library, ret_library, err);
	/* A user who has set the level wants that level. 2: errors, and what ends the process. */
	setenv("TF_CPP_MIN_LOG_LEVEL", "2", 0);
	setenv("GRPC_VERBOSITY", "ERROR", 0);
	guard->page->is_loading = true;
	stderr_capture_begin(&guard->chatter);
	int failure = library_open(guard->library, ret_library, err);

	stderr_capture_end(&guard->chatter);
	guard->page->is_loading = false;
	if (failure)
		stderr_capture_show(&guard->chatter);
	return failure;
}

static int signal_of(const struct library_guard *guard)
{
	return guard->guard.was_lost ? guard->guard.exit_code - EXIT_BY_SIGNAL : 0;
}

bool library_guard_was_asked_to_end(const struct library_guard *guard)
{
	int signal_number = signal_of(guard);

	return signal_number == SIGTERM || signal_number == SIGINT || signal_number == SIGHUP;
}

int library_guard_explain(const struct library_guard *guard, struct err *err)
{
	int signal_number = signal_of(guard);

	if (guard->page->is_loading)
		stderr_capture_show(&guard->chatter);
	if (signal_number == SIGALRM)
		return err_set(err, ERR_IO, "%s hung in TensorFlow while %s; the library is '%s'",
			       guard->who, guard->page->doing, guard->library);
	if (signal_number == SIGKILL)
		return err_set(err, ERR_IO,
			       "%s was killed while %s: by a user (SIGKILL), or by the kernel (out "
			       "of memory)",
			       guard->who, guard->page->doing);
	return err_set(
		err, ERR_IO,
		"TensorFlow aborted while %s (SIG%s, %s); see its message above; library: '%s'",
		guard->page->doing, sigabbrev_np(signal_number), sigdescr_np(signal_number),
		guard->library);
}
