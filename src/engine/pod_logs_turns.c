/* Whose turn it is to open a stream. A large job begins all at once, and each connection costs the
 * server a handshake, and us its memory. */
#include "engine/pod_logs_parts.h"
#include "io/heap.h"

#define OPENING_AT_ONCE 32
#define OPENING_WHEN_BUSY 2

static size_t most_at_once(const struct pod_logs *logs)
{
	const struct pod_logs_settings *settings = &logs->settings;

	return settings->is_busy && settings->is_busy(settings->data) ? OPENING_WHEN_BUSY
								      : OPENING_AT_ONCE;
}

static void wait_for_turn(struct pod_log *log)
{
	struct pod_logs *logs = log->logs;

	if (log->is_waiting)
		return;
	log->is_waiting = true;
	log->next_waiting = NULL;
	*(logs->last_waiting ? &logs->last_waiting->next_waiting : &logs->first_waiting) = log;
	logs->last_waiting = log;
}

void pod_log_leave_turns(struct pod_log *log)
{
	struct pod_logs *logs = log->logs;
	struct pod_log **link = &logs->first_waiting, *before = NULL;

	if (!log->is_waiting)
		return;
	for (; *link != log; link = &(*link)->next_waiting)
		before = *link;
	*link = log->next_waiting;
	if (logs->last_waiting == log)
		logs->last_waiting = before;
	log->is_waiting = false;
}

static void give_turn(struct pod_log *log)
{
	log->is_opening = true;
	log->logs->n_opening++;
	log->logs->n_opened++;
}

bool pod_log_take_turn(struct pod_log *log)
{
	if (!log->is_opening && log->logs->n_opening >= most_at_once(log->logs)) {
		wait_for_turn(log);
		return false;
	}
	if (!log->is_opening)
		give_turn(log);
	return true;
}

static void give_turns(struct pod_logs *logs)
{
	size_t most = most_at_once(logs);
	struct pod_log *next;

	while (logs->n_opening < most && (next = logs->first_waiting)) {
		pod_log_leave_turns(next);
		give_turn(next);
		loop_timer_arm(next->timer, loop_now());
	}
}

static void give_back_after_burst(struct pod_logs *logs)
{
	if (logs->n_opening > 0 || logs->n_opened < OPENING_AT_ONCE)
		return;
	logs->n_opened = 0;
	heap_give_back();
}

void pod_log_end_opening(struct pod_log *log)
{
	if (!log->is_opening)
		return;
	log->is_opening = false;
	log->logs->n_opening--;
	give_turns(log->logs);
	give_back_after_burst(log->logs);
}
