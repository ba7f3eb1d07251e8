/* The parent of the questions: answers others meanwhile, collects what the questions found. */
#include "io/network_probe.h"

#include "base/mem.h"
#include "io/file.h"
#include "io/loop.h"
#include "io/network_answer.h"
#include "io/network_ask.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a question may take behind the timeout, when it has just found its peer then: a few
 * exchanges with their own limits. Who takes longer hangs in the name service. */
#define LAST_WORDS ((msec) 5000)

/* What a question's process writes into the pipe: few enough bytes to stay together (pipe(7)). */
struct report {
	size_t peer;
	struct network_finding finding;
};

struct question {
	pid_t pid; /* 0: none was started */
	bool is_final; /* it was told */
	bool is_gone; /* its process has done what it had to, or died: it is not to be killed */
};

struct run {
	const struct network_peer *peers;
	size_t n_peers;
	size_t own; /* n_peers: nobody of them */
	msec until; /* of the steady clock */
	network_finding_fn tell;
	void *data;
	struct question *questions; /* one for each peer */
	size_t n_open; /* questions that are not final */
	int listener;
	int reports[2];
	int turn[2];
	struct loop *loop;
	struct loop_watch *watch; /* of the reports */
	struct loop_watch *late, *last; /* when the timeout is over, and when the last words are */
	loop_fn on_end; /* all is known, or the time is over; may be called again */
	void *end_data;
	struct network_answerer *answerer; /* NULL: nobody is to be answered */
	bool is_late; /* the timeout is over */
};

static void close_pair(int pair[2])
{
	file_close(&pair[0]);
	file_close(&pair[1]);
}

static void run_done(struct run *run)
{
	network_answerer_free(run->answerer);
	loop_watch_free(run->last);
	loop_watch_free(run->late);
	loop_watch_free(run->watch);
	file_close(&run->listener);
	close_pair(run->reports);
	close_pair(run->turn);
	free(run->questions);
}

static int open_pipes(struct run *run, struct err *err)
{
	if (pipe2(run->reports, O_CLOEXEC | O_NONBLOCK) < 0 ||
	    pipe2(run->turn, O_CLOEXEC | O_NONBLOCK) < 0 || write(run->turn[1], "", 1) != 1)
		return err_set_errno(err, errno, "cannot make a pipe");
	return 0;
}

static int open_all(struct run *run, struct err *err)
{
	int failure = open_pipes(run, err);

	if (!failure && run->own < run->n_peers)
		failure = network_listen(run->peers[run->own].port, &run->listener, err);
	return failure;
}

/* Its parent's handlers are not for it, and it ends with its parent. */
static void hear_no_signals(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
}

/* The process of one question. Nothing of its parent is to be ended twice: it leaves by _exit. */
static NORETURN void ask(const struct run *run, size_t peer, pid_t parent)
{
	const struct network_question question = {
		.own_name = run->own < run->n_peers ? run->peers[run->own].name : NULL,
		.peer = &run->peers[peer],
		.until = run->until,
		.turn = {run->turn[0], run->turn[1]},
	};
	struct report report = {.peer = peer};

	hear_no_signals();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	if (run->listener >= 0)
		close(run->listener);
	network_ask(&question, &report.finding);
	_exit(file_write_all(run->reports[1], &report, sizeof(report), NULL) ? EXIT_FAILURE
									     : EXIT_SUCCESS);
}

static void finish_question(struct run *run, size_t peer, const struct network_finding *finding)
{
	if (run->questions[peer].is_final)
		return;
	run->questions[peer].is_final = true;
	run->n_open--;
	/* As when we are restarted alone, and all others serve already. */
	if (finding->is_stranger && run->answerer)
		network_answerer_expect_nothing(run->answerer, peer);
	run->tell(peer, finding, run->data);
}

static void start_question(struct run *run, size_t peer)
{
	struct network_finding finding = {0};
	pid_t parent = getpid(), pid = fork();

	if (pid == 0)
		ask(run, peer, parent);
	if (pid > 0) {
		run->questions[peer].pid = pid;
		return;
	}
	network_finding_fail_errno(&finding, NETWORK_RESOLVE, errno);
	finish_question(run, peer, &finding);
}

/* In the order of the ring: the one behind us is asked first. */
static void start_questions(struct run *run)
{
	bool has_own = run->own < run->n_peers;
	size_t n_questions = has_own ? run->n_peers - 1 : run->n_peers;

	run->questions = mem_new_array(run->n_peers, sizeof(*run->questions));
	run->n_open = n_questions;
	for (size_t i = 0; i < n_questions; i++)
		start_question(run, has_own ? (run->own + 1 + i) % run->n_peers : i);
	file_close(&run->reports[1]);
}

static bool is_over(const struct run *run)
{
	if (run->n_open > 0)
		return false;
	if (!run->answerer || network_answerer_was_asked_by_all(run->answerer))
		return true;
	return run->is_late && !network_answerer_is_busy(run->answerer);
}

/* What is called here may free the run. */
static void on_change(void *data)
{
	struct run *run = data;

	if (is_over(run))
		run->on_end(run->end_data);
}

static void finish_all_questions(struct run *run, const char *why)
{
	struct network_finding finding = {0};

	network_finding_fail(&finding, NETWORK_RESOLVE, "%s", why);
	for (size_t i = 0; i < run->n_peers; i++)
		if (i != run->own)
			finish_question(run, i, &finding);
}

/* At the end of the pipe no process is left that could report. */
static void on_report(void *data)
{
	struct run *run = data;
	struct report report;
	ssize_t n_read = read(run->reports[0], &report, sizeof(report));

	if (n_read == sizeof(report)) {
		run->questions[report.peer].is_gone = true;
		finish_question(run, report.peer, &report.finding);
	}
	if (n_read == 0) {
		loop_watch_enable(run->watch, false);
		for (size_t i = 0; i < run->n_peers; i++)
			run->questions[i].is_gone = true;
		finish_all_questions(run, "the process that asked was killed");
	}
	on_change(run);
}

static void on_timeout(void *data)
{
	struct run *run = data;

	run->is_late = true;
	on_change(run);
}

/* A process that has not reported by now never will: getaddrinfo alone knows no limit. */
static void on_last_word(void *data)
{
	struct run *run = data;

	finish_all_questions(run, "timed out");
	run->on_end(run->end_data);
}

static void watch(struct run *run, msec timeout)
{
	run->late = loop_new_timer(run->loop, on_timeout, run);
	run->last = loop_new_timer(run->loop, on_last_word, run);
	run->watch = loop_watch_readable(run->loop, run->reports[0], on_report, run);
	if (run->listener >= 0) {
		run->answerer = network_answerer_new(run->loop, run->listener, run->peers,
						     run->n_peers, run->own, on_change, run);
		run->listener = -1;
	}
	loop_timer_arm(run->late, loop_now() + timeout);
	loop_timer_arm(run->last, loop_now() + timeout + LAST_WORDS);
}

/* Begins all of it. After an error nothing is to be ended but by run_done. */
static int start(struct run *run, msec timeout, struct err *err)
{
	run->listener = -1;
	run->reports[0] = run->reports[1] = run->turn[0] = run->turn[1] = -1;
	run->until = loop_monotonic_now() + timeout;
	int failure = open_all(run, err);

	if (failure)
		return failure;
	start_questions(run);
	watch(run, timeout);
	return 0;
}

static void end_questions(struct run *run)
{
	for (size_t i = 0; run->questions && i < run->n_peers; i++) {
		pid_t pid = run->questions[i].pid;

		if (pid > 0 && !run->questions[i].is_gone)
			kill(pid, SIGKILL);
		while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
}

static void stop_loop(void *data)
{
	loop_stop(((struct run *) data)->loop);
}

/* To the end, in a loop of its own. */
static int run_through(struct run *run, msec timeout, struct err *err)
{
	int failure = loop_new(&run->loop, err);

	if (failure)
		return failure;
	run->on_end = stop_loop;
	run->end_data = run;
	failure = start(run, timeout, err);
	if (!failure && !is_over(run))
		loop_run(run->loop);
	end_questions(run);
	run_done(run);
	loop_free(run->loop);
	return failure;
}

int network_probe_run(const struct network_probe *probe, network_finding_fn tell, void *data,
		      struct err *err)
{
	struct run run = {
		.peers = probe->peers,
		.n_peers = probe->n_peers,
		.own = probe->own,
		.tell = tell,
		.data = data,
	};

	return run_through(&run, probe->timeout, err);
}

static struct run reaching(const struct network_peer *peers, size_t n_peers,
			   network_finding_fn tell, void *data)
{
	return (struct run){
		.peers = peers,
		.n_peers = n_peers,
		.own = n_peers,
		.tell = tell,
		.data = data,
	};
}

int network_reach(const struct network_peer *peers, size_t n_peers, msec timeout,
		  network_finding_fn tell, void *data, struct err *err)
{
	struct run run = reaching(peers, n_peers, tell, data);

	return run_through(&run, timeout, err);
}

struct network_reach {
	struct run run;
};

int network_reach_start(const struct network_reach_settings *settings,
			struct network_reach **ret_reach, struct err *err)
{
	struct network_reach *reach = mem_new(sizeof(*reach));

	reach->run = reaching(settings->peers, settings->n_peers, settings->tell, settings->data);
	reach->run.loop = settings->loop;
	reach->run.on_end = settings->on_end;
	reach->run.end_data = settings->data;
	int failure = start(&reach->run, settings->timeout, err);

	if (failure)
		network_reach_free(reach);
	else
		*ret_reach = reach;
	return failure;
}

void network_reach_free(struct network_reach *reach)
{
	if (!reach)
		return;
	end_questions(&reach->run);
	run_done(&reach->run);
	free(reach);
}
