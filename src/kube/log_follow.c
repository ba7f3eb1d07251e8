/* One question after the other, as in kube/retry.c; the first "yes" decides. */
#include "kube/log_follow.h"

#include "base/backoff.h"

#define SHORTEST_WAIT ((msec) 250)
#define LONGEST_WAIT (8 * MSEC_PER_SECOND)

bool log_follow_begin(struct log_follow *follow)
{
	const struct log_container *container = &follow->container;
	bool was_previous = follow->reads_previous;

	if (!follow->has_started && container->n_restarts > 0)
		follow->n_restarts = container->n_restarts - 1;
	follow->has_started = true;
	follow->reads_previous = container->n_restarts > follow->n_restarts;
	follow->began_after_end = container->has_ended;
	follow->has_news = false;
	return was_previous && !follow->reads_previous;
}

/* 0.25 s, 0.5 s, 1 s …, and up to half as much more. An unreachable node is asked half as often. */
static msec compute_log_back_off(int n_vain, enum log_end end, double jitter)
{
	msec first = end == LOG_END_FAILED ? 2 * SHORTEST_WAIT : SHORTEST_WAIT;

	return backoff_spread(backoff_pause(first, LONGEST_WAIT, n_vain ? n_vain : 1), 0.5, jitter);
}

/* The previous container has no more log. */
static void leave_previous(struct log_follow *follow)
{
	follow->n_restarts = follow->container.n_restarts;
	follow->n_vain = 0;
}

static bool is_complete(const struct log_follow *follow, enum log_end end, bool is_catching_up)
{
	return end == LOG_END_PROPER && follow->began_after_end && !follow->has_news &&
	       !is_catching_up;
}

/* The next step after a stream that may deserve another one. */
static struct log_next decide_next_log_stream(const struct log_follow *follow, enum log_end end,
					      double jitter)
{
	const struct log_next give_up = {LOG_STEP_GIVE_UP, 0};
	int most = end == LOG_END_FAILED ? LOG_FOLLOW_FAILURES : LOG_FOLLOW_TRIES;

	if (follow->container.has_ended && follow->n_vain >= most)
		return give_up;
	/* If the container has exited since the stream began, its log is read once more without
	 * delay. */
	if (follow->container.has_ended && (follow->has_news || !follow->began_after_end) &&
	    follow->n_vain <= 1)
		return (struct log_next){LOG_STEP_STREAM, 0};
	return (struct log_next){LOG_STEP_STREAM,
				 compute_log_back_off(follow->n_vain, end, jitter)};
}

struct log_next log_follow_ended(struct log_follow *follow, enum log_end end, bool is_catching_up,
				 double jitter)
{
	const struct log_next done = {LOG_STEP_DONE, 0}, give_up = {LOG_STEP_GIVE_UP, 0};
	bool was_lost = follow->was_lost;
	bool is_lost = end == LOG_END_LOST || end == LOG_END_FAILED;

	follow->was_lost = is_lost;
	follow->n_vain = follow->has_news ? 0 : follow->n_vain + 1;
	if (follow->reads_previous && !is_lost) {
		leave_previous(follow);
		return (struct log_next){LOG_STEP_STREAM, 0};
	}
	if (follow->container.n_restarts > follow->n_restarts && end == LOG_END_PROPER)
		return (struct log_next){LOG_STEP_STREAM, 0};
	if (is_complete(follow, end, is_catching_up))
		return done;
	/* A kubelet that has just started does not know its Pods for a moment. */
	if (end == LOG_END_ABSENT && !follow->container.has_ended)
		return decide_next_log_stream(follow, end, jitter);
	if (end == LOG_END_ABSENT || (end == LOG_END_PROPER && follow->container.is_gone))
		return was_lost ? give_up : done;
	if (end == LOG_END_REFUSED && follow->began_after_end)
		return give_up;
	return decide_next_log_stream(follow, end, jitter);
}
