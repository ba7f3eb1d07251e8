/* Structures that the files of cluster/pod_logs share. Only they include this. */
#pragma once

#include "base/text.h"
#include "cluster/pod_logs.h"
#include "kube/mirror_table.h"
#include "logs/writer.h"

struct pod_log {
	struct pod_logs *logs;
	char *uid, *pod_name, *container;
	struct kube_call *call; /* NULL: between two streams, or the log is complete */
	struct loop_watch *timer; /* until the next stream; NULL: the log is complete */
	char *role;
	int index, attempt;
	struct log_writer *writer; /* NULL: no text yet, it cannot be stored, or the log is
				      complete */
	bool cannot_be_kept;
	struct log_follow follow;
	struct log_lines lines;
	struct request_slot slot; /* to open a stream; held until it is open */
	instant heard_at;
	msec last_time; /* of its newest line; MSEC_UNSET: none came */
	struct err err; /* why the last stream was lost */
	char *words; /* the node's last reported message */
};

struct pod_logs {
	struct pod_logs_settings settings;
	struct mirror_table table; /* of struct pod_log, by Pod */
	size_t n_open, n_ended_open;
	size_t n_opened; /* since memory was last returned */
	int lock_fd; /* marks that this process writes the logs; -1: the mark failed */
	bool is_refusal_told;
	bool is_paused;
	struct text batch; /* text that is not written yet … */
	msec batch_time; /* … and its time; MSEC_UNSET: none */
};

/* The log is not complete. */
static inline bool pod_log_is_open(const struct pod_log *log)
{
	return log->timer != NULL;
}

void pod_log_close(struct pod_log *log);

/* Callback of the log's timer: opens the next stream, or checks the present one. */
void pod_log_begin_stream(void *data);
/* Drops the stream, which was not complete; another one continues from there. */
void pod_log_give_up_stream(struct pod_log *log);
/* The container's state has changed: ends a wait, and limits how long an open stream may last. */
void pod_log_poll(struct pod_log *log);
