/* The one thread of muster besides the first. TensorFlow catches TERM for its preemption notifier
 * (tsl/platform/.../preemption_notifier.cc) and then does nothing with it; a signal that is blocked
 * in every thread, and read from a descriptor, never gets that far. */
#include "engine/serving_end.h"

#include "base/mem.h"
#include "io/notify.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* What the thread listens to; it lives as long as the process. */
struct watch {
	struct pollfd signals, outer_gone;
};

static bool is_ignored(int signal_number)
{
	struct sigaction action;

	return sigaction(signal_number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

static void choose_signals(sigset_t *ret_signals)
{
	static const int ends[] = {SIGTERM, SIGINT, SIGHUP};

	sigemptyset(ret_signals);
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (!is_ignored(ends[i]))
			sigaddset(ret_signals, ends[i]);
}

/* _exit: what TensorFlow would do at exit fails while its threads go on. */
static void *wait_for_end(void *data)
{
	const struct watch *watch = data;
	struct pollfd sources[] = {watch->signals, watch->outer_gone};

	while (poll(sources, ARRAY_LEN(sources), -1) < 0)
		;
	notify_send("STOPPING=1");
	_exit(sources[0].revents ? 0 : 1);
}

static int start_thread(struct watch *take_watch, struct err *err)
{
	pthread_t thread;
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	int failure = pthread_create(&thread, &attributes, wait_for_end, take_watch);

	pthread_attr_destroy(&attributes);
	return failure ? err_set_errno(err, failure, "cannot start a thread") : 0;
}

int serving_end_watch(int outer_gone_fd, struct err *err)
{
	sigset_t signals;

	choose_signals(&signals);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	int fd = signalfd(-1, &signals, SFD_CLOEXEC);

	if (fd < 0)
		return err_set_errno(err, errno, "cannot listen to signals");
	struct watch *watch = mem_new(sizeof(*watch));

	watch->signals = (struct pollfd){.fd = fd, .events = POLLIN};
	watch->outer_gone = (struct pollfd){.fd = outer_gone_fd, .events = POLLIN};
	return start_thread(watch, err);
}
