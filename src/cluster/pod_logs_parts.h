/* What the files of cluster/pod_logs share. Only they include this. */
#pragma once

#include "base/text.h"
#include "cluster/pod_logs.h"
#include "kube/log_lines.h"
#include "kube/mirror_table.h"
#include "logs/writer.h"

struct pod_log {
	struct pod_logs *logs;
	char *uid, *pod_name, *container;
	struct kube_call *call; /* NULL: between two streams, or at the end */
	struct loop_watch *timer; /* until the next stream; NULL: it has come to its end */
	char *role;
	int index, attempt;
	struct log_writer *writer; /* NULL: nothing came yet, it cannot be kept, or has ended */
	bool cannot_be_kept;
	struct log_follow follow;
	struct log_lines lines;
	struct request_slot slot; /* to open a stream: until it is open */
	msec heard_at;
	msec last_time; /* of its newest line; MSEC_UNSET: none came */
	struct err err; /* why the last stream was lost */
	char *words; /* of the node, as they were told last */
};

struct pod_logs {
	struct pod_logs_settings settings;
	struct mirror_table table; /* of struct pod_log, by Pod */
	size_t n_open, n_ended_open;
	size_t n_opened; /* since memory was given back */
	int keeper_fd; /* says that we bring the logs; -1: that could not be said */
	bool is_refusal_told;
	bool is_paused;
	struct text batch; /* text that is not written yet … */
	msec batch_time; /* … of this time; MSEC_UNSET: none */
};

/* It has not come to its end. */
static inline bool pod_log_is_open(const struct pod_log *log)
{
	return log->timer != NULL;
}

void pod_log_close(struct pod_log *log);

/* The log's timer: the next stream, or a look at the one there is. */
void pod_log_begin_stream(void *data);
/* What it brought last is not the end: another one goes on there. */
void pod_log_give_up_stream(struct pod_log *log);
/* Something is new of the container: that ends a wait, and gives a stream that goes on a limit. */
void pod_log_poll(struct pod_log *log);
