/* How the log of a Pod's container is followed to its very end, over streams that break: what is
 * done when one has ended. Pure.
 *
 * An API server ends a stream properly when the container has ended, and also when it loses the
 * kubelet behind it. So the end of a stream says nothing. A log is complete when a stream that
 * began after the container's end was known has come to its own end and brought nothing new. */
#pragma once

#include "base/msec.h"
#include "base/own.h"

#include <stdbool.h>

/* In vain, of a container that has ended: where there is no answer, and where the server says that
 * it cannot reach the node. */
#define LOG_FOLLOW_TRIES 20
#define LOG_FOLLOW_FAILURES 4

/* What the cluster shows of the container. */
struct log_container {
	bool has_ended; /* it, or its whole Pod */
	bool is_ending; /* its Pod was asked to end */
	bool is_gone; /* there is no such Pod any more */
	int n_restarts; /* in this Pod */
};

enum log_end {
	LOG_END_PROPER, /* as it ends when all was sent */
	LOG_END_LOST, /* the connection was */
	LOG_END_FAILED, /* the server could not get it */
	LOG_END_NOT_YET, /* the container has not started */
	LOG_END_ABSENT, /* no such Pod or container */
	LOG_END_REFUSED, /* it will not be better for being asked again soon */
};

/* Zero it to begin. */
struct log_follow {
	struct log_container container;
	bool has_started;
	int n_restarts; /* of the container whose log is read */
	bool reads_previous; /* … which another one has taken the place of */
	bool began_after_end;
	bool has_news; /* this stream brought something new */
	int n_vain; /* streams in a row that brought nothing new */
	bool was_lost; /* the stream before this one was */
};

enum log_step {
	LOG_STEP_STREAM, /* another one, after `wait` */
	LOG_STEP_DONE, /* all of it was read */
	LOG_STEP_GIVE_UP, /* something may be missing */
};

struct log_next {
	enum log_step step;
	msec wait;
};

/* A stream begins. True: of another container than the one before. */
bool log_follow_begin(struct log_follow *follow);
/* It has ended. `is_catching_up` as of log_lines; `jitter` is a random number from 0 to 1. */
struct log_next log_follow_ended(struct log_follow *follow, enum log_end end, bool is_catching_up,
				 double jitter);
