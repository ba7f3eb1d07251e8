/* The parent of the question processes: answers other tasks meanwhile and collects the findings. */
#include "tensorflow/network_probe.h"

#include "base/mem.h"
#include "io/child.h"
#include "io/file.h"
#include "tensorflow/network_answer.h"

#include <string.h>

/* Time that a question may take after the timeout if it has just found its peer: a few exchanges
 * with their own limits. A longer one hangs in the name service. */
#define LAST_WORDS ((msec) 5000)

/* What a question's process writes into the pipe; small enough to be atomic (pipe(7)). */
struct report {
	size_t peer;
	struct network_finding finding;
};

struct question {
	pid_t pid; /* 0: not started */
	bool is_final; /* it was reported */
};

struct network_probe {
	struct network_probe_settings settings;
	struct loop *loop;
	instant until;
	struct question *questions; /* one for each peer */
	size_t n_open; /* number of questions that are not final */
	int reports[2];
	int turn[2];
	struct loop_watch *watch; /* of the reports */
	struct loop_watch *late, *last; /* at the timeout, and after the last answers */
	struct network_answerer *answerer; /* NULL: no peer needs answers */
	bool is_late; /* the timeout has passed */
};

static bool is_task(const struct network_probe *probe)
{
	return probe->settings.own < probe->settings.n_peers;
}

static void finish_question(struct network_probe *probe, size_t peer,
			    const struct network_finding *finding)
{
	if (probe->questions[peer].is_final)
		return;
	probe->questions[peer].is_final = true;
	probe->n_open--;
	if (probe->answerer)
		network_answerer_know(probe->answerer, peer, &finding->addresses);
	/* As when only this task restarts and all others already serve. */
	if (finding->is_stranger && probe->answerer)
		network_answerer_expect_nothing(probe->answerer, peer);
	probe->settings.tell(peer, finding, probe->settings.data);
}

static void start_question(struct network_probe *probe, size_t peer)
{
	const struct network_peer *peers = probe->settings.peers;
	const struct network_question question = {
		.own_name = is_task(probe) ? peers[probe->settings.own].name : NULL,
		.peer = &peers[peer],
		.until = probe->until,
		.turn = {probe->turn[0], probe->turn[1]},
	};
	struct report report = {.peer = peer};
	struct network_finding finding = {0};
	pid_t pid = child_fork();

	if (pid == 0) {
		network_ask(&question, &report.finding);
		_exit(file_write_all(probe->reports[1], &report, sizeof(report), NULL) != 0);
	}
	if (pid > 0) {
		probe->questions[peer].pid = pid;
		return;
	}
	network_finding_fail(&finding, NETWORK_RESOLVE, strerror(errno));
	finish_question(probe, peer, &finding);
}

/* In ring order: our successor is asked first. */
static void start_questions(struct network_probe *probe)
{
	size_t n_peers = probe->settings.n_peers;
	size_t n_questions = is_task(probe) ? n_peers - 1 : n_peers;
	size_t first = is_task(probe) ? probe->settings.own + 1 : 0;

	probe->questions = mem_new_array(n_peers, sizeof(*probe->questions));
	probe->n_open = n_questions;
	for (size_t i = 0; i < n_questions; i++)
		start_question(probe, (first + i) % n_peers);
}

static bool is_network_probe_over(const struct network_probe *probe)
{
	if (probe->n_open > 0)
		return false;
	if (!probe->answerer || network_answerer_was_asked_by_all(probe->answerer))
		return true;
	return probe->is_late && !network_answerer_is_busy(probe->answerer);
}

/* May free the probe. */
static void finish_network_probe(struct network_probe *probe)
{
	const struct network_probe_settings *settings = &probe->settings;

	/* Another client used the name of a peer, and the peer itself did not ask. */
	for (size_t i = 0; probe->answerer && i < settings->n_peers; i++) {
		const struct in6_addr *other = network_answerer_other(probe->answerer, i);
		char address[INET6_ADDRSTRLEN];

		if (!other)
			continue;
		network_address_write(other, address);
		settings->tell_of_other(i, address, settings->data);
	}
	if (settings->on_end)
		settings->on_end(settings->data);
	else
		loop_stop(probe->loop);
}

static void on_answerer_change(void *data)
{
	struct network_probe *probe = data;

	if (is_network_probe_over(probe))
		finish_network_probe(probe);
}

static void on_report(void *data)
{
	struct network_probe *probe = data;
	struct report report;

	if (read(probe->reports[0], &report, sizeof(report)) == sizeof(report))
		finish_question(probe, report.peer, &report.finding);
	on_answerer_change(probe);
}

static void on_timeout(void *data)
{
	struct network_probe *probe = data;

	probe->is_late = true;
	on_answerer_change(probe);
}

/* A process that has not reported yet never will: only getaddrinfo has no limit. */
static void on_last_word(void *data)
{
	struct network_probe *probe = data;
	const struct network_finding finding = {.stage = NETWORK_RESOLVE, .error = "timed out"};

	for (size_t i = 0; i < probe->settings.n_peers; i++)
		if (i != probe->settings.own)
			finish_question(probe, i, &finding);
	finish_network_probe(probe);
}

int network_probe_start(struct loop *loop, const struct network_probe_settings *settings,
			struct network_probe **ret_probe, struct err *err)
{
	struct network_probe *probe = mem_new(sizeof(*probe));

	*probe = (struct network_probe){
		.settings = *settings,
		.loop = loop,
		.until = loop_instant_after(settings->timeout),
		.reports = {-1, -1},
		.turn = {-1, -1},
	};
	int failure = 0;

	if (pipe2(probe->reports, O_CLOEXEC | O_NONBLOCK) < 0 ||
	    pipe2(probe->turn, O_CLOEXEC | O_NONBLOCK) < 0 || write(probe->turn[1], "", 1) != 1)
		failure = err_set_errno(err, errno, "cannot create a pipe");
	if (!failure && is_task(probe))
		failure = network_answerer_new(loop, settings->peers, settings->n_peers,
					       settings->own, on_answerer_change, probe,
					       &probe->answerer, err);
	if (failure) {
		network_probe_free(probe);
		return failure;
	}
	start_questions(probe);
	probe->watch = loop_watch_readable(loop, probe->reports[0], on_report, probe);
	probe->late = loop_new_timer(loop, on_timeout, probe);
	probe->last = loop_new_timer(loop, on_last_word, probe);
	/* Without questions it is done immediately. */
	loop_timer_arm_after(probe->late, (is_network_probe_over(probe) ? 0 : settings->timeout));
	loop_timer_arm_after(probe->last, settings->timeout + LAST_WORDS);
	*ret_probe = probe;
	return 0;
}

void network_probe_free(struct network_probe *probe)
{
	if (!probe)
		return;
	for (size_t i = 0; probe->questions && i < probe->settings.n_peers; i++)
		if (probe->questions[i].pid > 0)
			child_end(probe->questions[i].pid);
	free(probe->questions);
	network_answerer_free(probe->answerer);
	loop_watch_free(probe->last);
	loop_watch_free(probe->late);
	loop_watch_free(probe->watch);
	for (size_t i = 0; i < 2; i++) {
		file_close(&probe->reports[i]);
		file_close(&probe->turn[i]);
	}
	free(probe);
}

int network_probe_run(const struct network_probe_settings *settings, struct err *err)
{
	struct loop *loop;
	struct network_probe *probe;
	int failure = loop_new(&loop, err);

	if (failure)
		return failure;
	failure = network_probe_start(loop, settings, &probe, err);
	if (!failure) {
		loop_run(loop);
		network_probe_free(probe);
	}
	loop_free(loop);
	return failure;
}
