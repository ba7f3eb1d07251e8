/* The bytes of a Pod's log as they come with `timestamps=true` become its text and the time of each
 * part, and a stream that is taken up again by `sinceTime` gives what is new in it alone. Pure.
 *
 * Lines may be cut anywhere and be of any length: nothing of a line but its stamp is kept. A log
 * that is sent again from a second on begins with lines that are known; they are passed over up to
 * the place where the last stream broke off, in the middle of a line too. Where that place does not
 * come (a kubelet that rotates a log gives its newest file only), what is later than all that is
 * known goes on after a gap.
 *
 * What comes without a stamp is the rest of a line that began before `sinceTime`, and is kept
 * unless it may be known; or a sentence of the kubelet's own, which it writes behind the last line
 * where the log cannot be read on ("failed to watch file …", "unable to retrieve container logs for
 * …"). So a line without a stamp is held until it is known whether it is the last of its stream: in
 * a log that has stamps no line of the program can be that. */
#pragma once

#include "base/own.h"
#include "base/text.h"
#include "kube/log_seen.h"

#include <stdbool.h>
#include <stddef.h>

#define LOG_WORDS_SIZE 1024 /* of a sentence of the kubelet's; what is longer is text */

/* Of one container's log. Zero it to begin. */
struct log_lines {
	struct log_seen seen; /* whole lines that were handed on */
	struct log_seen again; /* those of a stream that began anew, so far */
	bool is_catching_up; /* what comes is known up to here */
	bool is_behind_seen; /* all whole lines that are known came; the open one follows */
	bool is_in_text; /* behind the stamp of a line */
	bool is_known; /* this line is passed over */
	char head[LOG_STAMP_SIZE + 1]; /* a line's beginning, until its stamp is complete */
	size_t head_len;
	bool is_first; /* no line of this stream has started */
	bool has_stamps; /* a line of this log had one */
	char held[LOG_WORDS_SIZE]; /* a line without a stamp, so far */
	size_t held_len;
	log_stamp stamp; /* of this line */
	uint64_t hash; /* of its text */
	size_t open_len; /* bytes that were handed on of a line without its end */
	log_stamp open_stamp;
	size_t known_len; /* bytes of this line that are still to be passed over */
	bool expects_gap;
	log_stamp gap_from, gap_to; /* LOG_STAMP_NONE: there is no gap */
};

/* `time` is MSEC_UNSET where the line has none. */
typedef void (*log_text_fn)(const char *bytes, size_t len, msec time, void *data);

/* A stream begins, the first one or another. `is_other`: of another container than the last one, so
 * that what is known need not come again. */
void log_lines_begin(struct log_lines *lines, bool is_other);
/* From when on a stream is to be asked for: `sinceTime`. False: from the beginning. */
bool log_lines_add_since(const struct log_lines *lines, struct text *text);
void log_lines_take(struct log_lines *lines, const char *bytes, size_t len, log_text_fn fn,
		    void *data);
/* The stream has ended properly: adds the kubelet's own sentence, if there is one. */
void log_lines_take_words(struct log_lines *lines, struct text *words);
/* No more will come: hands on what is text after all. The beginning of a stamp is none. */
void log_lines_end(struct log_lines *lines, log_text_fn fn, void *data);

/* The stream has not come to the place where the last one broke off. */
bool log_lines_is_catching_up(const struct log_lines *lines);
/* Between these times lines are missing, perhaps; each gap is told once. */
bool log_lines_take_gap(struct log_lines *lines, msec *ret_from, msec *ret_to);
