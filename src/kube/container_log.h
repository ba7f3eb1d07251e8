/* A container's log over streams that break: which stream comes next (log_follow), and which of its
 * bytes are new (log_lines). Pure. */
#pragma once

#include "base/text.h"

/* Follows the log of a Pod's container to its very end: decides what to do when a stream has ended.
 *
 * An API server ends a stream properly when the container has exited, and also when it loses the
 * kubelet. So the end of a stream proves nothing. A log is complete when a stream that began after
 * the container was known to have exited ends properly and brings nothing new. */

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

/* Turns the bytes of a Pod's log, requested with `timestamps=true`, into text and the time of each
 * part. From a stream that was resumed with `sinceTime` it yields only the new part.
 *
 * Lines may be cut anywhere and be of any length: only the stamp of a line is stored. A log that is
 * sent again from some second on begins with known lines. They are skipped up to the place where
 * the last stream broke, even inside a line. If that place does not come (a kubelet that rotates a
 * log sends its newest file only), everything later than the known lines is passed on after a gap.
 *
 * Bytes without a stamp are either the rest of a line that began before `sinceTime`, or a message
 * of the kubelet. The rest of a line is passed on unless it may be known. The kubelet writes its
 * message after the last line when it cannot read on ("failed to watch file …", "unable to retrieve
 * container logs for …"). So a line without a stamp is held until it is known whether it is the
 * last of its stream. In a log with stamps the program's own lines always have one. */

#define LOG_STAMP_SIZE 35 /* "2026-01-02T03:04:05.123456789+01:00" */

/* What a kubelet puts before each line of a log, RFC 3339 with nanoseconds (timeFormatOut in
 * k8s.io/cri-client/pkg/logs): nanoseconds since 1970, above 0; LOG_STAMP_NONE: no stamp. */
typedef int64_t log_stamp;
#define LOG_STAMP_NONE ((log_stamp) 0)

/* Returns LOG_STAMP_NONE if the bytes are no stamp or are outside 1970 to 2262. */
log_stamp log_stamp_read(const char *bytes, size_t len) MUST_USE;

#define LOG_SEEN_RUNS 8 /* most other stamps between two lines of the same stamp */

/* The lines that share one stamp. */
struct log_run {
	log_stamp stamp;
	uint64_t hash;
	uint32_t count; /* 0: unused */
};

/* Which lines of a log came so far: just enough to find the place after the last of them when the
 * log is sent again from some second on. Two lines may share a stamp. Stamps go back a little where
 * a container's two outputs meet, and far if the node's clock was set. So a place is identified by
 * a stamp, the number of lines with that stamp, and a hash over them. */
struct log_seen {
	struct log_run runs[LOG_SEEN_RUNS]; /* the newest stamps */
	unsigned last; /* index of the last line's run */
	unsigned newest; /* index of the run that began last */
};

#define LOG_WORDS_SIZE 1024 /* of a kubelet message; longer ones count as text */

/* Receives text; `time` is MSEC_UNSET if the line has no stamp. */
typedef void (*log_text_fn)(const char *bytes, size_t len, msec time, void *data);

/* State of one container's log. Zero it to begin. */
struct log_lines {
	struct log_seen seen; /* whole lines that were passed on */
	struct log_seen again; /* the lines so far of a stream that was resumed */
	bool is_catching_up; /* known bytes: where the last stream broke was not reached yet */
	bool is_behind_seen; /* all known whole lines came; the open line follows */
	bool is_in_text; /* after the stamp of a line */
	bool is_known; /* this line is skipped */
	char head[LOG_STAMP_SIZE + 1]; /* the beginning of a line, until its stamp is complete */
	size_t head_len;
	bool is_first; /* no line of this stream has begun */
	bool has_stamps; /* a line of this log had one */
	char held[LOG_WORDS_SIZE]; /* the line without a stamp, so far */
	size_t held_len;
	log_stamp stamp; /* of this line */
	uint64_t hash; /* of its text */
	size_t open_len; /* bytes passed on of a line without its end */
	log_stamp open_stamp;
	size_t known_len; /* bytes of this line still to skip */
	bool expects_gap;
	log_stamp gap_from, gap_to; /* LOG_STAMP_NONE: no gap */
	log_text_fn fn; /* during log_lines_take and log_lines_end */
	void *data;
};

/* A stream begins. `is_other`: of another container, so known lines need not come again. */
void log_lines_begin(struct log_lines *lines, bool is_other);
/* Appends the `sinceTime` to request. Returns false if the stream must start from the beginning. */
bool log_lines_add_since(const struct log_lines *lines, struct text *text);
void log_lines_take(struct log_lines *lines, const char *bytes, size_t len, log_text_fn fn,
		    void *data);
/* For a stream that ended properly: appends the kubelet's message, if any. */
void log_lines_take_words(struct log_lines *lines, struct text *words);
/* No more bytes will come: passes on the held text. An incomplete stamp is dropped. */
void log_lines_end(struct log_lines *lines, log_text_fn fn, void *data);

/* Returns true if lines may be missing between these times. Each gap is reported once. */
bool log_lines_take_gap(struct log_lines *lines, msec *ret_from, msec *ret_to);
