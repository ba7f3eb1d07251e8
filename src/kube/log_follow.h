/* Follows the log of a Pod's container to its very end, over streams that break: decides what to do
 * when a stream has ended. Pure.
 *
 * An API server ends a stream properly when the container has exited, and also when it loses the
 * kubelet. So the end of a stream proves nothing. A log is complete when a stream that began after
 * the container was known to have exited ends properly and brings nothing new. */
#pragma once

#include "base/msec.h"
#include "base/own.h"

#include <stdbool.h>

/* Fruitless streams in a row, for an exited container, before we give up. FAILURES applies if the
 * server says that it cannot reach the node, TRIES otherwise. */
#define LOG_FOLLOW_TRIES 20
#define LOG_FOLLOW_FAILURES 4

/* The observed state of the container. */
struct log_container {
	bool has_ended; /* the container or its whole Pod has ended */
	bool is_ending; /* the Pod is being deleted */
	bool is_gone; /* the Pod no longer exists */
	int n_restarts; /* in this Pod */
};

enum log_end {
	LOG_END_PROPER, /* properly, as after the last byte */
	LOG_END_LOST, /* the connection was lost */
	LOG_END_FAILED, /* the server could not get the log */
	LOG_END_NOT_YET, /* the container has not started */
	LOG_END_ABSENT, /* no such Pod or container */
	LOG_END_REFUSED, /* rejected; asking again soon does not help */
};

/* Zero it to begin. */
struct log_follow {
	struct log_container container;
	bool has_started;
	int n_restarts; /* of the container whose log is being read */
	bool reads_previous; /* … and that has been restarted since */
	bool began_after_end;
	bool has_news; /* the current stream brought new bytes */
	int n_vain; /* streams in a row that brought nothing new */
	bool was_lost; /* the connection of the previous stream was lost */
};

enum log_step {
	LOG_STEP_STREAM, /* open another stream after `wait` */
	LOG_STEP_DONE, /* the log is complete */
	LOG_STEP_GIVE_UP, /* give up; bytes may be missing */
};

struct log_next {
	enum log_step step;
	msec wait;
};

/* A stream begins. Returns true if it is of another container than the last one. */
bool log_follow_begin(struct log_follow *follow);
/* A stream has ended; returns the next step. `is_catching_up` as in log_lines; `jitter` is a random
 * number from 0 to 1. */
struct log_next log_follow_ended(struct log_follow *follow, enum log_end end, bool is_catching_up,
				 double jitter);
